"""Options of the tagger of patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpus.errors import InputError, quoted
from corpus.tags import is_label
from taggers.options import INSIDE_MODEL, Capability, Coverage, TaggerOptions, option
from taggers.patterns.labelled import OUTSIDE
from taggers.patterns.pattern import Pattern
from taggers.patterns.tables import BUILTIN_TABLES, IDENTIFIERS, read_patterns


@dataclass(frozen=True, slots=True)
class PatternOptions(TaggerOptions):
    """Options of the tagger of patterns; every field is a key of ``[initial_model]``."""

    files: tuple[str, ...] = option(
        (IDENTIFIERS,),
        "tables of patterns (bootstrap help patterns), and files that bootstrap rules learn wrote; "
        f'"{IDENTIFIERS}" is the builtin table',
        path=BUILTIN_TABLES,
    )
    languages: tuple[str, ...] = option(
        (), 'the languages of the notes, such as ["es", "ca"]: patterns for others are left out'
    )
    labels: Mapping[str, str] = option(
        {},
        "the class that spans of a class of the tables are tagged as, if it is another one: "
        '{ TELEPHONE = "PHONE", TIME = "" }; spans of "" are not tagged',
    )

    def __post_init__(self) -> None:
        self.refuse_unnamed("files")
        if not self.files:
            raise InputError(f'files is empty: tables of patterns, or "{IDENTIFIERS}"')
        for name, label in self.labels.items():
            if label != OUTSIDE and not is_label(label):
                raise InputError(f"labels.{name} = {label!r}: expected the name of a class")

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset({"entity_probabilities"})

    def read(self) -> tuple[Pattern, ...]:
        """Read the patterns; an `InputError` names the file and the row of an invalid one."""
        patterns = read_patterns(self.files, self.languages)
        known = dict.fromkeys(pattern.label for pattern in patterns)
        for name in self.labels:
            if name not in known:
                classes = ", ".join(map(quoted, known))
                raise InputError(f"labels names the class {name}; the tables have {classes}")
        if all(self.labels.get(name) == OUTSIDE for name in known):
            raise InputError("labels leaves no class that is tagged")
        return patterns

    @property
    def is_inside_model(self) -> bool:
        """Whether the options are those of a model, which contains its patterns."""
        return self.files == (INSIDE_MODEL,)

    def check(self) -> Sequence[Coverage]:
        self.read()
        return ()

"""Whether a run is good enough: how many notes still show a mention, as a record and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from bootstrap.data.representativeness import percent
from bootstrap.runs.folder import Run
from corpus.errors import InputError, number_of, quoted
from corpus.storage.atomic import write_atomically
from corpus.storage.manifest import manifest_bytes, read_manifest

#: The recall and the share of leaking notes of an assessment that asks for no others.
RECALL, LEAKING = 0.99, 0.05
#: The name of all classes together.
ALL = ""
#: The file in the folder of a run.
FILE = "assessment.json"
_LEVEL = 0.95


class Leaks(NamedTuple):
    """Number of notes that still show a mention, and the upper 95 % bound of their share."""

    notes: int
    most: float


@dataclass(frozen=True, slots=True)
class Result:
    """What de-identification does with a threshold.

    Parameters
    ----------
    recall : float
        The share of mentions that are wholly covered.
    removed : float
        The share of other tokens that are replaced.
    leaks : dict of str to Leaks
        The notes that still show a mention of a class; `ALL` is the key of all classes together.
    """

    recall: float
    removed: float
    leaks: dict[str, Leaks]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What de-identification with the model of a run leaves in annotated notes.

    Parameters
    ----------
    split : {"test", "validation"}
        The notes.
    notes : int
        Their number.
    target : float
        The recall that the threshold of `careful` reaches with its lower 95 % bound.
    reaches : bool
        Whether there is such a threshold.
    plain, careful : Result
        Without a threshold, and with it, as by ``bootstrap deidentify --recall``.
    """

    split: str
    notes: int
    target: float
    reaches: bool
    plain: Result
    careful: Result


def upper_bound(number: float, total: float) -> float:
    """Return the one-sided upper 95 % bound of a share, in which numbers may be fractions.

    It is the one of Clopper and Pearson ("The use of confidence or fiducial limits illustrated in
    the case of the binomial", 1934).
    """
    from scipy.stats import beta  # noqa: PLC0415 - slow to load

    return 1.0 if number >= total else float(beta.ppf(_LEVEL, number + 1, total - number))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an assessment holds, and why, in words.

    Parameters
    ----------
    holds : bool
        Whether few enough notes show a mention, with 95 % confidence.
    lines : list of str
        The result first.
    """

    holds: bool
    lines: list[str]


def verdict_on(assessment: Assessment, most: float = LEAKING, *, careful: bool = False) -> Verdict:
    """Decide whether at most a share of the notes may show a mention.

    Parameters
    ----------
    assessment : Assessment
        The result for all notes.
    most : float
        The share of notes that may show a mention.
    careful : bool
        Whether the threshold of the recall is used, which must be reached as well.
    """
    result = assessment.careful if careful else assessment.plain
    leaks, total = result.leaks[ALL], assessment.notes
    holds = leaks.most <= most and (assessment.reaches or not careful)
    how = f"with --recall {assessment.target:g}" if careful else "without --recall"
    reason = f"with 95 % confidence, at most {percent(leaks.most, 1)} of the notes show a mention"
    if leaks.most > most:
        reason += f"; expected at most {percent(most, 1)}"
    elif not holds:
        reason += ", but that recall is out of reach"
    lines = [
        f"{'Good enough' if holds else 'Not good enough'} {how}: {reason}.",
        *assessment_lines(assessment),
    ]
    share = leaks.notes / max(total, 1)
    if share < most < leaks.most:
        more = 1
        while upper_bound(share * (total + more), total + more) > most:
            more += max(1, (total + more) // 50)
        lines.append(
            f"If the same share leaks, about {more:,} more annotated {assessment.split} notes "
            "would show that this is good enough."
        )
    return Verdict(holds, lines)


def assessment_lines(assessment: Assessment) -> Iterator[str]:
    """Describe an assessment in plain words."""
    total, plain, careful = assessment.notes, assessment.plain, assessment.careful
    names = [quoted(name) for name in plain.leaks if name]
    what = f"a mention of {' or '.join(names)}" if len(names) < 4 else "a mention of some class"
    yield (
        f"Of {number_of(total, f'{assessment.split} note')}, {_words(plain.leaks[ALL], total)} "
        f"still show {what}; {percent(plain.removed, 2)} of the other tokens are replaced as well."
    )
    if not assessment.reaches:
        yield (
            f"A recall of {assessment.target:g} is out of reach: at any threshold, its lower 95 % "
            "bound on the validation notes is below it. The highest recall is shown."
        )
    yield (
        f"With --recall {assessment.target:g}, {_words(careful.leaks[ALL], total)} do, and "
        f"{percent(careful.removed, 2)} of the other tokens are replaced."
    )
    if assessment.split == "validation":
        yield "These notes also chose the model. Notes that chose nothing ([data] test) are better."


def _words(leaks: Leaks, total: int) -> str:
    share = percent(leaks.notes / max(total, 1), 1)
    return f"{leaks.notes:,} ({share}; with 95 % confidence at most {percent(leaks.most, 1)})"


def save_assessment(run: Run, assessment: Assessment) -> None:
    """Write the assessment of a run into its folder."""
    write_atomically(run.folder / FILE, manifest_bytes(msgspec.to_builtins(assessment)))


def read_assessment(run: Run) -> Assessment | None:
    """Read the assessment of a run; None if it has none.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = run.folder / FILE
    if not path.exists():
        return None
    try:
        return msgspec.convert(read_manifest(path).description, Assessment)
    except (InputError, ValueError):
        raise InputError(f"{path} is damaged; remove it, and resume the run to write it") from None

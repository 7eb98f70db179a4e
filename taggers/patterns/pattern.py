"""Patterns: rows of tables that somebody wrote, or that were learned."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from corpus import dates, identifiers
from corpus.errors import InputError
from corpus.tags import is_label

#: What the checks of rows test, by name.
CHECKS = {**identifiers.CHECKS, **dates.CHECKS}
# Classes such as \pL take RE2 milliseconds to compile.
_LETTERS = "[A-Za-zÀ-ÖØ-öø-ɏ]*"
_WORD = f"[A-ZÀ-ÖØ-Þ]{_LETTERS}"
#: Expressions that others may contain, by name. `COLON` is what joins a header and its value.
#: `PROPER_NAME` are capitalized words, with short words between them. `TEXT` is the shortest text
#: before what follows.
FRAGMENTS = {
    **identifiers.FRAGMENTS,
    **dates.FRAGMENTS,
    "COLON": r"(?i:\s?(?:n[.ºo°]{1,2}|n[uú]m(?:ero)?\.?|#)?\s?[:.=]{0,2}\s{0,3})",
    "CAPITALIZED": _WORD,
    "LOWERCASE": f"[a-zß-öø-ɏ]{_LETTERS}",
    "PROPER_NAME": f"{_WORD}(?:[ -]+(?:[a-zß-öø-ɏ]{{1,3}} +){{0,2}}{_WORD}){{0,5}}",
    "GAP": r"[ \t]*",
    "TEXT": r"[^\r\n]+?",
    "LINE_END": r"[ \t.,;:]*[\r\n]",
}

#: The most characters of an expression, and of a row with its fragments.
_LONGEST, _LONGEST_EXPANDED = 2_000, 20_000

_FRAGMENT = re.compile(r"(?<!\\[pP])\{([A-Z][A-Z_]*)\}")


class Pattern(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"label": "class"},
):
    r"""A row of a table: an expression, its context and its confidence.

    Expressions are those of RE2, whose time is linear in the text: they have no lookaround, groups
    are not captured, and ``\b``, ``\w`` and ``\d`` know ASCII only. ``{NAME}`` stands for a
    fragment of `FRAGMENTS`.

    Parameters
    ----------
    label : str
        The class of the spans; the key ``class`` of a row.
    expression : str
        The span. It begins and ends at borders of tokens.
    before, after : str
        What precedes and follows the span directly. At the beginning of `before`, ``^`` is the
        beginning of a line.
    check : str
        A name of `CHECKS`, or empty. A valid span is more certain, an invalid one less.
    drop_invalid : bool
        Whether a span that fails its check is dropped.
    confidence : float
        The probability that a span is an entity of its class.
    languages : tuple of str
        The languages of the notes that the row is for; all if empty.
    digits : bool
        Whether the span or its context has a digit, an at sign or the beginning of a URL. Other
        rows are slower, since they are tried at every token.
    matches, not_matches : tuple of str
        Texts in which the row finds a span, and texts in which it finds none.

    Raises
    ------
    InputError
        If a value is invalid: the message names its key.
    """

    label: str
    expression: Annotated[str, msgspec.Meta(min_length=1, max_length=_LONGEST)]
    before: Annotated[str, msgspec.Meta(max_length=_LONGEST)] = ""
    after: Annotated[str, msgspec.Meta(max_length=_LONGEST)] = ""
    check: str = ""
    drop_invalid: bool = False
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.9
    languages: tuple[str, ...] = ()
    digits: bool = True
    matches: tuple[str, ...] = ()
    not_matches: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not is_label(self.label):
            raise InputError("class: expected a text of one line")
        if self.check and self.check not in CHECKS:
            raise InputError(f"check: expected one of {', '.join(CHECKS)}")
        if not self.check and self.drop_invalid:
            raise InputError("drop_invalid: expected a check that spans can fail")
        empty, key = pa.array([""]), ""
        try:
            for key in ("before", "expression", "after"):
                part = _expanded(getattr(self, key).removeprefix("^" if key == "before" else ""))
                pc.match_substring_regex(empty, part)
        except pa.ArrowInvalid as error:  # whose message ends in a part of the expression
            reason = str(error).split(": ")[1]
            raise InputError(f"{key}: not an expression of RE2: {reason}") from None
        whole = self.regular_expression("?P<before>", "?P<span>")
        try:
            groups = len(pc.extract_regex(empty, whole).type)
        except pa.ArrowInvalid:
            groups = 0
        if groups != 2:
            raise InputError("expected groups that are not captured, (?:...)")
        if len(whole) > _LONGEST_EXPANDED:
            raise InputError(f"expected at most {_LONGEST_EXPANDED:,} characters with fragments")
        if pc.match_substring_regex(empty, rf"\A(?:{_expanded(self.expression)})\z")[0].as_py():
            raise InputError("expression: it matches the empty text")

    def regular_expression(self, before: str = "?:", span: str = "?:") -> str:
        """Return the expression of a window: the character before a token, and what follows.

        Parameters
        ----------
        before, span : str
            How the groups of the context before the span and of the span begin.
        """
        # A context may itself begin with the character before the token.
        context, start = _expanded(self.before), "(?s:.)?" if self.before else "(?s:.)"
        if context[:1] == "^":
            context, start = context[1:], r"\n"
        after = f"(?:{_expanded(self.after)})" if self.after else ""
        return f"({before}{start}(?:{context}))({span}{_expanded(self.expression)}){after}"

    def confidence_after(self, check: bool) -> float:
        """Return the confidence in a span that has passed its check, or failed it."""
        # A check counts as much as the expression itself.
        return 1 - (1 - self.confidence) ** 2 if check else self.confidence**2


def _expanded(expression: str) -> str:
    """Replace the names of fragments."""
    return _FRAGMENT.sub(lambda match: f"(?:{_fragment(match[1])})", expression)


def _fragment(name: str) -> str:
    if name not in FRAGMENTS:
        raise InputError(f"{{{name}}} is no fragment: expected one of {', '.join(FRAGMENTS)}")
    return FRAGMENTS[name]

"""Detection of the columns of a table that hold terms and counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.errors import InputError
from gazetteers.folding import fold
from gazetteers.importing.numerals import are_counts
from gazetteers.importing.tables import Table

#: Names of columns of terms. Names precede places: a table of hospitals may have columns of their
#: names and towns, and the terms are the names.
_TERMS = (
    r"term(e|ino|s)?|palabra|paraula|word|nom(bre|s)?|nombres|name|(given|first|last|family) ?name"
    r"|surname|(primer |segundo )?apellidos?|(primer |segon )?cognoms?",
    r"municipi(o|os|s)?|n mun|municipality|localidad(es)?|localitat|poblacio(n)?|ciudad|ciutat"
    r"|town|city|provincias?|provinci(a|es)|province|hospital|calle|carrer|via|street|phrase|frase",
)
#: Names of columns of counts.
_COUNTS = r"(fre[cq]|pob).*|counts?|n|total|bearers|habitantes|habitants|recuento|recompte"
#: Names of columns of either places or counts, which the rows distinguish.
_TOWNS_OR_COUNTS = r"pob.*"
#: INE counts the bearers of a surname as the first, as the second and as both surnames. Bearers of
#: both are included in each of the first two.
_BEARERS = (r"fre[cq] ?(pri|1).*", r"fre[cq] ?(seg|2).*", r"fre[cq] ?(rep|amb).*")
_BOTH = _BEARERS[-1]
#: Names of numeric columns that are not counts.
_NO_COUNTS = (
    "(column|id|cod|num|ine|lat|lon|edad|age|year|año|any|tel|phone|fax|rank|pos)[^ ]*( .*)?|x|y"
)
_POSTCODES = r"(.* )?(c ?p|cod(igo|i)? ?postal|cpostal|zip( ?code)?|post( ?code|al ?code)?)"
_DIGITS_OF_POSTCODES = 5


def width_of(column: str) -> int:
    """Return the number of digits of a column of postal codes; 0 for another column.

    Spreadsheets remove its leading zeros.
    """
    return _DIGITS_OF_POSTCODES if _is(column, _POSTCODES) else 0


def is_well_known(column: str) -> bool:
    """Return whether a column of this name holds terms."""
    return any(_is(column, names) for names in _TERMS)


def terms_of(table: Table, named: Sequence[str] | None) -> tuple[str, ...]:
    """Select the columns of the term: the one with a well-known name, or the only text.

    Raises
    ------
    InputError
        If it cannot be detected.
    """
    if named:
        return _named(table, named, "--term")
    refuse_data(table)
    for names in _TERMS:
        known = [name for name in table.columns if _is(name, names) and not _numeric(table, name)]
        if len(known) == 1:
            return (known[0],)
        if known:
            break
    texts = [
        name for name in table.columns if any(table.sample[name]) and not _numeric(table, name)
    ]
    if len(texts) == 1:
        return (texts[0],)
    raise InputError(
        f"{table.path}: cannot detect the column of terms among its {len(table.columns):,}; name "
        "it with --term"
    )


def counts_of(table: Table, named: Sequence[str] | None, taken: Sequence[str]) -> tuple[str, ...]:
    """Select the columns of counts, which are summed; there may be none.

    Raises
    ------
    InputError
        If it cannot be detected.
    """
    if named is not None:
        return _named(table, named, "--count")
    refuse_data(table)
    free = [name for name in table.columns if name not in taken]
    known = [name for name in free if _is(name, _COUNTS) and _may_count(table, name)]
    if len(known) > 1 and _of_surnames(known):
        return tuple(name for name in known if not _is(name, _BOTH))
    counts = known or [
        name
        for name in free
        if not _is(name, _NO_COUNTS) and not width_of(name) and _numeric(table, name)
    ]
    if len(counts) > 1:
        raise InputError(
            f"{table.path}: cannot detect the column of counts among its {len(table.columns):,}; "
            "name it with --count (several columns are summed), or use --count-rows if each row "
            "counts 1"
        )
    return tuple(counts)


def column_of(table: Table, name: str, option: str) -> str:
    """Return the column with a name, ignoring case and accents.

    Raises
    ------
    InputError
        If there is none, or several.
    """
    if name in table.columns:
        return name
    alike = [column for column in table.columns if _plain(column) == _plain(name)]
    if len(alike) != 1:
        raise InputError(
            f"{table.path}: no column {name} for {option} among its {len(table.columns):,} (is its "
            "first line a header?)"
        )
    return alike[0]


def refuse_data(table: Table) -> None:
    """Raise an `InputError` if the first line contains counts and so is not a header."""
    if any(are_counts([name]) for name in table.columns):
        raise InputError(
            f"{table.path}: its first line holds numbers, and is no header; add one above "
            "it, such as name,count, or name both columns with --term and --count if it is a header"
        )


def _named(table: Table, names: Sequence[str], option: str) -> tuple[str, ...]:
    columns = tuple(column_of(table, name, option) for name in names)
    if len(set(columns)) < len(columns):
        raise InputError(f"{table.path}: {option} names a column twice")
    return columns


def _plain(name: str) -> str:
    """Return a name as words of folded letters and digits, with spaces between them."""
    return " ".join(re.findall("[^\\W_]+", fold([name])[0]))


def _is(name: str, names: str) -> bool:
    return re.fullmatch(names, _plain(name)) is not None


def _numeric(table: Table, name: str) -> bool:
    return are_counts(table.sample[name])


def _may_count(table: Table, name: str) -> bool:
    return not _is(name, _TOWNS_OR_COUNTS) or _numeric(table, name)


def _of_surnames(names: Sequence[str]) -> bool:
    """Return whether these are the columns of INE's surnames, and no others."""
    kinds = [next((kind for kind in _BEARERS if _is(name, kind)), "") for name in names]
    return all(kinds) and len(set(kinds)) == len(kinds)

"""The columns that a Parquet file must have, and their types."""

from __future__ import annotations

import pyarrow as pa

from corpus.errors import InputError, shown
from corpus.formats.columns import Columns


def columns_of(schema: pa.Schema, file: str, columns: Columns) -> list[str]:
    """Return the columns of a file that are to be read.

    Raises
    ------
    InputError
        If the text is missing, or the ids although their column was named, or a column is there
        twice or of another type.
    """
    for part in ("id", "text"):
        name = getattr(columns, part)
        if name not in schema.names and (part == "text" or not columns.is_default("id")):
            raise InputError(
                f"{file} has no column {name!r}: its columns are {_listed(schema.names)}; "
                f"name those of id and text"
            )
    checks = {
        columns.id: ("a string or an integer", _is_name),
        columns.text: ("a string", _is_text),
        columns.label: ("a list of struct<start: int, end: int, label: string>", _is_label),
        columns.group: ("a string or an integer", _is_group),
    }
    present = [name for name in checks if name in schema.names]
    for name in present:
        expected, accepts = checks[name]
        if schema.names.count(name) > 1:
            raise InputError(f"{file} has several columns {name!r}: expected one")
        found = schema.field(name).type
        if not accepts(found):
            raise InputError(
                f"{file}: column {name!r} is {found}: expected {expected}; name another column"
            )
    return present


def _listed(names: list[str]) -> str:
    return shown(", ".join(names[:30]) + (", ..." if len(names) > 30 else ""))


def _is_text(found: pa.DataType) -> bool:
    if isinstance(found, pa.DictionaryType):
        return _is_text(found.value_type)
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_kind(found) for is_kind in kinds)


def _is_name(found: pa.DataType) -> bool:
    if isinstance(found, pa.DictionaryType):
        return _is_name(found.value_type)
    # What pandas makes of integers with a null among them is floating.
    return _is_text(found) or pa.types.is_integer(found) or pa.types.is_floating(found)


def _is_group(found: pa.DataType) -> bool:
    return _is_name(found) or pa.types.is_null(found)


def _is_label(found: pa.DataType) -> bool:
    if pa.types.is_null(found):
        return True
    if not isinstance(found, pa.ListType | pa.LargeListType | pa.FixedSizeListType):
        return False
    fields = found.value_type
    if not isinstance(fields, pa.StructType):
        return False
    types = {field.name: field.type for field in fields}
    if not {"start", "end", "label"} <= types.keys():
        return False
    offsets = (types["start"], types["end"])
    return all(map(pa.types.is_integer, offsets)) and _is_text(types["label"])


def is_list_of_floats(found: pa.DataType) -> bool:
    """Return whether a type is that of the confidences of spans."""
    return isinstance(found, pa.ListType | pa.LargeListType) and pa.types.is_floating(
        found.value_type
    )

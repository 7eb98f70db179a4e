"""The rows of the published files, and the catalogues of hospitals and health centres as one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gazetteers.folding import fold

_ARTICLE_LAST = re.compile(r"(.+), (\w+'?)")


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


class Centre(NamedTuple):
    """A row of a catalogue; the kind is `HOSPITAL`, `CENTRO SALUD` or `CONSULTORIO LOCAL`.

    The province is folded.
    """

    kind: str
    name: str
    address: str
    town: str
    province: str
    code: str


def centres(spain: Path) -> Iterator[Centre]:
    """Yield the rows of both catalogues."""
    columns = {
        "hospitals.csv": ("NOMBRE", "DIRECCION", "MUNICIPIOS", "PROVINCIAS", "CODPOSTAL"),
        "health_centres.csv": ("NOMBRE", "DIRECCION", "MUNICIPIO", "PROVINCIAS", "CP"),
    }
    for file, names in columns.items():
        for line in rows_of(spain / file):
            name, address, town, province, code = (line[column] for column in names)
            kind, (folded,) = line.get("TIPOCENTRO", "HOSPITAL"), fold([province])
            yield Centre(kind, name, address, town.strip(), folded, code.zfill(5))


def in_order_of_speech(name: str) -> str:
    """Return a name whose article is last, as in `Ejido, El`, with its article in front."""
    match = _ARTICLE_LAST.fullmatch(name.strip())
    if match is None:
        return name.strip()
    article = match[2][0].upper() + match[2][1:]
    return f"{article}{'' if article.endswith(chr(39)) else ' '}{match[1]}"

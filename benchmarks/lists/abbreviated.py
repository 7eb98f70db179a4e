"""Abbreviations in the catalogues of the Ministry of Health, written out."""

from __future__ import annotations

import re

from gazetteers.folding import fold

#: Words without accents, and their abbreviations.
_WORDS = {
    "arxiduc": "arx",
    "avenida": "avda",
    "barranco": "bco",
    "carretera": "ctra",
    "doctor": "dr",
    "doctora": "dra",
    "doña": "dª dñª",
    "fernandez": "fdez",
    "francisco": "fco",
    "general": "gral",
    "hermanos": "hnos",
    "gonzalez": "glez",
    "maestro": "mstro",
    "maria": "mª",
    "nuestra": "ntra nª",
    "santa": "sta",
    "santisimo": "stmo",
    "santo": "sto",
    "señora": "sra sª",
    "urbanizacion": "urb",
    "villanueva": "vva",
}
_WHOLE = {short: word for word, each in _WORDS.items() for short in each.split()}
_SHORT = re.compile(rf"(?<![\w'])({'|'.join(map(re.escape, _WHOLE))})(?!\w)(\.?) ?(?=\w)")
#: These are abbreviations without a full stop, too.
_ALONE = frozenset(
    ("arx", "dr", "dra", "dª", "dñª", "hnos", "mª", "nª", "ntra", "stmo", "sra", "sª", "urb", "vva")
)
_DON = re.compile(r"(?<![\w.])d\. (?=\w)")
_APOSTROPHES = str.maketrans("´`’", "'''")


def plain(text: str) -> str:
    """Return a folded text with single spaces and with its abbreviations written out."""
    text = " ".join(fold([text.translate(_APOSTROPHES)])[0].split())
    return _DON.sub("don ", _SHORT.sub(_whole, text))


def _whole(match: re.Match[str]) -> str:
    short, stop = match[1], match[2]
    return f"{_WHOLE[short]} " if stop or short in _ALONE else match[0]

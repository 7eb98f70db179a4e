"""Names of hospitals and health centres, as notes write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from abbreviated import plain
from addresses import CATALAN, CATALONIA

#: Names of the towns of a region are Catalan or Spanish.
_BILINGUAL = CATALAN | {"alicante/alacant", "castellon/castello", "valencia/valencia"}

#: Notes call most groups of hospitals a hospital: Hospital La Paz.
_GROUP = re.compile(r"comple[jx]o( hospitalario| asistencial| universitario| general)*(?= )")
_STANDING = re.compile(r"hospital comarcal|hospital general|hospital provincial|hospital")
_LANGUAGES = re.compile(r" [/–] ")
#: Words that notes leave out: Hospital Universitario 12 de Octubre is Hospital 12 de Octubre.
_LEFT_OUT = re.compile(r" (general|universitari[oa]?( y politecnico)?|comarcal)(?= )")

_ARTICLE = r"(els?|l[ao]s?|les|l'|es|ses|sa|[ao]s?)"
_ARTICLE_LAST = re.compile(rf"([^/]+?)(?: ?\({_ARTICLE}\)|, ?{_ARTICLE}(?=$|/))")
_NOTE = re.compile(r"\([^()]*\)|\)|-\d+-")
_INTEGRATED = re.compile(r"c\.(s\.i\.)? ")
_NUMBER = re.compile(r"(?<=[a-zñç]{3})(?=\d)")
_PARTS = re.compile(r" - | -|- |[\"“”]|, |(?<=\w{4})\. ?|(?<=\w)'(?=d\. |don )|'$")
_SLASH = re.compile(r"(?<=\w{2}) ?/ ?(?=\w['\w])")
_KIND = re.compile(r"(centro (de )?salud|ambulatorio( de)?) ")
#: Towns that are common words: "Centro de Salud sin cita" names no centre.
_WORDS = frozenset(("all", "ara", "les", "sin", "tus", "veo"))
#: Initials that touch a word.
_UNCLEAR = re.compile(r"(^|.* )\w\.\w.*")
#: Parts of names of health centres that are no names alone.
_GENERIC = re.compile(
    r"(norte?|sur|este?|oeste|nord|sud|oest|centr[eo]|casco|playa|platja|pueblo|estacion|rural|urbano"
    r"|zona|hospital|hospital provincial|zona centro|[ivx]+|\w|\d+)( ([ivx]+|\w|\d+))?"
)


def hospitals(name: str, town: str) -> list[str]:
    """Return the names of a hospital, the official one first.

    Parameters
    ----------
    name : str
        A name of the catalogue.
    town : str
        The town, in the order in which it is spoken, which is added to a name that is only a kind.
    """
    text = plain(name).replace("complejo h. ", "complejo hospitalario ").strip(" .")
    if _STANDING.fullmatch(text):
        text = f"{text} de {town}"
    found: list[str] = []
    for each in _LANGUAGES.split(text):
        found.append(each)
        shorter = (_LEFT_OUT.sub("", each), _GROUP.sub("hospital", each))
        found += [name for name in shorter if " " in name and not _STANDING.fullmatch(name)]
    return list(dict.fromkeys(found))


def health_centres(name: str, kind: str, province: str, towns: Sequence[str]) -> list[str]:
    """Return the names of a health centre, each with the kind of centre in front.

    Parameters
    ----------
    name : str
        A name of the catalogue, which often is only the name of the town.
    kind : {"CENTRO SALUD", "CONSULTORIO LOCAL"}
        The kind of the catalogue.
    province : str
        The province, in lower case without accents, which decides the languages of the kind.
    towns : sequence of str
        The names of the municipality, in the order in which they are spoken.
    """
    kinds = _kinds(kind, province)
    # In the province of Murcia a slash separates a town from its quarter, elsewhere two languages.
    text = name.replace("/", " - ") if province == "murcia" else name
    names = [each for each in dict.fromkeys(_names(text, towns)) if _is_name(each)]
    return [f"{each} {own}" for own, each in product(names, kinds)]


def _kinds(kind: str, province: str) -> tuple[str, ...]:
    if kind == "CENTRO SALUD":
        if province in CATALONIA:
            return ("centro de salud", "cap")
        both = ("centro de salud", "centre de salut")
        return both if province in _BILINGUAL else both[:1]
    if province in CATALAN:
        return ("consultori local", "consultori")
    return ("consultorio local", "consultorio")


def _names(name: str, towns: Sequence[str]) -> Iterator[str]:
    """Yield the whole name and its parts that are names: Dr. Sapena of Elx / Elche - Dr. Sapena."""
    text = _INTEGRATED.sub("", plain(name)) if name[:2].upper() == "C." else plain(name)
    text = _NOTE.sub(" ", _ARTICLE_LAST.sub(_article_first, text))
    text = _KIND.sub("", " ".join(_NUMBER.sub(" ", text).split()))
    parts = [part.strip(" .-'") for part in _PARTS.split(f"{text} ")]
    ways = [_SLASH.split(part) for part in parts if part]
    wholes = [" ".join(" ".join(each).split()) for each in product(*ways)]
    yield from wholes
    if len(ways) > 1 and _letters(wholes[0]) not in map(_letters, towns):
        # A quoted name honours somebody, and the centre is also called after its town alone.
        others = () if '"' in text else towns
        for part in ways:
            yield from (each for each in part if _is_known_by(each) and each not in others)


def _is_known_by(part: str) -> bool:
    return len(part) > 3 and _GENERIC.fullmatch(part) is None


def _is_name(text: str) -> bool:
    return text not in _WORDS and _UNCLEAR.fullmatch(text) is None


def _article_first(match: re.Match[str]) -> str:
    article = match[2] or match[3]
    return f"{article}{'' if article.endswith(chr(39)) else ' '}{match[1]}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))

"""Names of streets in addresses: ``C/ SAN LEONARDO, Nº 7`` is in ``calle san leonardo``."""

from __future__ import annotations

import re

from abbreviated import plain

#: Kinds of streets in Spanish and Catalan, and their abbreviations in either language.
_KINDS = {
    ("calle", "carrer"): "c/ c7 cl cl.",
    ("avenida", "avinguda"): "av av. avd avda avda. avenidad",
    ("plaza", "plaça"): "pl pl. pz pz. pza pza. plza plza.",
    ("paseo", "passeig"): "pº ps pp",
    ("carretera", "carretera"): "ctra ctra. crta crta. crtra crtra. cra ct",
    ("camino", "cami"): "cº cm",
    ("travesia", "travessia"): "tr tsia tsia. trav trav.",
    ("ronda", "ronda"): "rda rda.",
    ("rambla", "rambla"): "rbla rbla.",
    ("pasaje", "passatge"): "pj ptge ptge.",
}
_ABBREVIATIONS = {short: names for names, each in _KINDS.items() for short in each.split()}
#: In Catalonia, these have another meaning than in the other regions, or only there a clear one.
_OF_CATALONIA = {"pg": ("paseo", "passeig"), "pg.": ("paseo", "passeig")}
_OUTSIDE_CATALONIA = {"cr": ("carretera", "carretera"), "cr.": ("carretera", "carretera")}
#: Kinds that are written out; ``gran via`` and ``via`` may also be the whole name.
_WRITTEN = frozenset(
    re.findall(
        r"\w+",
        """
    calle carrer rua avenida avinguda plaza plaça praza plazuela plazoleta placeta paseo
    passeig carretera estrada camino cami camiño travesia travessera ronda rambla glorieta
    callejon calleja pasaje passatge bulevar cuesta vereda via
        """,
    )
)
#: Kinds of streets in Basque, which are the last word.
_BASQUE = re.compile(r"[a-zñ' ]{3,} (kalea|bidea|plaza|enparantza|emparantza|etorbidea|errepidea)")

CATALONIA = frozenset(("barcelona", "girona", "lleida", "tarragona"))
#: Provinces where abbreviated kinds of streets are Catalan words.
CATALAN = CATALONIA | {"illes balears", "balears, illes"}

_FIRST = re.compile(r"\W*?(c ?/|[^\s/.,]+\.?)\s*(.*)")
#: ``toxal (do)`` is ``do toxal``.
_PARTICLE = re.compile(r"^([^,(]+) \((d[aeo]s?|del|as?|os?|els?|las?|los)\)")
#: What follows the name: numbers, floors, corners, quarters.
_REST = re.compile(
    r"\s*(,|\(|\)|;|/| - |(?<!\b\w)\. |\bs ?/|\bs/?n\b|\bn ?[º°ª]"
    r"|\b(esq|esquina|equina|junto|frente|km)\b|\bc ?/ ?v\b"
    r"|(?<!nacional)(?<!comarcal)\s\d+(?!\w|[ºª]? de ))"
)
#: Names of streets with digits: dates, and roads by number.
_DIGITS = re.compile(r"\d+[ºª]? d(e |').+|.*(nacional|comarcal) \d+|[^\d]+ \d+ (de|d') ?[^\d]+")
#: Words that are not names: the place itself, or what stands there.
_NO_NAME = re.compile(
    r".*\b(consultorio|consultori|ambulatorio|centro (de salud|social|medico|civico|cultural)|casa "
    r"del medico|edificio|ayuntamiento viejo|diseminado|diseminados|sin nombre|unica|unico|unic"
    r"|entrada|local|bloque|bajos?|barrio|barriada|barri|urbanizacion|poligono|sector|parcela)\b.*"
    r"|general|centro|pueblo|casa|caserio|esc|.{0,2}"
)
_ROAD = re.compile(r"general\b.*")


def street(address: str, province: str, *, hospital: bool = False) -> str | None:
    """Return the kind and the name of the street of an address.

    Parameters
    ----------
    address : str
        An address of the catalogues, with the kind of street abbreviated or written out.
    province : str
        Its province, in lower case without accents, which decides the language of the kind.
    hospital : bool
        Whether the address is of the catalogue of hospitals, where ``CR`` is a street of
        Catalonia; in the other catalogue it may be a street or a road.

    Returns
    -------
    str or None
        A folded name; None if the address names no street, or names one without its kind.
    """
    text = plain(address)
    match = _FIRST.match(text)
    if match is None:
        return None
    first, rest = match[1].replace(" ", ""), match[2]
    kind = _kind(first, province, hospital=hospital)
    if kind is None:
        name = _name(text)
        return name if name and _BASQUE.fullmatch(name) else None
    nested = _FIRST.match(rest)
    if nested and _kind(nested[1], province, hospital=hospital) and not _BASQUE.match(rest):
        return street(rest, province, hospital=hospital)  # calle carretera de almeria
    name = _name(rest, road=kind == "carretera")
    if name is None:
        return None
    return name if _BASQUE.fullmatch(name) and kind in ("calle", "carrer") else f"{kind} {name}"


def _kind(first: str, province: str, *, hospital: bool) -> str | None:
    """Return the kind of street that a word stands for."""
    if first in _WRITTEN:
        return first
    names = _ABBREVIATIONS.get(first)
    if names is None and province in CATALONIA:
        names = ("calle", "carrer") if hospital and first == "cr" else _OF_CATALONIA.get(first)
    elif names is None:
        names = _OUTSIDE_CATALONIA.get(first)
    return None if names is None else names[province in CATALAN]


def _name(text: str, *, road: bool = False) -> str | None:
    """Return the name at the beginning of a text; None if there is none."""
    text = _PARTICLE.sub(r"\2 \1", text)
    if road:
        text = text.replace(" - ", "-").replace(" -", "-").replace("- ", "-")
    name = text[: found.start()] if (found := _REST.search(text)) else text
    name = name.strip(" .,-'")
    if any(map(str.isdigit, name)) and not _DIGITS.fullmatch(name):
        return None
    return None if _NO_NAME.fullmatch(name) or (road and _ROAD.fullmatch(name)) else name

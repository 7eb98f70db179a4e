"""Names of streets, hospitals and health centres as they are written, without their kinds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from addresses import CATALAN, street
from catalogues import Centre, in_order_of_speech
from facilities import health_centres, hospitals
from written_words import WrittenWords

from gazetteers.folding import fold

#: Provinces of other languages, besides those where names are Catalan.
_OTHERS = frozenset(
    re.split(
        r";\s+",
        """a coruña; alava; alicante; alicante/alacant; araba/alava; bizkaia; castellon;
        castellon/castello; coruña, a; gipuzkoa; guipuzcoa; lugo; ourense; pontevedra; valencia;
        valencia/valencia; vizcaya""",
    )
)
#: Streets of the dictatorship, and words that are no names.
_NO_STREET = re.compile(
    r".*\b(18 de julio|antigua|avda|bajos?|caidos|calvo sotelo|caudillo|cosntitucion|escultor"
    r"|excma|franco|fuen|general mola|generalisimo|gral|jose antonio|karrika|mn|nacional|paraje"
    r"|parking|partida|primo de rivera|prolongacion|provisional|queipo|salas pombo|sn|teleclub)\b.*"
    r"|.*-la .*|.*' .*|.*'n .*|.* [a-h]|.*\b[a-z]\..*|.{0,3}"
)
_STREET = re.compile(r"(calle|carrer|avenida|avinguda|paseo|passeig|rambla|plaza|plaça) (.+)")
_CATALAN_KINDS = frozenset(("avinguda", "carrer", "passeig", "plaça"))
_SQUARES = frozenset(("plaza", "plaça"))
#: Hospitals that are called after people, saints and landscapes; others have the name of a town.
_HOSPITAL = re.compile(
    r"hospital (?!de |da |do |d'|del (?:area|noroeste|oriente|sureste)|clinic|universitari|general"
    r"|comarcal|regional|municipal|nacional|infantil|fundacion|insular|publico|central|ciudad"
    r"|marina baixa|san millan|sant vicent|.*-|.*\b[a-z]\.)(.+)"
)
_SAINT = re.compile(r"(san|santa|nuestra señora|virgen)\b.*")
#: Names that the catalogue writes with other words, or without their accents.
_HOSPITALS = (
    *("Álvarez Buylla", "Arnau de Vilanova", "Can Misses", "Doctor José Molina Orosa"),
    *("Doctor Josep Trueta", "Doctor Negrín", "Doctor Peset", "Francesc de Borja"),
    *("García Orcoyen", "Germans Trias i Pujol", "Gómez Ulla", "Joan XXIII", "Lluís Alcanyís"),
    *("Lozano Blesa", "Mateu Orfila", "Moisès Broggi", "Morales Meseguer", "Río Hortega"),
    *("San Pedro de Alcántara", "Sant Joan de Déu", "Santa Creu i Sant Pau", "Son Espases"),
    *("Vall d'Hebron", "Verge de la Cinta", "Vinalopó", "Virgen de la Arrixaca"),
)
_CENTRE = re.compile(r"(?:centro de salud|cap) (.+)")
_NO_CENTRE = re.compile(
    r".*\b(norte?|sur|este?|oeste|nord|sud|oest|centr[eo]|zona|salud|casco|pueblo|rural|urbano|i+|iv"
    r"|vi*|[a-h]|\d+)\b.*|.*\w{3}'.*"
)


def streets(
    centres: Sequence[Centre], words: Mapping[bool, WrittenWords]
) -> dict[tuple[str, str], int]:
    """Return the classes and names of streets, with the number of provinces that have them.

    Parameters
    ----------
    centres : sequence of Centre
        The catalogues.
    words : mapping of bool to WrittenWords
        The words of Spanish names, and of Catalan ones.
    """
    provinces: dict[tuple[str, str], set[str]] = defaultdict(set)
    for centre in centres:
        hospital, catalan = centre.kind == "HOSPITAL", centre.province in CATALAN
        named = street(centre.address, centre.province, hospital=hospital)
        match = _STREET.fullmatch(named or "")
        if match is None or _NO_STREET.fullmatch(match[2]) or centre.province in _OTHERS:
            continue
        name = words[catalan].written(match[2])
        if name and catalan == (match[1] in _CATALAN_KINDS):
            kind = "square" if match[1] in _SQUARES else "street"
            provinces[f"{kind}_ca" if catalan else kind, name].add(centre.province)
    return {named: len(own) for named, own in provinces.items()}


def facilities(
    centres: Sequence[Centre], words: Mapping[bool, WrittenWords], towns: set[str]
) -> set[tuple[str, str]]:
    """Return the classes and names of hospitals and health centres.

    Parameters
    ----------
    centres : sequence of Centre
        The catalogues.
    words : mapping of bool to WrittenWords
        The words of Spanish names, and of Catalan ones.
    towns : set of str
        Folded names of towns, which are left out.
    """
    named = {("hospital", name) for name in _HOSPITALS}
    for centre in centres:
        catalan = centre.province in CATALAN
        own = _hospitals(centre, towns) if centre.kind == "HOSPITAL" else _names(centre, towns)
        kind = "health_centre_ca" if catalan else "health_centre"
        kind = "hospital" if centre.kind == "HOSPITAL" else kind
        named |= {(kind, name) for name in map(words[catalan].written, own) if name}
    return named


def _hospitals(centre: Centre, towns: set[str]) -> Iterator[str]:
    for term in hospitals(centre.name, ""):
        match = _HOSPITAL.fullmatch(term)
        last = match[1].rpartition(" de ")[2] if match else ""
        if match and (last not in towns or _SAINT.fullmatch(match[1])):
            yield match[1]


def _names(centre: Centre, towns: set[str]) -> Iterator[str]:
    if centre.kind == "CONSULTORIO LOCAL" or centre.province in _OTHERS:
        return
    (town,) = fold([in_order_of_speech(centre.town.split("/")[0])])
    for term in health_centres(centre.name, centre.kind, centre.province, []):
        match = _CENTRE.fullmatch(term)
        name = match[1] if match else town
        if town not in name and name not in towns and not _NO_CENTRE.fullmatch(name):
            yield name

"""Surrogates of addresses of e-mail, of web pages and of machines.

Their domains and networks are reserved for examples (RFC 2606, RFC 3849 and RFC 5737).
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Sequence

from anonymizers.keys import Draws, Key
from anonymizers.mention import Mention, folded
from anonymizers.surrogates.characters import (
    characters_like,
    draw_until,
    read_tables,
    split_headings,
)
from anonymizers.surrogates.names import Role, drawn_word
from corpus.dates.languages import in_case_of
from corpus.identifiers import CHECKS

_DOMAINS = ("example.com", "example.net", "example.org")
_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")
_IPV6_NETWORK = 0x2001_0DB8 << 96

_TABLES = read_tables("internet.toml")
_HEADINGS = frozenset(_TABLES["headings"])
_HOSTS: Sequence[str] = _TABLES["hosts"]
_PATH_WORDS: Sequence[str] = _TABLES["path_words"]

_AT = r"\s*(?:[@＠]|[(\[{]\s*(?:at|arroba)\s*[)\]}])\s*"
_SIGN = r"[\w\u0300-\u036f.+%'&-]"
_EMAIL = re.compile(rf"(?<!{_SIGN})({_SIGN}+)({_AT})([\w-]+(?:\.[\w-]+)*)", re.IGNORECASE)
_LETTERS = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*)+")
_LOCAL_PART = re.compile(rf"({_LETTERS.pattern})|\d+")
#: Shorter words of an address are initials.
_NAME = 4

_IPV4 = re.compile(r"(\W*)\d{1,3}(?:\.\d{1,3}){3}((?:[:/]\d+)?\W*)")
_IPV6 = re.compile(r"([^\w:]*)([\da-f:.]{1,44}[\da-f:])((?:/\d+|\]:\d+)?\W*)", re.IGNORECASE)
_URL = re.compile(
    r"([^\w-]*(?:[a-z][a-z\d+-]*:/{0,3})?(?:www\d?\.)?)"
    r"(?:[\w-]+\.)+[\w-]+"
    r"((?::\d+)?)([/?#]\S*|\W*)",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?P<kind>\.(?:html?|php|pdf|aspx?|jsp|xml|jpe?g|png)(?![^\W_]))"
    rf"|(?P<word>(?:{_LETTERS.pattern}|%[\da-f]{{2}})+)|\d+",
    re.IGNORECASE,
)


def surrogate_email(mention: Mention, key: Key) -> str | None:
    """Return other e-mail addresses, whose domains are reserved for examples.

    Words become names and initials, and digits digits; dots, hyphens and capitals stay. Return None
    if words stand beside an address that may be a part of it. A text without addresses stays, which
    `anonymizers.surrogates.surrogate` refuses.
    """

    def other(match: re.Match[str]) -> str:
        local, sign, domain = match.groups()
        draws = key.draws("email", mention.patient, folded(local))
        new_domain = _domain(domain, key.draws("domain", mention.patient, folded(domain)))
        return _other_local_part(local, draws) + sign + in_case_of(new_domain, domain)

    if _says_something(_EMAIL.sub(" ", mention.text)):
        return None
    return _EMAIL.sub(other, mention.text)


def _domain(old: str, draws: Draws) -> str:
    """Return a domain of as many parts that is reserved: of ``example.com`` or ``example``."""
    # RFC 2606, sections 2 and 3.
    hosts = [draws.choice(_HOSTS) for _ in range(old.count(".") - 1)]
    end = [draws.choice(_DOMAINS)] if draws.below(2) else [draws.choice(_HOSTS), "example"]
    return ".".join(hosts + end)


def surrogate_web(mention: Mention, key: Key) -> str | None:
    """Return other addresses of web pages or machines, which are reserved for examples.

    The scheme, the port, the number of the parts of a path and the kind of a file stay. Other texts
    are as in `surrogate_email`.
    """
    parts = re.split(r"(\s+)", mention.text)
    for place, part in enumerate(parts[::2]):
        other = _other_address(part, key.draws("web", mention.patient, folded(part)))
        if other is None and _says_something(part):
            return None
        parts[2 * place] = other or part
    return "".join(parts)


def _says_something(text: str) -> bool:
    """Return whether a text has letters or digits besides headings."""
    parts, others = split_headings(text, _HEADINGS)
    return any(character.isalnum() for place in others for character in parts[place])


def _other_local_part(local: str, draws: Draws) -> str:
    """Return other words and digits for those before the sign of an e-mail address."""
    words = _LETTERS.findall(local)
    names = [word for word in words if len(word) >= _NAME]

    def other(match: re.Match[str]) -> str:
        word = match[1]
        if not word:
            return characters_like(match[0], draws)
        role: Role = "woman" if len(names) > 1 and word == names[0] else "surname"

        def draw() -> str:
            if len(word) < _NAME:
                return "".join(_name("surname", draws)[0] for _ in word)
            initial = _name("woman", draws)[0] if len(words) == 1 else ""
            return initial + _name(role, draws)

        old = folded(word)
        new = draw_until(lambda new: old not in new, draw) or characters_like(word, draws).lower()
        return in_case_of(new, word)

    return _LOCAL_PART.sub(other, local)


def _name(role: Role, draws: Draws) -> str:
    """Return a word of a name in lower case and in ASCII."""
    return "".join(filter(str.isascii, unicodedata.normalize("NFD", drawn_word(role, draws))))


def _other_address(text: str, draws: Draws) -> str | None:
    """Return another address of a page or a machine; None if the text is none."""
    if match := _IPV4.fullmatch(text):
        return f"{match[1]}{draws.choice(_NETWORKS)}.{1 + draws.below(254)}{match[2]}"
    if (match := _IPV6.fullmatch(text)) and CHECKS["ip"](match[2]):
        address = ipaddress.IPv6Address(_IPV6_NETWORK | draws.below(1 << 32))
        return match[1] + (str(address) if "::" in text else address.exploded) + match[3]
    if match := _URL.fullmatch(text):
        return f"{match[1]}example.org{match[2]}{_other_path(match[3], draws)}"
    return None


def _other_path(path: str, draws: Draws) -> str:
    """Return other words and digits for those of a path, a query and a fragment."""

    def other(match: re.Match[str]) -> str:
        if match["kind"]:
            return match[0]
        return draws.choice(_PATH_WORDS) if match["word"] else characters_like(match[0], draws)

    return _PATH.sub(other, path)

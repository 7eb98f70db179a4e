"""Surrogates of addresses have the form of the original, and are reserved for examples."""

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.categories import builtin_categories
from anonymizers.keys import Key
from anonymizers.mention import Mention, folded
from anonymizers.surrogates import surrogate
from corpus.errors import Problems
from corpus.formats import read

KEY = Key(bytes(range(32)))
DOMAIN = r"([a-z]+\.)*(example\.(com|net|org)|[a-z]+\.example)"
NETWORKS = [
    *map(ipaddress.IPv4Network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")),
    ipaddress.IPv6Network("2001:db8::/32"),
]


def email(text: str, patient: str = "p") -> str | None:
    return surrogate(Mention(text, "EMAIL", "email", patient), KEY)


def web(text: str) -> str | None:
    return surrogate(Mention(text, "URL", "web", "p"), KEY)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("ferran.campillo@salud.madrid.org", rf"[a-z]+\.[a-z]+@{DOMAIN}"),
        ("3683pgf@comb.es", rf"[1-9]\d{{3}}[a-z]{{3}}@{DOMAIN}"),
        ("JUAN_PEREZ70@HOSPITAL.ES", r"[A-Z]+_[A-Z]+[1-9]\d@EXAMPLE\.[A-Z]{3}"),
        ("a.h.Castrillo-Gil@x.es", rf"[a-z]\.[a-z]\.[A-Z][a-z]+-[A-Z][a-z]+@{DOMAIN}"),
        ("niño@x.es", rf"[a-z]+@{DOMAIN}"),
        (unicodedata.normalize("NFD", "niño@x.es"), rf"[a-z]+@{DOMAIN}"),
        ("mailto:ana@x.es; vila07@y.es.", rf"mailto:[a-z]{{3}}@{DOMAIN}; [a-z]+0[1-9]@{DOMAIN}\."),
        ("Correo electrónico: ana\n@ x.es", rf"Correo electrónico: [a-z]{{3}}\n@ {DOMAIN}"),
        ("vila (arroba) x.es", rf"[a-z]+ \(arroba\) {DOMAIN}"),
    ],
)
def test_addresses_of_mail(text: str, form: str) -> None:
    new = email(text)
    assert new and re.fullmatch(form, new)
    for word in re.findall(r"[^\W\d_]{3,}(?=[\W\d_]*@)", folded(text)):
        assert word not in new


def test_the_same_address_becomes_the_same_address() -> None:
    assert email("juan.vila@x.es") == (email("JUAN.VILA@X.ES") or "").lower()
    assert email("juan.vila@x.es") != email("juan.vila@x.es", "another patient")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("www.hospital.es", r"www\.example\.org"),
        ("(https://x.es:8080/).", r"\(https://example\.org:8080/\)\."),
        (
            "http://www.x.es/fichas/juan-vila.html?id=12#juan",
            r"http://www\.example\.org/[a-z]+/[a-z]+-[a-z]+\.html\?[a-z]+=[1-9]\d#[a-z]+",
        ),
        ("x.es/juan%C3%A1n/2019", r"example\.org/[a-z]+/[1-9]\d{3}"),
        ("Web: www.x.es\nwww.y.es", r"Web: www\.example\.org\nwww\.example\.org"),
        ("http://www.hos-\npital.es/a", r"http://example\.org\nexample\.org/[a-z]+"),
        ("http://10.0.0.1/juan", r"http://example\.org/[a-z]+"),
    ],
)
def test_addresses_of_pages(text: str, form: str) -> None:
    new = web(text)
    assert new and re.fullmatch(form, new)


@given(st.ip_addresses())
def test_addresses_of_machines(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    new = web(f"IP {address}.")
    assert new and new.startswith("IP ") and new.endswith(".")
    other = ipaddress.ip_address(new[3:-1])
    assert other != address and other.version == address.version
    assert any(other in network for network in NETWORKS)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        *(
            (email, text)
            for text in ("", "@", "web", "Ana Vila", "Ana: a@x.es", "a@hos-\npital.es")
        ),
        *((web, text) for text in ("", "...", "Ana Vila", "http://x.es/a\nvila", "a@x.es")),
        *((web, text) for text in ("example.org", "http://ana:1@x.es", "12:30")),
    ],
)
def test_what_is_no_address_has_no_surrogate(
    function: Callable[[str], str | None], text: str
) -> None:
    assert function(text) is None


@pytest.mark.parametrize("function", [email, web])
@given(text=st.text() | st.text("ab1@.:/-_ \nñ\u0301\u00adAº٣", max_size=25))
def test_any_text_has_another_or_none(function: Callable[[str], str | None], text: str) -> None:
    new = function(text)
    assert new is None or len(text.strip()) < 3 or folded(text) not in folded(new)


@pytest.mark.parametrize("function", [email, web])
@pytest.mark.parametrize("sign", ["a", "-", ":", ".", "a.", "/", " ", "a ", "@", "+", "1."])
def test_long_texts_take_no_longer(function: Callable[[str], str | None], sign: str) -> None:
    function(sign * 100_000 + "!")  # hours, if the time grew with the square of the length


def test_addresses_of_real_notes(meddocan: Path) -> None:
    for document in read(meddocan / "dev", problems=Problems()):
        for span in document.spans:
            text = document.text[span.start : span.end]
            if builtin_categories().get(span.label) == "email" and re.fullmatch(r"\S+@\S+", text):
                new = email(text)
                assert new and re.search(DOMAIN, new)
                assert (
                    re.sub(r"[a-z]+", "", new.split("@")[0].lower()).count("")
                    == len(re.sub(r"[^\W\d_]+", "", text.split("@")[0])) + 1
                )

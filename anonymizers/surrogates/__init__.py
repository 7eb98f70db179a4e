"""Surrogates: other values of the same category, which look like the originals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anonymizers.ages import surrogate_age
from anonymizers.dates import shifted_date
from anonymizers.keys import Key
from anonymizers.mention import Mention, has_copy
from anonymizers.surrogates.internet import surrogate_email, surrogate_web
from anonymizers.surrogates.names import surrogate_name
from anonymizers.surrogates.numbers import surrogate_number
from anonymizers.surrogates.places import surrogate_organisation, surrogate_place
from anonymizers.surrogates.telephones import surrogate_telephone
from anonymizers.times import shifted_time

_SURROGATES: Mapping[str, Callable[[Mention, Key], str | None]] = {
    "person": surrogate_name,
    "place": surrogate_place,
    "organisation": surrogate_organisation,
    "date": shifted_date,
    "time": shifted_time,
    "age": surrogate_age,
    "telephone": surrogate_telephone,
    "email": surrogate_email,
    "web": surrogate_web,
    "number": surrogate_number,
}


def surrogate(mention: Mention, key: Key) -> str | None:
    """Return the surrogate of a mention; None if there is none that lacks its text."""
    make = _SURROGATES.get(mention.category)
    new = make(mention, key) if make else None
    return None if new is None or has_copy(new, mention.text) else new

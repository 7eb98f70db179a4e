"""Times of day that are shifted by one offset for each patient."""

from __future__ import annotations

import functools
import re

from anonymizers.keys import Key
from anonymizers.mention import Mention
from corpus.tokens.normalisation import normalised_text

_DAY = 24 * 60
#: The offsets in minutes. An hour without minutes changes too, and few times change their day.
_OFFSETS = tuple(sign * minutes for sign in (-1, 1) for minutes in range(60, 181, 5))

_TIME = re.compile(
    r"(?<![\w.:])(?P<hour>2[0-3]|[01]?[0-9])(?=\s{0,2}[:.hap])"
    r"(?:(?P<sign>\s?[:.h]\s?)(?P<minute>[0-5][0-9])(?P<second>:[0-5][0-9])?)?"
    r"(?P<unit>\s{0,2}(?:(?P<noon>[ap])\.?\s?m\.?|h(?:oras?|ores|ours|rs|s)?\.?|min)?)(?![\w:])",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"(?:\W|(?:a|al|las|los|les|de|desde|hasta|entre|y|i|fins|from|at|to|until|between|and)(?!\w))*",
    re.IGNORECASE,
)


def shifted_time(mention: Mention, key: Key) -> str | None:
    """Shift the times of day of a mention by the offset of the patient, in the same form.

    The offset is one to three hours, a multiple of five minutes, to earlier or later. A time is no
    identifier by itself, and research needs the intervals within a day: they are kept, except over
    midnight, where dates do not follow. A new draw for each time would protect little more and lose
    their order. It protects from those who know the minute of an event. Return None if the text is
    no time of day, or has other words, such as ``de la tarde``.

    Examples
    --------
    >>> key = Key(bytes(32))
    >>> texts = "a las 10:30 h", "17h", "9:05 a.m."
    >>> [shifted_time(Mention(text, "TIME", "time", "p"), key) for text in texts]
    ['a las 08:05 h', '14h', '6:40 a.m.']
    """
    minutes = _offset(key, mention.patient)
    for text in (mention.text, normalised_text(mention.text)):
        if _BESIDE.fullmatch(_TIME.sub(" ", text)):
            new = _TIME.sub(lambda match: _later(match, minutes), text)
            return None if text.casefold() in new.casefold() else new
    return None


@functools.lru_cache(1 << 10)
def _offset(key: Key, patient: str) -> int:
    return key.draws("time", patient).choice(_OFFSETS)


def _later(match: re.Match[str], minutes: int) -> str:
    """Write a time as it is some minutes later, in the same form."""
    written, sign, minute, noon = match.group("hour", "sign", "minute", "noon")
    hour, rest = int(written), match["unit"]
    if noon:
        hour = hour % 12 + 12 * (noon in "pP")
    hour, new = divmod((hour * 60 + int(minute or 0) + minutes) % _DAY, 60)
    if noon:
        half = "p" if hour >= 12 else "a"
        rest = rest.replace(noon, half.upper() if noon.isupper() else half, 1)
        hour = (hour - 1) % 12 + 1
    is_padded = written[0] == "0" or (len(written) == 2 and minute and not noon)
    text = f"{hour:02}" if is_padded else str(hour)
    return f"{text}{sign}{new:02}{match['second'] or ''}{rest}" if minute else f"{text}{rest}"

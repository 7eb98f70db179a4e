"""The accents and capitals of names that catalogues write in capitals, mostly without accents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from gazetteers.casing import in_case
from gazetteers.folding import fold
from gazetteers.grammar import Grammar

_WORD = re.compile(r"[^\W\d_]+")
#: Shorter words are articles, prepositions and words whose accents are no question.
_LONG = 4
#: A word in capitals has no accent if it has none this often.
_OFTEN = 2
#: Words that the lists have in capitals alone, and always without their accents.
_ACCENTED_WORDS = """
    águeda alborán américa artés bécquer cesáreo cónsul damián dávila espíritu ferrándiz gárgoles
    giménez gutiérrez héroes ibárruri induráin jerusalén marabú marítimo márquez mesón pública
    salón sillería tarrío túnel valparaíso víctor vinalopó
"""
#: A word has an accent if this share of its forms has one, and this share of those in capitals.
_ACCENTED = 0.3
_ACCENTED_IN_CAPITALS = 0.1
#: The numbers of kings and popes; `i` and `v` within a name are a conjunction and an initial.
_NUMERAL = re.compile(r"(?<= )(([iv]|x)$|(ii|iii|iv|vi{1,3}|ix|xi{1,3}|xxiii)\b)", re.I)
_PREPOSITION = re.compile(r"(de|dels?|da|des|do|das|dos)\b|d'")
_PARTICLES = Grammar.read().particles | {"da", "das", "des", "do", "dos", "n'", "s'"}


def titled(name: str) -> str:
    """Return a name in lower case in title case, except prepositions at its beginning.

    >>> titled("de la constitución")
    'de la Constitución'
    """
    name = in_case(name, "after" if _PREPOSITION.match(name) else "title", _PARTICLES)
    return _NUMERAL.sub(lambda match: match[0].upper(), name)


@dataclass
class WrittenWords:
    """Words with their accents, learned from names.

    Parameters
    ----------
    people : collection of str
        Folded words of names of people. Other words are known if they were learned twice, since
        the lists have errors.
    """

    people: Collection[str]
    _forms: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _capitals: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.learn([_ACCENTED_WORDS] * 2)

    def learn(self, texts: Iterable[str]) -> None:
        """Learn the words of texts; capitals without an accent may lack one."""
        for text in texts:
            words = _WORD.findall(text.lower())
            for word, folded in zip(words, fold(words) if words else (), strict=True):
                if word == folded and text == text.upper():  # Nº is no upper case
                    self._capitals[word] += 1
                else:
                    self._forms[folded][word] += 1

    def written(self, name: str) -> str | None:
        """Return a folded name as it is written; None if the accents of a long word are unknown."""
        words = _WORD.findall(name)
        if not all(len(word) < _LONG or self._is_known(word) for word in words):
            return None
        return titled(_WORD.sub(lambda match: self._form(match[0]), name))

    def _is_known(self, word: str) -> bool:
        times = self._forms[word].total() if word in self._forms else 0
        often = self._capitals[word] >= _OFTEN
        return often or times > 1 or (times == 1 and word in self.people)

    def _form(self, word: str) -> str:
        forms = self._forms.get(word, Counter())
        accented = Counter({form: count for form, count in forms.items() if form != word})
        least = max(_ACCENTED * forms.total(), _ACCENTED_IN_CAPITALS * self._capitals[word])
        return accented.most_common(1)[0][0] if accented.total() > least else word

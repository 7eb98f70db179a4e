"""Parts of speech and lemmas by Apertium, in Spanish and Catalan.

A word is looked up once. The tagger of Apertium then chooses among the analyses of each token. It
is given one unit for each token, so that its answer needs no alignment.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.morphology.analysis import Analysis

_FOLDERS = ("/usr/share/apertium", "/usr/local/share/apertium")
_PAIRS = {"es": "spa-cat", "ca": "cat-spa"}  # a translator begins with a tagger of its source
_PACKAGE = "apertium-spa-cat"

_CACHED_WORDS = 500_000
_LONGEST = 100  # characters of a word that is looked up: it takes the square of their number

_OTHER_VERSION = f"Apertium's answer cannot be read: install version 2.2 of {_PACKAGE}"

_RESERVED = re.compile(r"[\[\]{}<>^$/\\@]")  # of the format of Apertium
_UNIT = re.compile(r"\^((?:[^\\$]|\\.)*)\$", re.DOTALL)
_SURFACE = re.compile(r"((?:[^\\/]|\\.)*)/", re.DOTALL)
_PART = re.compile(r"\+?((?:[^\\<]|\\.)*)((?:<[^>]*>)+)", re.DOTALL)
_FIRST = re.compile(r"(\^(?:[^\\/]|\\.)*/(?:[^\\/]|\\.)*)/.*", re.DOTALL)
_NEW_CLASS = re.compile(r"^Word '([0-9]+)'", re.MULTILINE)
_UNKNOWN = "^unknown/*unknown$"
_END = "^./.<sent>$"  # before and after each document, so that no other one matters to it


class Apertium:
    """Analyser that runs Apertium's programs.

    A part of speech is the first tag of an analysis, such as ``n`` or ``det``. Verbs and proper
    nouns also have the second: ``vblex.pp``, ``np.loc``. Contractions have all their parts, such as
    ``pr+det`` (paper 003, section 3.4.2).

    Parameters
    ----------
    language : {"es", "ca"}
        The language of the documents.

    Raises
    ------
    InputError
        If Apertium or its dictionaries are not installed, or do not have the language.
    """

    def __init__(self, language: str) -> None:
        if language not in _PAIRS:
            raise InputError(
                f'analysers: {language} = "apertium": expected one of {", ".join(_PAIRS)}'
            )
        pair = _PAIRS[language]
        files = [f"{pair}.automorf.bin", f"{pair}.prob"]
        folders = [Path(name, _PACKAGE) for name in _FOLDERS]
        complete = [one for one in folders if all((one / file).is_file() for file in files)]
        if not complete or not all(map(shutil.which, ("lt-proc", "apertium-tagger"))):
            raise InputError(
                f'analysers: {language} = "apertium": Apertium is not installed: '
                f"apt-get install apertium {_PACKAGE}"
            )
        self._dictionary, self._tagger = (str(complete[0] / file) for file in files)
        self._units: dict[str, str] = {}  # the analyses of each word

    def analyse(self, batch: Batch) -> Analysis:
        """Return the part of speech and the lemma of each token; unknown words have none."""
        units = self._units_of(batch.vocabulary)
        offsets = batch.document_offsets.tolist()
        tokens = [units[word] for word in batch.word_ids.tolist()]
        documents = [
            " ".join([_END, *tokens[first:last], _END]) + "\0"
            for first, last in itertools.pairwise(offsets)
        ]
        tagged = _output(["apertium-tagger", "-g", "-z", self._tagger], "".join(documents))
        chosen = [
            unit
            for document in tagged.split("\0")[: len(documents)]
            for unit in _UNIT.findall(document)[1:-1]
        ]
        if len(chosen) != batch.n_tokens:
            raise InputError(_OTHER_VERSION)
        parts = {unit: _parts(unit) for unit in dict.fromkeys(chosen)}
        return Analysis([parts[unit][0] for unit in chosen], [parts[unit][1] for unit in chosen])

    def _units_of(self, vocabulary: Sequence[str]) -> list[str]:
        """Return the unit of each word: the word with its analyses."""
        if len(self._units) > _CACHED_WORDS:
            self._units = {}
        new = [word for word in vocabulary if word not in self._units]
        self._units.update((word, _UNKNOWN) for word in new if len(word) > _LONGEST)
        new = [word for word in new if len(word) <= _LONGEST]
        if new:
            text = "".join(f"{_escaped(word)}\0" for word in new)
            analysed = _output(["lt-proc", "-w", "-z", self._dictionary], text).split("\0")
            if len(analysed) <= len(new):
                raise InputError(_OTHER_VERSION)
            units = [
                unit if _covers(unit, word) else _UNKNOWN
                for word, unit in zip(new, analysed, strict=False)
            ]
            self._units.update(zip(new, self._known_to_tagger(units), strict=True))
        return [self._units[word] for word in vocabulary]

    def _known_to_tagger(self, units: Sequence[str]) -> list[str]:
        """Return units with the first analysis alone where the tagger does not know the choice.

        The tagger remembers unknown choices, and would tag other documents differently after them.
        """
        numbered = [_SURFACE.sub(f"{row}/", unit[1:], count=1) for row, unit in enumerate(units)]
        text = "".join(f"{_END} ^{unit} {_END}\0" for unit in numbered)
        messages = _output(["apertium-tagger", "-g", "-z", "-d", self._tagger], text, stderr=True)
        unknown = set(map(int, _NEW_CLASS.findall(messages)))
        return [
            _FIRST.sub(r"\1$", unit) if row in unknown else unit for row, unit in enumerate(units)
        ]


def _escaped(word: str) -> str:
    return _RESERVED.sub(r"\\\g<0>", word.replace("\0", " "))


def _covers(unit: str, word: str) -> bool:
    """Return whether the output for a word is one unit, of the whole word."""
    match = _UNIT.fullmatch(unit)
    surface = _SURFACE.match(match[1]) if match else None
    return surface is not None and surface[1] == _escaped(word)


def _parts(unit: str) -> tuple[str, str]:
    """Return the part of speech and the lemma of an analysis."""
    parts = [(part[1], part[2][1:-1].split("><")) for part in _PART.finditer(unit)]
    pos = [
        ".".join(tags[:2]) if tags[0] == "np" or tags[0].startswith("vb") else tags[0]
        for _, tags in parts
    ]
    lemmas = [re.sub(r"\\(.)", r"\1", lemma).lower() for lemma, _ in parts]
    return "+".join(pos), "+".join(lemmas)


def _output(command: Sequence[str], text: str, *, stderr: bool = False) -> str:
    """Return what a program of Apertium makes of a text, or its messages."""
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        raise InputError(f"{command[0]} of Apertium ended with status {done.returncode}")
    try:
        return (done.stderr if stderr else done.stdout).decode()
    except UnicodeDecodeError:
        raise InputError(_OTHER_VERSION) from None

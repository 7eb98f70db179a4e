"""Embeddings of the words of unlabeled notes: from notes to a folder of them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.execution.processes import in_processes
from corpus.corpora import is_synthetic
from corpus.counts import WordCounter, WordCounts, in_pieces
from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats import find_files
from corpus.storage import folder_lock, write_atomically
from corpus.tokens import tokenize
from taggers.embeddings import training
from taggers.embeddings.encoded_corpus import Piece, write_numbers
from taggers.embeddings.normalisation import NORMALISATIONS
from taggers.embeddings.training import BEGUN, Task, TrainingOptions
from taggers.features import Words

if TYPE_CHECKING:
    from taggers.embeddings.embedding import Embedding

_WORDS, _PLACES = "words.parquet", "places.npy"
_NOTES = ".notes"  # the folder of the numbered notes while there is something to train
_PIECE = 1 << 16  # words that are normalised at once
_STRING = pa.large_string()

#: So many tokens are looked at in all epochs, where the notes have fewer: up to `_MOST_EPOCHS`.
_TOKENS = 12_000_000
_FEWEST_EPOCHS, _MOST_EPOCHS = 5, 30


@dataclass(frozen=True, slots=True)
class Plan:
    """An embedding to be trained.

    Parameters
    ----------
    normalisation : str
        What words become: a key of `NORMALISATIONS`.
    options : TrainingOptions
        How to train. Epochs of 0 are as many as suit the number of tokens.
    """

    normalisation: str
    options: TrainingOptions

    @property
    def name(self) -> str:
        """Such as ``lower-w5``: that of its folder."""
        suffix = "" if self.options.kind == "word2vec" else f"-{self.options.kind}"
        return f"{self.normalisation}-w{self.options.window}{suffix}"

    def settings(self, notes: dict[str, Any]) -> dict[str, Any]:
        """Return the settings that determine its vectors, for JSON."""
        found: dict[str, Any] = json.loads(json.dumps({**asdict(self.options), "notes": notes}))
        return found

    def suited(self, tokens: int) -> TrainingOptions:
        """Return the options for notes with a number of tokens."""
        return replace(self.options, epochs=self.options.epochs or epochs_for(tokens))


def epochs_for(tokens: int) -> int:
    """Return the number of epochs for a number of tokens: the fewer tokens, the more."""
    return min(max(math.ceil(_TOKENS / max(tokens, 1)), _FEWEST_EPOCHS), _MOST_EPOCHS)


def embed(
    documents: Callable[[], Iterable[Document]],
    notes: dict[str, Any],
    folder: Path,
    plans: Sequence[Plan],
    *,
    jobs: int = 1,
    resume: bool = False,
    report: Callable[[str, int, int], None],
) -> list[Embedding]:
    """Train embeddings on notes.

    Parameters
    ----------
    documents : callable
        Gives the notes, in the unit that is a sentence: words look no further.
    notes : dict
        What tells these notes from others (see `notes_of`).
    folder : Path
        Gets a folder for each embedding; others may be there.
    plans : sequence of Plan
        What to train.
    jobs : int
        Embeddings that are trained at the same time.
    resume : bool
        Whether to go on with what an interrupted process left.
    report : callable
        Told of tokens done in training.

    Returns
    -------
    list of Embedding
        In the order of the plans.

    Raises
    ------
    InputError
        If one of them is there already and not to be gone on with, or made in another way, or if no
        word occurs often enough.
    """
    with held_folder(folder):
        done = [plan for plan in plans if _is_there(folder, plan, notes, resume=resume)]
        if len(done) < len(plans):
            counts = _numbered(folder / _NOTES, documents, notes, resume=resume)
            left = [plan for plan in plans if plan not in done]
            _train(folder, left, counts, notes, jobs=jobs, report=report)
        shutil.rmtree(folder / _NOTES, ignore_errors=True)
    from taggers.embeddings.embedding import Embedding  # noqa: PLC0415 - numba takes memory

    return [Embedding.load(folder / plan.name) for plan in plans]


@contextlib.contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Create a folder of embeddings, and lock it against other processes.

    Raises
    ------
    InputError
        If it cannot be made, or another process works on it.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{shown(folder)} cannot be made: {error.strerror}") from None
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(folder_lock(folder))
        except BlockingIOError:
            raise InputError(f"{shown(folder)}: another process works on it") from None
        yield


def notes_of(source: str, unit: str) -> dict[str, Any]:
    """Return a fingerprint of notes: their files, and the unit of their sentences."""
    digest, files = hashlib.blake2b(digest_size=16), 0
    if not is_synthetic(source):
        for path in find_files(source):
            status = path.stat()
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
            files += 1
    return {"source": source, "unit": unit, "files": files, "digest": digest.hexdigest()}


def _is_there(folder: Path, plan: Plan, notes: dict[str, Any], *, resume: bool) -> bool:
    """Return whether the planned embedding exists with the same settings."""
    path = folder / plan.name
    if not path.exists():
        return False
    if not resume:
        raise InputError(
            f"{shown(path)} is there already: go on with it by --resume, remove it, or name "
            "another folder"
        )
    from taggers.embeddings.embedding import Embedding  # noqa: PLC0415 - numba takes memory

    # One that was made of a file has other settings.
    before, now = Embedding.load(path).settings.get("requested", {}), plan.settings(notes)
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            raise InputError(
                f"{shown(path)} was made with another setting of {name}: remove it, or name "
                "another folder"
            )
    return True


def _numbered(
    folder: Path,
    documents: Callable[[], Iterable[Document]],
    notes: dict[str, Any],
    *,
    resume: bool,
) -> WordCounts:
    """Count the words of notes and write them as numbers, unless that was done before.

    The number of a word is its place among the counts.
    """
    closing = folder / "notes.json"
    with contextlib.suppress(OSError, ValueError):
        if resume and json.loads(closing.read_text(encoding="utf-8")) == notes:
            return WordCounts.load(folder / _WORDS)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    counter = WordCounter()
    write_numbers(folder, _pieces(documents(), counter))
    counts, order = counter.ranked()
    if not len(counts):
        raise InputError(f"{notes['source']}: {counts.total:,} documents and not one word")
    counts.save(folder / _WORDS)
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    np.save(folder / _PLACES, places)
    write_atomically(closing, json.dumps(notes).encode())
    return counts


def _pieces(documents: Iterable[Document], counter: WordCounter) -> Iterator[Piece]:
    for texts in in_pieces(document.text for document in documents):
        tokens = tokenize(texts)
        yield np.diff(tokens.document_offsets).astype(np.int32), counter.add(tokens)


def _train(
    folder: Path,
    plans: Sequence[Plan],
    counts: WordCounts,
    notes: dict[str, Any],
    *,
    jobs: int,
    report: Callable[[str, int, int], None],
) -> None:
    tasks = [_task_of(plan, folder, notes, counts.tokens) for plan in plans]
    report("looking up words", 0, 0)
    # In processes of their own, which give their memory back.
    for _ in in_processes(_prepare, [(task,) for task in tasks], jobs=jobs):
        pass
    name = plans[0].name if len(plans) == 1 else f"{len(plans)} embeddings"
    done, totals = [0] * len(tasks), [_tokens_of(task) for task in tasks]
    for number, message in in_processes(training.train, [(task,) for task in tasks], jobs=jobs):
        done[number] = message
        report(f"training {name}", sum(done), sum(totals))


def _task_of(plan: Plan, folder: Path, notes: dict[str, Any], tokens: int) -> Task:
    options = plan.suited(tokens)
    settings = {"requested": plan.settings(notes), "epochs": options.epochs, "tokens": tokens}
    return Task(
        options=options,
        notes=folder / _NOTES,
        folder=folder / f".{plan.name}",
        target=folder / plan.name,
        normalisation=plan.normalisation,
        settings=settings,
    )


def _tokens_of(task: Task) -> int:
    return int(np.load(task.folder / "counts.npy").sum()) * task.options.epochs


def _prepare(send: Callable[[None], None], task: Task) -> None:
    """Write the words that get vectors, and the rank of each number of the notes.

    What was trained of the same words before is kept.
    """
    from taggers.embeddings.embedding import write_words  # noqa: PLC0415 - numba takes memory

    table = _normalised(WordCounts.load(task.notes / _WORDS), task.normalisation)
    words = table["word"].combine_chunks()
    frequent = _frequent(table, task.options.min_count)
    if not len(frequent):
        most = int(pc.max(_frequent(table, 1)["count"]).as_py())
        raise InputError(
            f"no word occurs {task.options.min_count} times in the notes, and the most frequent "
            f"one {most:,} times: name a lower --min-count, or give more notes"
        )
    found = pc.index_in(words, value_set=frequent["word"].combine_chunks())
    places = np.load(task.notes / _PLACES)
    ranks = found.fill_null(-1).to_numpy().astype(np.int32)[places]
    begun = task.folder / BEGUN
    text = json.dumps(task.settings)
    if not (begun.exists() and begun.read_text() == text):
        shutil.rmtree(task.folder, ignore_errors=True)
        task.folder.mkdir(mode=0o700)
    np.save(task.folder / "ranks.npy", ranks)
    write_words(task.folder, frequent["word"].to_pylist(), frequent["count"].to_numpy())
    write_atomically(begun, text.encode())


def _normalised(counts: WordCounts, normalisation: str) -> pa.Table:
    """Return the normalised form of each word, and its count."""
    normalise = NORMALISATIONS[normalisation]
    forms = [
        pa.array(normalise(Words(counts.words[begin : begin + _PIECE].to_pylist())), _STRING)
        for begin in range(0, len(counts), _PIECE)
    ]
    return pa.table({"word": pa.chunked_array(forms), "count": counts.counts})


def _frequent(table: pa.Table, least: int) -> pa.Table:
    """Return the forms with a minimum count, the most frequent first."""
    sums = table.group_by("word", use_threads=False).aggregate([("count", "sum")])
    sums = sums.rename_columns({"count_sum": "count"})
    keys = [("count", "descending"), ("word", "ascending")]
    return sums.filter(pc.field("count") >= least).sort_by(keys)

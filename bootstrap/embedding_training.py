"""Training of word embeddings on unlabeled notes."""

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
from corpus.counts import WordCounter, WordCounts, pieces_of
from corpus.errors import InputError
from corpus.formats import find_files
from corpus.formats.synthetic import is_synthetic
from corpus.storage.arrays import write_array
from corpus.storage.atomic import (
    create_folder,
    folder_lock,
    remove_partial,
    write_atomically,
    write_errors_of,
)
from corpus.tokens import tokenize
from taggers.embeddings import training
from taggers.embeddings.embedding_files import NORMALISATIONS
from taggers.embeddings.training import BEGUN, Piece, Task, TrainingOptions, write_numbers
from taggers.features.words import Words

if TYPE_CHECKING:
    from taggers.embeddings.clusters import ClusterOptions
    from taggers.embeddings.embedding import Embedding

_WORDS, _PLACES = "words.parquet", "places.npy"
_CHUNK = 1 << 16  # words normalised at a time
_STRING = pa.large_string()

#: The folder of the encoded notes in a folder of embeddings, removed after training.
ENCODED = ".notes"

#: The tokens processed in all epochs together, within the limits on their number.
_TOKENS = 12_000_000
_MIN_EPOCHS, _MAX_EPOCHS = 5, 30

_CONTINUE = "what is trained is kept; make space, and continue with the same command and --resume"


@dataclass(frozen=True, slots=True)
class EmbeddingRecipe:
    """An embedding to be trained.

    Parameters
    ----------
    normalisation : str
        The normalisation of words: a key of `NORMALISATIONS`.
    options : TrainingOptions
        The options of training. With 0 epochs, the number of tokens determines their number.
    """

    normalisation: str
    options: TrainingOptions

    @property
    def name(self) -> str:
        """The name of its folder, such as ``lower-w5``."""
        suffix = "" if self.options.kind == "word2vec" else f"-{self.options.kind}"
        return f"{self.normalisation}-w{self.options.window}{suffix}"

    def settings(self, notes: dict[str, Any]) -> dict[str, Any]:
        """Return the settings that determine its vectors, for JSON."""
        return {**asdict(self.options), "notes": notes}


def embed(
    texts: Callable[[], Iterable[pa.LargeStringArray]],
    notes: dict[str, Any],
    folder: Path,
    recipes: Sequence[EmbeddingRecipe],
    *,
    jobs: int = 1,
    resume: bool = False,
    report: Callable[[str, int, int], None],
) -> list[Embedding]:
    """Train embeddings on notes.

    Parameters
    ----------
    texts : callable
        Returns the texts of the notes, split into the unit that context windows do not cross.
    notes : dict
        The fingerprint of the notes (see `notes_of`).
    folder : Path
        The folder in which a folder for each embedding is created.
    recipes : sequence of EmbeddingRecipe
        The embeddings to train.
    jobs : int
        Number of embeddings trained at the same time.
    resume : bool
        Whether to continue an interrupted training.
    report : callable
        Called with the stage, the tokens done and their total.

    Returns
    -------
    list of Embedding
        In the order of the recipes.

    Raises
    ------
    InputError
        If an embedding exists and `resume` is false or its settings differ, or if no word occurs
        often enough.
    """
    with locked_folder(folder):
        left = [
            recipe for recipe in recipes if not is_trained(folder, recipe, notes, resume=resume)
        ]
        if left:
            counts = encode_notes(folder, texts, notes, resume=resume)
            train_recipes(folder, left, counts, notes, jobs=jobs, report=report)
        shutil.rmtree(folder / ENCODED, ignore_errors=True)
    from taggers.embeddings.embedding import Embedding  # noqa: PLC0415 - numba takes memory

    return [Embedding.load(folder / recipe.name) for recipe in recipes]


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Create a folder of embeddings, and lock it against other processes."""
    create_folder(folder)
    with write_errors_of(folder, _CONTINUE), folder_lock(folder):
        remove_partial(folder)
        yield


def notes_of(source: str, unit: str) -> dict[str, Any]:
    """Compute a fingerprint of notes: the state of their files, and their unit."""
    digest, files = hashlib.blake2b(digest_size=16), 0
    if not is_synthetic(source):
        for path in find_files(source):
            status = path.stat()
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
            files += 1
    return {"source": source, "unit": unit, "files": files, "digest": digest.hexdigest()}


def is_trained(
    folder: Path, recipe: EmbeddingRecipe, notes: dict[str, Any], *, resume: bool
) -> bool:
    """Return whether a planned embedding exists, which must be resumed with the same settings."""
    path = folder / recipe.name
    if not path.exists():
        return False
    if not resume:
        raise InputError(
            f"{path} exists already; continue with --resume, remove it, or name another folder"
        )
    from taggers.embeddings.embedding import Embedding  # noqa: PLC0415 - numba takes memory

    # The settings of pretrained embeddings have other keys.
    before, now = Embedding.load(path).settings.get("requested", {}), recipe.settings(notes)
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            raise InputError(
                f"{path} was created with another value of {name}; remove it, or name "
                "another folder"
            )
    return True


def encode_notes(
    folder: Path,
    texts: Callable[[], Iterable[pa.LargeStringArray]],
    notes: dict[str, Any],
    *,
    resume: bool,
) -> WordCounts:
    """Count the words of notes and write the notes as word numbers into `ENCODED`.

    Words are numbered by their first occurrence; `_PLACES` holds the row of each in the counts.
    The parameters are as for `embed`. With `resume`, the output of an interrupted process for notes
    with the same fingerprint is kept. Notes without any word raise an `InputError`.
    """
    folder = folder / ENCODED
    marker = folder / "notes.json"
    with contextlib.suppress(OSError, ValueError):
        if resume and json.loads(marker.read_text(encoding="utf-8")) == notes:
            return WordCounts.load(folder / _WORDS)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    counter = WordCounter()
    write_numbers(folder, _pieces(texts(), counter))
    counts, order = counter.ranked()
    if not len(counts):
        raise InputError(f"{notes['source']}: no document has a word")
    counts.save(folder / _WORDS)
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    write_array(folder / _PLACES, places)
    write_atomically(marker, json.dumps(notes).encode())
    return counts


def _pieces(arrays: Iterable[pa.LargeStringArray], counter: WordCounter) -> Iterator[Piece]:
    for texts in arrays:
        for piece in pieces_of(texts):
            tokens = tokenize(texts[piece])
            yield np.diff(tokens.document_offsets).astype(np.int32), counter.add(tokens)


def train_recipes(
    folder: Path,
    recipes: Sequence[EmbeddingRecipe],
    counts: WordCounts,
    notes: dict[str, Any],
    *,
    jobs: int,
    report: Callable[[str, int, int], None],
) -> None:
    """Train embeddings on the notes that `encode_notes` wrote; see `embed`."""
    tasks = [_task_of(recipe, folder, notes, counts.tokens) for recipe in recipes]
    report("looking up words", 0, 0)
    # Separate processes release their memory when they end.
    for _ in in_processes(_prepare, [(task,) for task in tasks], jobs=jobs):
        pass
    name = recipes[0].name if len(recipes) == 1 else f"{len(recipes)} embeddings"
    done = [0] * len(tasks)
    total = sum(
        int(np.load(task.folder / "counts.npy").sum()) * task.options.epochs for task in tasks
    )
    for number, message in in_processes(training.train, [(task,) for task in tasks], jobs=jobs):
        done[number] = message
        report(f"training {name}", sum(done), total)


def cluster_embeddings(
    tasks: Sequence[tuple[Path, Sequence[ClusterOptions]]],
    *,
    jobs: int,
    report: Callable[[str, int, int], None],
) -> None:
    """Compute clusterings of embeddings, given by their folders, each task in a process."""
    from taggers.embeddings.clusters import find_clusterings  # noqa: PLC0415 - the same

    # The time of a pass is proportional to the number of clusters.
    total = sum(options.k * options.passes for _, wanted in tasks for options in wanted)
    done = [0] * len(tasks)
    for number, steps in in_processes(find_clusterings, tasks, jobs=jobs):
        done[number] = steps
        report("training clusters", sum(done), total)


def _task_of(recipe: EmbeddingRecipe, folder: Path, notes: dict[str, Any], tokens: int) -> Task:
    usual = min(max(math.ceil(_TOKENS / max(tokens, 1)), _MIN_EPOCHS), _MAX_EPOCHS)
    epochs = recipe.options.epochs or usual  # the fewer tokens, the more
    options = replace(recipe.options, epochs=epochs)
    settings = {"requested": recipe.settings(notes), "epochs": epochs, "tokens": tokens}
    return Task(
        options=options,
        notes=folder / ENCODED,
        folder=folder / f".{recipe.name}",
        target=folder / recipe.name,
        normalisation=recipe.normalisation,
        settings=settings,
    )


def _prepare(send: Callable[[None], None], task: Task) -> None:
    """Write the vocabulary, and the rank in it of each word number of the notes."""
    from taggers.embeddings.embedding import write_words  # noqa: PLC0415 - numba takes memory

    table = _normalised(WordCounts.load(task.notes / _WORDS), task.normalisation)
    words = table["word"].combine_chunks()
    frequent = _frequent(table, task.options.min_count)
    if not len(frequent):
        highest = int(pc.max(_frequent(table, 1)["count"]).as_py())
        raise InputError(
            f"no word occurs {task.options.min_count} times in the notes; the highest frequency is "
            f"{highest:,}: set a lower --min-count, or add notes"
        )
    ranked = pc.index_in(words, value_set=frequent["word"].combine_chunks())
    places = np.load(task.notes / _PLACES)
    ranks = ranked.fill_null(-1).to_numpy().astype(np.int32)[places]
    begun = task.folder / BEGUN
    text = json.dumps(task.settings)
    if not (begun.exists() and begun.read_text() == text):  # of an interrupted training
        shutil.rmtree(task.folder, ignore_errors=True)
        task.folder.mkdir(mode=0o700)
    write_array(task.folder / "ranks.npy", ranks)
    write_words(task.folder, frequent["word"].to_pylist(), frequent["count"].to_numpy())
    write_atomically(begun, text.encode())


def vocabulary_size(counts: WordCounts, normalisation: str, min_count: int) -> int:
    """Count the distinct normalised words that occur at least `min_count` times."""
    return len(_frequent(_normalised(counts, normalisation), min_count))


def _normalised(counts: WordCounts, normalisation: str) -> pa.Table:
    normalise = NORMALISATIONS[normalisation]
    forms = [
        pa.array(normalise(Words(counts.words[begin : begin + _CHUNK].to_pylist())), _STRING)
        for begin in range(0, len(counts), _CHUNK)
    ]
    return pa.table({"word": pa.chunked_array(forms), "count": counts.counts})


def _frequent(table: pa.Table, least: int) -> pa.Table:
    """Return the forms with a minimum count, the most frequent first."""
    sums = table.group_by("word", use_threads=False).aggregate([("count", "sum")])
    sums = sums.rename_columns({"count_sum": "count"})
    keys = [("count", "descending"), ("word", "ascending")]
    return sums.filter(pc.greater_equal(sums["count"], least)).sort_by(keys)

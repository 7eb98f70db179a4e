"""Embeddings, vectors, gazetteers, word counts and notes that somebody changed on purpose.

Each has to be refused in one line, or to be harmless; see `hostile_models.py`, which does this with
models. Compressed files are changed before they are compressed as well, tables before they are
written, and Parquet notes mostly in their footer.

    python benchmarks/hostile_files.py                      # 10,000 files
    python benchmarks/hostile_files.py --models 500 --kinds gazetteer
"""

from __future__ import annotations

import gzip
import os
import shutil
import struct
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hostile_models import (
    Random,
    Use,
    attack,
    change_array,
    change_description,
    change_file,
    described,
    flip_bits,
    options_of,
    sign,
    some_file,
)

from corpus.batch import Batch, make_batch
from corpus.counts import WordCounts, count_words
from corpus.errors import Problems
from corpus.formats import read, write
from corpus.formats.batches import batches_of
from corpus.storage.manifest import digest_of_file
from corpus.storage.tables import table_bytes
from corpus.synthetic import synthetic_notes
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import Gazetteer, terms_by_class
from gazetteers.phrases.matcher import PhraseMatcher
from taggers.embeddings.clusters import ClusterOptions, clusterings_of, write_clusters
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.pretrained import load_pretrained

WORDS = [f"palabra{number}" for number in range(500)] + ["Núria", "de", "María"]
KNOWN = ["Núria", "de", "palabra7", "unbekannt", "DE"]
DIMENSION = 8
EMBEDDING = "embedding.json"


@cache
def notes() -> Batch:
    """Return notes in which phrases are found."""
    return make_batch(list(synthetic_notes(20, part="seed")), labelled=False)


def vectors_text(*, header: bool = True) -> bytes:
    """Return vectors in the text format of word2vec."""
    rng = np.random.default_rng(0)
    lines = [f"{len(WORDS)} {DIMENSION}"] if header else []
    for word in WORDS:
        lines.append(" ".join([word, *(f"{value:.4f}" for value in rng.normal(size=DIMENSION))]))
    return ("\n".join(lines) + "\n").encode()


def vectors_binary() -> bytes:
    """Return vectors in the binary format of word2vec."""
    rng = np.random.default_rng(0)
    content = f"{len(WORDS)} {DIMENSION}\n".encode()
    for word in WORDS:
        content += word.encode() + b" " + rng.normal(size=DIMENSION).astype("<f4").tobytes() + b"\n"
    return content


def make_vectors(folder: Path, *, name: str, content: bytes) -> None:
    """Write a file of vectors, compressed."""
    folder.mkdir()
    (folder / name).write_bytes(gzip.compress(content, 1))


def make_embedding(folder: Path) -> None:
    """Write an embedding with a clustering."""
    with tempfile.TemporaryDirectory() as parent:
        source = Path(parent) / "vectors.txt"
        source.write_bytes(vectors_text())
        embedding, _ = load_pretrained(source, Path(parent))
        clusters = np.arange(len(embedding)) % 8
        write_clusters(embedding, clusters, ClusterOptions(8), 0.5)
        shutil.copytree(embedding.folder, folder)


def make_gazetteer(folder: Path) -> None:
    """Write a gazetteer."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    terms = [f"{word.lower()} {other}" for word in WORDS for other in ("", "roca")]
    table = pa.table(
        [
            pa.array([" ".join(term.split()) for term in terms], pa.large_string()),
            pa.array(rng.choice(["name", "place"], len(terms)).tolist(), pa.large_string()),
            rng.integers(1, 1000, len(terms)),
        ],
        names=["term", "class", "count"],
    )
    Gazetteer.from_table(table).save(folder / "names.parquet")


def make_counts(folder: Path) -> None:
    """Write word counts."""
    folder.mkdir()
    count_words(batches_of(synthetic_notes(200, part="seed"))).save(folder / "counts.parquet")


def make_notes(folder: Path) -> None:
    """Write annotated notes."""
    write(synthetic_notes(200, part="seed"), folder / "notes.parquet")


def use_embedding(folder: Path) -> int:
    """Return how many words an embedding finds, and use its clusters."""
    embedding = Embedding.load(folder)
    found = int((embedding.rows(KNOWN) > 1).sum())
    embedding.vectors_of(KNOWN)
    embedding.neighbours("de", 5)
    embedding.word_of("de")
    for clustering in clusterings_of(embedding).values():
        clustering.sizes()
    return found


def use_vectors(folder: Path, *, name: str) -> int:
    """Load pretrained vectors."""
    path = folder / name
    with tempfile.TemporaryDirectory() as target:
        embedding, _ = load_pretrained(path, Path(target), name="x")
        return len(embedding)


def use_gazetteer(folder: Path) -> int:
    """Return how many words a gazetteer finds, and match its phrases."""
    gazetteer = Gazetteer.load(folder / "names.parquet")
    gazetteer.sizes()
    gazetteer.rows_of_term("maria")
    gazetteer.rows_with_word("roca")
    found = Frequencies.from_gazetteer(gazetteer).rows(KNOWN)
    PhraseMatcher(terms_by_class([gazetteer])).find(notes())
    return int((found >= 0).sum())


def use_counts(folder: Path) -> int:
    """Read word counts."""
    counts = WordCounts.load(folder / "counts.parquet")
    counts.words.to_pylist()
    return counts.total  # that there are no words is right for notes without any


def use_notes(folder: Path) -> int:
    """Return how many notes are read."""
    return sum(1 for _ in read(folder / "notes.parquet", problems=Problems()))


def changed_files(
    good: Path,
    folder: Path,
    rng: Random,
    *,
    extra: Callable[[Path, Random], str],
    moved: bool,
) -> str:
    """Copy a folder, change it (its places, too, if `moved`), and return what was changed."""
    shutil.copytree(good, folder)
    changes = (flip_bits, change_file, extra, extra, extra)
    number = int(rng.integers(1, 3))
    done = [changes[int(rng.integers(len(changes)))](folder, rng) for _ in range(number)]
    sign(folder)
    if moved and rng.random() < 0.2:
        name = list(PLACES)[int(rng.integers(len(PLACES)))]
        path = some_file(folder, rng)
        if path.is_file() and not path.is_symlink():
            PLACES[name](path)
            done.append(f"{name} for {path.name}")
    return ", ".join(done)


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Return what puts something else in the place of a file."""

    def replace(path: Path) -> None:
        path.unlink()
        make(path)

    return replace


def named(name: str) -> Callable[[Path], None]:
    """Return what names a file in the description of an embedding, with its digest."""

    def change(path: Path) -> None:
        target = path.parent / name
        digest = digest_of_file(target) if target.is_file() else "0" * 128
        if not (path.parent / EMBEDDING).is_symlink():  # to an endless file
            described(path.parent, lambda whole: whole["files"].update({name: digest}), EMBEDDING)

    return change


def linked(path: Path) -> None:
    """Add a link to a folder of the system, and name a file in it."""
    (path.parent / "sub").symlink_to("/etc")
    named("sub/passwd")(path)


#: What leads out of the folder, or is larger or deeper than it may be, by name.
PLACES: dict[str, Callable[[Path], object]] = {
    "terabyte": lambda path: os.truncate(path, 2**40),
    "gigabytes": lambda path: os.truncate(path, 2**34 + 1),
    "pipe": replaced(os.mkfifo),
    "folder": replaced(Path.mkdir),
    "loop": replaced(lambda path: path.symlink_to(path.name)),
    "memory": replaced(lambda path: path.symlink_to("/proc/self/mem")),
    "levels": lambda path: (path.parent / "/".join("d" * 500)).mkdir(parents=True),
    "entries": lambda path: [(path.parent / f"x{number}").touch() for number in range(10_001)],
    "absolute": named("/etc/passwd"),
    "above": named("../" * 30 + "etc/passwd"),
    "link": linked,
}


def change_embedding(folder: Path, rng: Random) -> str:
    """Change an array or a description."""
    return (change_array, change_description)[int(rng.integers(2))](folder, rng)


def change_vectors(folder: Path, rng: Random) -> str:
    """Change the content of a compressed file."""
    path = next((path for path in folder.iterdir() if path.suffix == ".gz"), None)
    try:
        assert path is not None and not path.is_symlink()
        content = bytearray(gzip.decompress(path.read_bytes()))
        assert content
    except (AssertionError, OSError, EOFError, ValueError, zlib.error):
        return "nothing"
    kind = str(rng.choice(["header", "flip", "insert", "repeat", "bomb", "numbers"]))
    place = int(rng.integers(len(content)))
    if kind == "header":
        values = ["1000000000", "-1", "0", "503", "8", "1e9", "16384", "99999999999999999999", ""]
        first = f"{rng.choice(values)} {rng.choice(values)}\n".encode()
        content[: content.find(b"\n") + 1] = first
    elif kind == "flip":
        content[place] ^= 1 << int(rng.integers(8))
    elif kind == "insert":
        some = [
            b" ",
            b"\n",
            b"\0",
            b"\xff",
            b"\x1b[31m",
            b"nan ",
            b" inf ",
            b" 1e400 ",
            b"\r",
            b"9" * 200,
        ]
        content[place:place] = some[int(rng.integers(len(some)))]
    elif kind == "repeat":
        content[place:place] = bytes(content[place : place + 1000]) * 20
    elif kind == "bomb":
        content += bytes([int(rng.integers(256))]) * 100_000_000
    else:
        struct.pack_into(
            "<f", content, min(place, len(content) - 4), float(rng.choice([np.nan, np.inf]))
        )
    path.write_bytes(gzip.compress(bytes(content), 1))
    return f"{kind} at {place:,}"


def change_footer(folder: Path, rng: Random) -> str:
    """Flip bits of the footer of a Parquet file."""
    path = folder / "notes.parquet"
    if path.is_symlink() or not path.is_file():
        return "nothing"
    content = bytearray(path.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little") + 8
    places = [int(rng.integers(1, footer + 1)) for _ in range(int(rng.choice([1, 1, 2, 4])))]
    if max(places) > len(content):
        return "nothing"
    for place in places:
        content[-place] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)
    return f"{len(places)} bits of the footer"


def change_table(folder: Path, rng: Random) -> str:
    """Change the values, the types or the encoding of a table."""
    path = next(iter(folder.iterdir()), None)
    try:
        assert path is not None and not path.is_symlink()
        table = pq.read_table(path)
        assert len(table)
        index = int(rng.integers(table.num_columns))
        name, rows = table.column_names[index], table.column(index).to_pylist()
    except (AssertionError, OSError, ValueError, pa.ArrowException):
        return "nothing"
    kind = str(rng.choice(["value", "value", "type", "drop", "twice", "rows", "bomb", "order"]))
    if kind == "value":
        values: list[Any] = ["", " ", "\x1b[31m", "x" * 1_000_000, "\ufeff", "a" * 300, "1"]
        if not isinstance(rows[0], str):
            values = [-1, 0, 2**62, -(2**63), 2**63 - 1]
        rows[int(rng.integers(len(rows)))] = values[int(rng.integers(len(values)))]
        try:
            column = pa.array(rows, table.column(index).type)
        except (pa.ArrowException, OverflowError):  # of a table that was changed before
            return "nothing"
        table = table.set_column(index, name, column)
    elif kind == "type":
        others = [
            pa.string(),
            pa.binary(),
            pa.float64(),
            pa.int32(),
            pa.null(),
            pa.list_(pa.string()),
        ]
        other = others[int(rng.integers(len(others)))]
        table = table.set_column(index, name, pa.nulls(len(rows), other))
    elif kind == "drop":
        table = table.remove_column(index)
    elif kind == "twice":
        table = table.append_column(name, table.column(index))
    elif kind == "rows":
        table = (
            pa.concat_tables([table] * int(rng.choice([2, 50])))
            if rng.random() < 0.8
            else table[:0]
        )
    elif kind == "bomb" and isinstance(rows[0], str):
        table = table[:300]
        column = pa.array(["x" * 1_000_000] * len(table), table.column(index).type)
        table = table.set_column(index, name, column)
    elif kind == "order":
        table = table.take(pa.array(rng.permutation(len(table))))
    path.write_bytes(table_bytes(table))
    return f"{kind} of {name}"


#: What makes a folder, what uses it, and what changes it beside its bytes.
FILES: dict[str, tuple[Callable[[Path], None], Use, Callable[[Path, Random], str]]] = {
    "embedding": (make_embedding, use_embedding, change_embedding),
    "gazetteer": (make_gazetteer, use_gazetteer, change_table),
    "counts": (make_counts, use_counts, change_table),
    "notes": (make_notes, use_notes, change_footer),
    "text": (
        partial(make_vectors, name="vectors.txt.gz", content=vectors_text()),
        partial(use_vectors, name="vectors.txt.gz"),
        change_vectors,
    ),
    "glove": (
        partial(make_vectors, name="vectors.txt.gz", content=vectors_text(header=False)),
        partial(use_vectors, name="vectors.txt.gz"),
        change_vectors,
    ),
    "binary": (
        partial(make_vectors, name="vectors.bin.gz", content=vectors_binary()),
        partial(use_vectors, name="vectors.bin.gz"),
        change_vectors,
    ),
}


def main() -> None:
    """Make files, change them, and print what happens."""
    options = options_of(__doc__.splitlines()[0], tuple(FILES))
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as parent:
        for name in options.kinds:
            begin = time.monotonic()
            make, use, extra = FILES[name]
            make(Path(parent) / name)
            moved = use in (use_embedding, use_gazetteer, use_counts)  # others are the user's own
            change = partial(changed_files, extra=extra, moved=moved)
            counts = attack(name, Path(parent) / name, use, options, change)
            total += counts
            print(f"{name}: {dict(counts)} in {time.monotonic() - begin:.0f} seconds", flush=True)
    print(f"all: {dict(total)}")


if __name__ == "__main__":
    main()

"""Models that somebody changed on purpose: each has to be refused in one line, or to be harmless.

Small models of all kinds are trained, and changed in thousands of ways: flipped bits, other values,
data types and shapes in arrays, other values and keys in the description, files that are cut off,
replaced by links or missing. One in ten has a path, a size or a cost that harms. Digests are
computed again, as an attacker would, and so are the digests of the members of an ensemble. Each
changed model is opened and tags notes in its own process.

    python benchmarks/hostile_models.py                     # 10,000 models
    python benchmarks/hostile_models.py --models 500 --kinds crf rules
    python benchmarks/hostile_models.py --seed 7 --keep FOLDER   # keeps the models that do harm

`hostile_files.py` does the same with embeddings, vectors, gazetteers and word counts.

A model does harm if the process crashes, takes more than five seconds of a processor, needs more
than twice the memory that the model needs without changes, or raises an error that does not concern
the input.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from corpus.batch import Batch, make_batch
from corpus.errors import InputError
from corpus.storage.manifest import digest_of, digest_of_file
from corpus.synthetic import synthetic_notes
from taggers import make_tagger
from taggers.ensemble.ensemble_options import Member
from taggers.registry import find_kind, load_tagger

SECONDS = 5
#: The seconds until it must have ended, which are more where the machine is busy.
WAIT = 60
MEMORY = 2.0  # of the memory that the model needs without changes

#: The models that are changed, by name.
MODELS: dict[str, dict[str, Any]] = {
    "crf": {"kind": "crf", "names": ("census-es",), "phrases": ("places-es",)},
    "patterns": {"kind": "patterns"},
    "bilstm-crf": {"kind": "bilstm-crf", "epochs": 1, "units": 8, "min_steps": 0},
    "tccnn": {"kind": "tccnn", "epochs": 1, "min_steps": 0, "units": 8, "filters": 4},
    "spacy": {"kind": "spacy", "epochs": 1, "min_steps": 0, "width": 16, "depth": 1, "rows": 100},
    "divergence": {"kind": "divergence", "names": ("census-es",)},
    "dictionary": {"kind": "dictionary", "names": ("census-es",)},
    "lists": {"kind": "lists", "names": ("census-es",)},
    "ensemble": {"kind": "ensemble", "members": (Member("crf"), Member("crf"))},
}

#: Values that replace one of the description.
VALUES: Sequence[Any] = (
    *(None, True, -1, 0, 1, 3, 2**31, 2**63, 10**400, 1e308, float("nan"), float("inf"), -0.5),
    *("", ".", "..", "/dev/zero", "../model.json", "O", "B-", "\x1b[31m", "\ud800", "x" * 100_000),
    *("(a+)+$", "(", r"(\w+\s?)*;", [], [[]], ["O"], {}, {"": {}}, ["\n"], {"a": "(?P<x>"}),
)

#: Errors of what a change has left, which cannot be signed.
UNSIGNABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)

Random = np.random.Generator
#: Opens a folder, uses it, and returns how much it found.
Use = Callable[[Path], int]


def trained(folder: Path, settings: dict[str, Any], notes: Batch) -> Path:
    """Train a model and save it."""
    options = find_kind(settings["kind"]).options_type()(
        **{name: value for name, value in settings.items() if name != "kind"}
    )
    tagger = make_tagger(settings["kind"], options)
    tagger.fit(notes, rng=np.random.default_rng(0)).save(folder)
    return folder


def changed(good: Path, folder: Path, rng: Random) -> str:
    """Copy a model, change it, and return what was changed."""
    shutil.copytree(good, folder)
    changes = (flip_bits, flip_bits, change_array, change_array, change_description, change_file)
    names = []
    members = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    for _ in range(int(rng.integers(1, 3))):
        model = members[int(rng.integers(len(members)))]
        names.append(changes[int(rng.integers(len(changes)))](model, rng))
        sign(folder)
    if rng.random() < 0.1:
        names.append(list(ATTACKS)[int(rng.integers(len(ATTACKS)))])
        ATTACKS[names[-1]](members[int(rng.integers(len(members)))])
        sign(folder, after_attack=True)
    return ", ".join(names)


def described(
    folder: Path, change: Callable[[dict[str, Any]], object], name: str = "model.json"
) -> None:
    """Change the description of a model or an embedding, and its digest."""
    path = folder / name
    with contextlib.suppress(*UNSIGNABLE):
        description = json.loads(path.read_bytes())
        change(description)
        description["digest"] = digest_of(description)
        path.write_text(json.dumps(description))


def with_file(folder: Path, name: str, digest: str = "0" * 128) -> None:
    """Name a file in the description of a model."""
    described(folder, lambda description: description["files"].update({name: digest}))


def with_expression(expression: str) -> Callable[[Path], None]:
    """Return what gives a model a pattern."""
    patterns = {"pattern": [{"class": "A", "expression": expression}], "labels": {}}
    return lambda folder: described(folder, lambda model: model.update(patterns=patterns))


def with_link(target: str, *links: str, file: str = "") -> Callable[[Path], None]:
    """Return what adds links to a model, and a file that it names."""

    def attack(folder: Path) -> None:
        for link in links:
            (folder / link).symlink_to(target)
        if file:
            with_file(folder, file)

    return attack


def sparse(folder: Path) -> None:
    """Add a file of a terabyte that takes no room."""
    (folder / "sparse.npy").touch()
    os.truncate(folder / "sparse.npy", 2**40)
    with_file(folder, "sparse.npy")


def deep_unit(folder: Path) -> None:
    """Add a unit with too many levels."""
    (folder / "unit.json").write_bytes(b"[" * 100_000)
    with_file(folder, "unit.json", digest_of_file(folder / "unit.json"))


def slow_patterns(folder: Path) -> None:
    """Add patterns before the tagger that take minutes to compile."""
    row = {"class": "A", "expression": r"\pL{1,20}" * 20 + "[ab]{1,50}" * 10}
    rows = [{**row, "before": str(number)} for number in range(3_000)]
    (folder / "patterns.json").write_text(json.dumps({"pattern": rows, "labels": {}}))
    with_file(folder, "patterns.json", digest_of_file(folder / "patterns.json"))


def huge(folder: Path, piece: str = "[],", size: int = 14_000_000) -> None:
    """Make the description take more memory than its size."""
    (folder / "model.json").write_text(f'{{"kind": "crf", "x": [{piece * size}[]]}}')


#: What costs time or memory, or leads out of the folder, by name.
ATTACKS: dict[str, Callable[[Path], None]] = {
    "classes": with_expression("(?:" * 30 + "[ab]" * 1900 + "+)" * 30),
    "repetition": with_expression("(?:(?:(?:x{1000}){1000}){100})y"),
    "lists": huge,
    "lists within the size": partial(huge, size=5_000_000),
    "levels": partial(huge, piece="[", size=100_000),
    "process": with_link("/proc/self", "sub", file="sub/pagemap"),
    "system": with_link("/etc", "sub", file="sub/passwd"),
    "loops": with_link(".", "a", "b"),
    "pipe": lambda folder: os.mkfifo(folder / "pipe.npy"),
    "sparse": sparse,
    "unit": deep_unit,
    "slow patterns": slow_patterns,
}


def sign(folder: Path, *, after_attack: bool = False) -> None:
    """Compute the digests of a changed model or embedding, and first those of its members.

    After an attack, only the digests of the members are computed.
    """
    members = sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    for member in members:
        if not after_attack:
            sign(member)
    if after_attack:
        described(folder, partial(_sign_members, members))
    for path in sorted(folder.glob("*.json")):
        if path.is_file() and not (path.is_symlink() or after_attack):  # to an endless file
            _sign(folder, path)


def _sign_members(members: Sequence[Path], description: dict[str, Any]) -> None:
    for path in (member / "model.json" for member in members):
        if path.is_file() and path.stat().st_size < 1 << 20:
            description["files"][f"{path.parent.name}/{path.name}"] = digest_of_file(path)


def _sign(folder: Path, path: Path) -> None:
    try:
        description = json.loads(path.read_bytes())
        for name in description["files"]:
            content = (folder / name).read_bytes() if (folder / name).is_file() else b""
            description["files"][name] = hashlib.blake2b(content).hexdigest()
        description["digest"] = digest_of(description)
        path.write_text(json.dumps(description))
    except UNSIGNABLE:
        return


def some_file(folder: Path, rng: Random, suffix: str = "") -> Path:
    """Choose a file of a model; an endless one that a link leads to is not read here."""
    files = sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.name.endswith(suffix) and not path.is_symlink()
    )
    return files[int(rng.integers(len(files)))] if files else folder / "model.json"


def flip_bits(folder: Path, rng: Random) -> str:
    """Flip bits of a file."""
    path = some_file(folder, rng)
    if path.is_symlink() or not path.exists():
        return "nothing"
    content = np.frombuffer(path.read_bytes(), np.uint8).copy()
    number = int(rng.choice([1, 1, 4, 100]))
    places = rng.integers(len(content), size=number) if len(content) else np.zeros(0, np.int64)
    content[places] ^= (1 << rng.integers(8, size=len(places))).astype(np.uint8)
    path.write_bytes(content.tobytes())
    return f"{number} bits of {path.name}"


def change_array(folder: Path, rng: Random) -> str:
    """Change the values, the data type or the shape of an array."""
    path = some_file(folder, rng, ".npy")
    if path.is_symlink() or not path.exists():
        return "nothing"
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, SyntaxError):
        return f"nothing of {path.name}"
    kind = str(rng.choice(["value", "value", "type", "shape", "order", "size", "constant"]))
    if kind == "value" and array.size:
        limits = [0, -1, 1, 2**15, 2**31 - 1, -(2**31), 2**62, -(2**62), np.nan, np.inf, 1e300]
        array = array.copy()
        flat = array.reshape(-1)
        with np.errstate(all="ignore"):
            value = np.array(limits[int(rng.integers(len(limits)))], np.float64)
            flat[rng.integers(array.size, size=int(rng.choice([1, 10])))] = value.astype(
                array.dtype
            )
    elif kind == "type":
        other = str(
            rng.choice(["int64", "int32", "int16", "float64", "float32", "uint8", ">i4", "S3"])
        )
        with np.errstate(all="ignore"):
            array = array.astype(other)
    elif kind == "shape":
        array = array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1)
    elif kind == "order":
        array = array[::-1]
    elif kind == "size":
        array = array[: int(rng.integers(len(array) + 1))] if array.ndim else array
    elif kind == "constant" and array.size:
        array = np.full_like(array, array.reshape(-1)[0])
    stream = io.BytesIO()
    np.save(stream, array)
    path.write_bytes(stream.getvalue())
    return f"{kind} of {path.name}"


def change_description(folder: Path, rng: Random) -> str:
    """Change a value or a key of the description, at any depth."""
    path = some_file(folder, rng, ".json")
    if path.is_symlink():
        return f"nothing of {path.name}"
    try:
        description = json.loads(path.read_bytes())
    except (ValueError, OSError, RecursionError):
        return f"nothing of {path.name}"
    places = list(_places(description))
    if not places:
        return f"nothing of {path.name}"
    holder, key = places[int(rng.integers(len(places)))]
    kind = str(rng.choice(["value", "value", "remove", "copy", "deep"]))
    if kind == "value":
        holder[key] = VALUES[int(rng.integers(len(VALUES)))]
    elif kind == "remove":
        del holder[key]
    elif kind == "copy":
        other, name = places[int(rng.integers(len(places)))]
        holder[key] = json.loads(json.dumps(other.get(name) if isinstance(other, dict) else other))
    text = json.dumps(description)
    if kind == "deep":
        text = text.replace("{", "[" * int(rng.choice([3, 100_000])), 1)
    path.write_text(text)
    return f"{kind} of {key} in {path.name}"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every object or list, with each of its keys or indices."""
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in keys[:50]:
            yield value, key
            yield from _places(value[key])


def change_file(folder: Path, rng: Random) -> str:
    """Cut off, empty, remove or exchange a file, or replace it by a link."""
    path = some_file(folder, rng)
    if path.is_symlink() or not path.exists():
        return "nothing"
    content = path.read_bytes()
    kind = str(rng.choice(["cut", "empty", "remove", "exchange", "link", "long"]))
    if kind == "cut":
        path.write_bytes(content[: int(rng.integers(len(content) + 1))])
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "remove":
        path.unlink()
    elif kind == "exchange":
        path.write_bytes(some_file(folder, rng).read_bytes())
    elif kind == "link":
        path.unlink()
        path.symlink_to("/dev/zero")
    elif kind == "long":
        path.write_bytes(content + bytes(1000))
    return f"{kind} {path.name}"


def tagged(folder: Path, notes: Batch) -> int:
    """Open a model, tag notes, and return the number of tokens in entities."""
    tagging = load_tagger(folder).tag(notes, measure="min_marginal")
    if not np.isfinite(tagging.confidence).all():
        raise ValueError("confidence is not finite")
    return int((tagging.tags > 0).sum())


def opened(folder: Path, use: Use, sender: Connection) -> None:
    """Use a model in a separate process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    before = memory_of("VmRSS")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        outcome: tuple[str, Any] = ("used", use(folder))
    except InputError as error:
        text = str(error)
        plain = text.isprintable() and len(text) < 1000
        outcome = ("refused", text) if plain else ("harm", f"unclear: {text[:200]!r}")
    except BaseException as error:
        outcome = ("harm", f"{type(error).__name__}: {str(error)[:200]}")
    sender.send((*outcome, memory_of("VmHWM") - before))


def memory_of(kind: str) -> float:
    """Return the memory of this process in MiB: what it has (VmRSS), or had at most (VmHWM)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(f"{kind}:")[2].split()[0]) / 1024


def outcome_of(folder: Path, use: Use) -> tuple[str, Any, float]:
    """Return what happens to a model, and the memory that it took, in MiB."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=opened, args=(folder, use, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(WAIT):
            return "harm", f"no answer in {WAIT} seconds", 0.0
        found: tuple[str, Any, float] = receiver.recv()
        return found
    except EOFError:
        process.join()
        if process.exitcode == -signal.SIGXCPU:
            return "harm", f"more than {SECONDS} seconds", 0.0
        return "harm", f"the process ended with {process.exitcode}", 0.0
    finally:
        process.kill()
        process.join()


def attack(
    name: str,
    good: Path,
    use: Use,
    options: argparse.Namespace,
    change: Callable[[Path, Path, Random], str] = changed,
) -> Counter[str]:
    """Change a model many times, and count what happens.

    Parameters
    ----------
    name : str
        The name of the model.
    good : Path
        Its folder.
    use : callable
        Opens a folder, uses it, and returns how much it found.
    options : argparse.Namespace
        The options of the command line.
    change : callable
        Copies a folder, changes the copy, and returns what was changed.
    """
    use(good)  # compiles, once for all processes
    base = memory_of("VmRSS")
    what, found_before, memory = outcome_of(good, use)
    assert what == "used", (name, what, found_before)
    counts: Counter[str] = Counter()
    for number in range(options.models // len(options.kinds)):
        rng = np.random.default_rng([options.seed, number])
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent) / "model"
            changes = change(good, folder, rng)
            found, detail, used = outcome_of(folder, use)
            if found == "used" and found_before and not detail:
                found, detail = "finds nothing", changes
            if base + used > MEMORY * (base + memory):
                found, detail = "harm", f"{base + used:,.0f} MiB, not {base + memory:,.0f}"
            counts[found] += 1
            if found in ("harm", "finds nothing"):
                print(f"{name} {number}: {found}: {changes}: {detail}", flush=True)
                if options.keep:
                    shutil.copytree(folder, options.keep / f"{name}-{number}", symlinks=True)
    return counts


def options_of(description: str, kinds: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--kinds", nargs="+", choices=tuple(kinds), default=tuple(kinds))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the models that do harm")
    return parser.parse_args()


def main() -> None:
    """Train models, change them, and print what happens."""
    options = options_of(__doc__.splitlines()[0], tuple(MODELS))
    train = make_batch(list(synthetic_notes(400, part="seed")), labelled=True)
    notes = make_batch(list(synthetic_notes(40, random_state=1, part="seed")), labelled=False)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as parent:
        for name in options.kinds:
            begin = time.monotonic()
            good = trained(Path(parent) / name, MODELS[name], train)
            counts = attack(name, good, partial(tagged, notes=notes), options)
            total += counts
            print(f"{name}: {dict(counts)} in {time.monotonic() - begin:.0f} seconds", flush=True)
    print(f"all: {dict(total)}")


if __name__ == "__main__":
    main()

"""Sources of documents: a file, a folder or a pattern, its format, and its columns' names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple, dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Literal, TypeAlias

from corpus.arguments import encodable, require_text
from corpus.errors import InputError
from corpus.formats.files import CODECS, LONGEST_FILE, STANDARD, is_standard, open_binary, reason_of
from corpus.formats.records import NOT_READABLE, TOO_LONG, Unreadable, not_encoded
from corpus.formats.table import FORMATS

_KNOWN = frozenset(suffix for format in FORMATS.values() for suffix in format.suffixes)
_EXPECTED = "; ".join(f"{name}: {' '.join(format.suffixes)}" for name, format in FORMATS.items())

#: Suffixes that may be followed by the suffix of a compressed file.
_COMPRESSIBLE = frozenset(
    suffix for format in FORMATS.values() if format.is_text for suffix in format.suffixes
)

#: The column or key of the confidence of a tagger in each document.
CONFIDENCE = "confidence"

#: The column or key of its confidence in each span, in the order of the annotations.
SPAN_CONFIDENCES = "span_confidences"


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns (Parquet, CSV) or keys (JSONL) that hold the parts of a document.

    Parameters
    ----------
    id : str
        The column of ids. If a source has no such column, and the name is the default, ids are the
        file and the line or row.
    text : str
        The column of the text, which is required. In CSV files without a header, columns are
        numbers from 1. In CoNLL files, it is the column of the tokens, as a number from 0 (or from
        -1, the last) or a name that the file declares; the first by default.
    label : str
        The column of the annotations, if any. In CoNLL files, the column of the
        tags; the last by default.
    group : str
        The column of the patient, if known.

    Raises
    ------
    TypeError, InputError
        If a name is no string or has half a surrogate pair, or two of them have the same name.
    """

    id: str = "id"
    text: str = "text"
    label: str = "label"
    group: str = "group"

    def __post_init__(self) -> None:
        for part, name in asdict(self).items():
            require_text(part, name)
            if name.startswith("\ufeff"):  # which is not kept where it begins a file
                raise InputError(f"{part}: a byte-order mark cannot begin a name; remove it")
        if len(set(astuple(self))) < 4:
            raise InputError(
                f"columns id = {self.id!r}, text = {self.text!r}, label = {self.label!r}, "
                f"group = {self.group!r}: each needs a name of its own"
            )

    def is_default(self, part: str) -> bool:
        """Return whether the column of a part has its default name."""
        return bool(getattr(self, part) == part)


#: How the other columns of a source are read.
Carry: TypeAlias = Literal["nothing", "columns", "records"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of a reader.

    Parameters
    ----------
    columns : Columns
        Names of columns or keys.
    carry : {"nothing", "columns", "records"}
        Whether to read the other columns of the source as well, and how those of JSON lines: as a
        column for each key, or as a JSON object for each line.
    encoding : str, optional
        The encoding of text files. That of CSV is detected by default, and others are UTF-8.
    delimiter : str, optional
        The character between the columns of CSV, which is detected by default.
    """

    columns: Columns
    carry: Carry = "nothing"
    encoding: str | None = None
    delimiter: str | None = None

    @property
    def text_encoding(self) -> str:
        """The encoding of text files other than CSV."""
        return self.encoding or "utf-8"


@dataclass(frozen=True, slots=True)
class Source:
    """The files that a source consists of.

    Parameters
    ----------
    name : str
        The source as the user named it.
    root : Path
        The folder that ids are relative to.
    files : tuple of Path
        Its files, sorted. Not empty.
    is_folder : bool
        Whether the user named a folder, rather than files (by name or pattern).
    """

    name: str
    root: Path
    files: tuple[Path, ...]
    is_folder: bool


def can_be_read_twice(source: Source) -> bool:
    """Return whether all files of a source are regular ones, rather than pipes."""
    return all(path.is_file() for path in source.files)


def locate(source: str | Path | Source) -> Source:
    """Find the files of a source: a file, a folder or a pattern; ``-`` is standard input.

    A source whose files have been found is returned as it is.

    Raises
    ------
    InputError
        If the source does not exist.
    """
    if isinstance(source, Source):
        return source
    path, name = Path(source), str(source)
    if is_standard(path):
        return Source("standard input", Path(), (STANDARD,), is_folder=False)
    if os.path.isdir(path):  # noqa: PTH112 - a pattern may be too long for a file name
        below = list(files_below(path))
        known = sorted(file for file in below if suffix_of(file) in _KNOWN)
        if not known:
            raise InputError(f"{name} holds {_summary(below)}: expected {_EXPECTED}")
        return Source(name, path, tuple(known), is_folder=True)
    if os.path.exists(path):  # noqa: PTH110 - the same
        return Source(name, path.parent, (path,), is_folder=False)
    files = sorted(set(_matching(str(source))))
    if not files:
        is_pattern = has_magic(str(source))
        fault = "no file matches this pattern" if is_pattern else "there is no such file or folder"
        raise InputError(f"{name}: {fault}")
    root = Path(os.path.commonpath([file.parent for file in files]))
    return Source(name, root, tuple(files), is_folder=False)


def _matching(pattern: str) -> Iterator[Path]:
    for match in glob(pattern, recursive=True):  # noqa: PTH207 - Path.glob takes no absolute one
        path = Path(match)
        if path.is_dir():
            yield from (file for file in files_below(path) if suffix_of(file) in _KNOWN)
        else:
            yield path


def files_below(folder: Path, above: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield the files below a folder; links are followed, hidden files and folders skipped."""
    real = os.path.realpath(folder)
    if real in above:  # a link to a parent folder
        return
    try:
        with os.scandir(folder) as scanned:
            entries = list(scanned)
    except OSError as error:
        raise InputError(f"{folder} cannot be listed: {error.strerror}") from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from files_below(folder / entry.name, (*above, real))
        elif entry.is_file() or entry.is_symlink():  # a broken link is reported when it is opened
            yield folder / entry.name


def suffix_of(path: Path) -> str:
    """Return the suffix of a file that determines its format, in lower case.

    The suffix of ``notes.jsonl.gz`` is ``.jsonl``.
    """
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    return inner if suffix in CODECS and inner in _COMPRESSIBLE else suffix


def _summary(files: Iterable[Path]) -> str:
    counts = Counter(suffix_of(file) or "without a suffix" for file in files)
    listed = [f"{count} {suffix}" for suffix, count in counts.most_common(5)]
    if len(counts) > len(listed):
        listed.append("others")
    return ", ".join(listed) or "no files"


def format_of(source: Source) -> str:
    """Detect the format of a source by the suffixes of its files; standard input is JSONL.

    Raises
    ------
    InputError
        If they belong to several formats, or to none.
    """
    if is_standard(source.files[0]):
        return "jsonl"
    suffixes = {suffix_of(file) for file in source.files}
    fitting = [format for format in FORMATS.values() if suffixes.issubset(format.suffixes)]
    if fitting:  # only .txt means text, although brat has .txt files too
        return min(fitting, key=lambda format: len(format.suffixes)).name
    raise InputError(
        f"{source.name} holds {_summary(source.files)}: expected files of one format "
        f"({_EXPECTED}); name the format, or name the files by a pattern"
    )


def format_for(target: Path) -> str:
    """Return the format of a target by its suffix; a target without suffix is a brat folder.

    Raises
    ------
    InputError
        If no format that is written as one file has this suffix.
    """
    if is_standard(target):
        return "jsonl"
    suffix = suffix_of(target)
    for name, format in FORMATS.items():
        if suffix in format.suffixes and not format.is_folder:
            return name
    if not suffix:
        return "brat"
    raise InputError(
        f"{target}: the suffix {suffix} names no format to write ({_EXPECTED}; "
        f"brat and text are written as a folder); name the format"
    )


def files_of(source: Source, format: str) -> list[Path]:
    """Return the files of a source that are of a format, sorted.

    Files that the user named are also returned if their suffix belongs to no format.

    Raises
    ------
    InputError
        If a folder has no file of this format.
    """
    suffixes = FORMATS[format].suffixes
    others = _KNOWN.difference(suffixes)
    files = [file for file in source.files if suffix_of(file) not in others]
    if source.is_folder and not files:
        expected = " or ".join(suffixes)
        raise InputError(f"{source.name} holds {_summary(source.files)}: expected {expected}")
    return files or list(source.files)


def stem_of(file: Path) -> Path:
    """Return the path of a file without the suffix of its format and of its compression."""
    compressed = file.suffix.lower() != suffix_of(file)
    return (file.with_suffix("") if compressed else file).with_suffix("")


def id_of(file: Path, root: Path) -> str:
    """Return the id of the document in a file: its path below `root`, without suffix.

    Raises
    ------
    Unreadable
        If the file name is not UTF-8.
    """
    name = stem_of(file).relative_to(root).as_posix()
    if not encodable(name):
        raise Unreadable("file names that are not UTF-8", "rename the file")
    return name


def name_within(file: Path, root: Path) -> str:
    """Return the name of a file for the ids of documents without id: its path below `root`.

    It includes the suffix, so that it is unique.
    """
    if is_standard(file):
        return "stdin"
    return file.relative_to(root).as_posix().encode(errors="replace").decode()


def text_of(file: Path, encoding: str = "utf-8") -> str:
    """Read a text file without changes: byte-order mark and line ends are kept.

    Raises
    ------
    Unreadable
        If it cannot be opened, has more than `LONGEST_FILE` bytes, or is not in this encoding.
    """
    try:
        with open_binary(file) as content:
            data = content.read(LONGEST_FILE + 1)
    except OSError as error:
        raise Unreadable(NOT_READABLE, reason_of(error)) from error
    if len(data) > LONGEST_FILE:
        raise Unreadable(TOO_LONG, f"the file has more than {LONGEST_FILE:,} bytes, the limit")
    try:
        return data.decode(encoding)
    except UnicodeError as error:  # some codecs do not name the byte
        place = getattr(error, "start", 0)
    raise not_encoded(encoding, f"byte {place}")

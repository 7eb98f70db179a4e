"""Model folders: the files of a model and a description in JSON, all verified by digests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy.typing as npt

from corpus.errors import InputError, UnreadableError, unreadable
from corpus.storage.arrays import Expected, read_array
from corpus.storage.atomic import write_atomically
from corpus.storage.fields import LARGEST_JSON, Fields, check_size
from corpus.storage.manifest import (
    Manifest,
    digest_of_content,
    digests_of_files,
    manifest_bytes,
)
from corpus.storage.manifest import read_fields as read_object
from corpus.storage.opening import MODEL, check_folder
from corpus.tags import bio_labels, classes_of
from taggers.base import Training

if TYPE_CHECKING:
    from corpus.kernels.hashing import Hashes

#: The file of the description.
DESCRIPTION = "model.json"

#: The most labels of a model. Its transitions take their square in memory.
MOST_LABELS = 2_001


def read_fields(folder: Path) -> Fields:
    """Read the description of a model, without verifying it, when its folder has been checked.

    Raises
    ------
    InputError
        If the folder holds no model, or exceeds its budget.
    """
    path = folder / DESCRIPTION
    what = f"{folder} is not the folder of a model"
    try:
        if not path.is_file():
            raise InputError(f"it has no {DESCRIPTION}")
        check_folder(folder, MODEL)
        fields = read_object(path)
        fields.value("kind")
    except UnreadableError:
        raise
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    except OSError as error:
        raise unreadable(folder, error) or InputError(f"{what}: {error.strerror}") from None
    return fields


def _read_manifest(folder: Path) -> Manifest:
    return Manifest(folder / DESCRIPTION, read_fields(folder))


def write_model(
    folder: Path,
    description: Mapping[str, Any],
    files: Mapping[str, bytes],
    *,
    members: Iterable[str] = (),
    model_format: int = 1,
) -> None:
    """Write a model into a folder, which is created if it does not exist.

    Parameters
    ----------
    folder : Path
        The folder of the model.
    description : mapping of str to Any
        The description of the model, serialisable as JSON. Its ``kind`` is the kind of the tagger.
    files : mapping of str to bytes
        The contents of the other files, by name.
    members : iterable of str
        Folders in it with models that belong to the model. They have been written.
    model_format : int
        The version of the folder, which a kind raises when it changes what it writes.

    Raises
    ------
    InputError
        If the description is larger than what is read, such as one with millions of phrases.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Files are replaced atomically, since a loaded model may still map the previous ones.
    for name, content in files.items():
        write_atomically(folder / name, content)
    digests = {name: digest_of_content(content) for name, content in files.items()}
    digests |= digests_of_files(folder, [f"{name}/{DESCRIPTION}" for name in members])
    content = manifest_bytes({**description, "format": model_format}, digests)
    check_size(len(content), LARGEST_JSON, f"the {DESCRIPTION} of {folder}, with its phrases,")
    write_atomically(folder / DESCRIPTION, content)


def add_to_model(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write more files into the folder of a model, as files of the model.

    A process that is killed in between leaves a model that is refused when it is read, so that the
    folder must not have its final name yet.

    Parameters
    ----------
    folder : Path
        The folder of a model.
    files : mapping of str to bytes
        The contents of the files, by name. Files of the same names are replaced.

    Raises
    ------
    InputError
        If the folder holds no model.
    """
    manifest = _read_manifest(folder)
    for name, content in files.items():
        write_atomically(folder / name, content)
    digests = {name: digest_of_content(content) for name, content in files.items()}
    before = manifest.fields.text_by_key("files")
    content = manifest_bytes(manifest.fields.values, before | digests)
    write_atomically(folder / DESCRIPTION, content)


def read_file_of_model(folder: Path, name: str) -> bytes | None:
    """Read a file of a model that `add_to_model` wrote; None if it has none.

    Raises
    ------
    InputError
        If the folder holds no model, or the file is not what was saved.
    """
    manifest = _read_manifest(folder)
    if name in manifest.names:
        return manifest.content(name)
    if (folder / name).exists():
        raise InputError(
            f"{folder / name} is not one of the files that {DESCRIPTION} names: it was added since "
            "the model was saved; remove it"
        )
    return None


class ModelFiles:
    """The files of a model: only those that its description lists, each as it was saved.

    The digests show that no file has changed since it was written. They do not show who wrote it,
    so that whatever is read is checked, too.

    Parameters
    ----------
    folder : Path
        The folder of the model.
    kind : str
        The expected kind.
    model_format : int
        The expected version.

    Attributes
    ----------
    fields : Fields
        The description as it was passed to `write_model`, with the additional keys ``format``,
        ``files`` and ``digest``.

    Raises
    ------
    InputError
        If the model has another kind or version, or one of its files was modified.
    """

    def __init__(self, folder: Path, kind: str, *, model_format: int = 1) -> None:
        self._folder = folder
        self.fields = read_fields(folder)
        if self.fields.text("kind") != kind:
            raise InputError(f'{folder} holds a model of another kind; expected "{kind}"')
        if "format" not in self.fields:
            raise InputError(
                f'{folder} is not the folder of a model: {DESCRIPTION} lacks the key "format"'
            )
        if self.fields.value("format") != model_format:
            raise InputError(
                f"{folder} holds a model of another format; this version reads format "
                f"{model_format}: train it again"
            )
        self.fields.fields("files")  # without it, a manifest only protects itself
        self._manifest = Manifest(folder / DESCRIPTION, self.fields)
        self._manifest.verify()

    def member(self, name: str) -> Path:
        """Return the folder of a model that belongs to this one.

        Raises
        ------
        InputError
            If the model has no such member.
        """
        return self._manifest.path(f"{name}/{DESCRIPTION}").parent

    def array(self, name: str, expected: Expected, *, mapped: bool = False) -> npt.NDArray[Any]:
        """Read an array of `corpus.storage.arrays.array_files`, and check it.

        Parameters
        ----------
        name : str
            The name of the array, without the suffix of its file.
        expected : Expected
            The requirements on the array.
        mapped : bool
            Whether the file is mapped into memory.

        Raises
        ------
        InputError
            If the model lacks the array, or it is not what is expected.
        """
        return read_array(self._manifest.path(f"{name}.npy"), expected, mapped=mapped)

    def hashes(self, name: str, number: int | None = None, *, mapped: bool = False) -> Hashes:
        """Read an array of hashes, of a number if it is known, and check it.

        Raises
        ------
        InputError
            If the model lacks the array, or it is not what is expected.
        """
        from corpus.kernels.hash_index import (  # noqa: PLC0415 - numba is slow to import
            is_crowded,
        )

        hashes = self.array(name, Expected("uint64", (number,)), mapped=mapped)
        if is_crowded(hashes):
            raise InputError(
                f"{self._folder / name}.npy has values that are no hashes of words: too "
                "many end alike"
            )
        return hashes

    def labels(self) -> tuple[str, ...]:
        """Return the labels of the model: ``O``, and ``B-`` and ``I-`` of each class."""
        labels = self.fields.distinct_texts("labels")
        if len(labels) > MOST_LABELS or set(labels) != set(bio_labels(classes_of(labels))):
            raise self.fields.error(
                "labels", f"O, and B-CLASS and I-CLASS of each class, at most {MOST_LABELS:,}"
            )
        return labels

    def engine_labels(self) -> tuple[str, ...]:
        """Return the labels that training has seen, a subset of the labels of the model."""
        labels = self.fields.distinct_texts("engine_labels")
        if not labels or not set(labels) <= set(self.labels()):
            raise self.fields.error("engine_labels", "some of those in labels")
        return labels

    def training(self) -> Training | None:
        """Return the result of training; None if the model has none."""
        try:
            return msgspec.convert(self.fields.value("training"), Training | None)
        except msgspec.ValidationError:
            raise self.fields.error("training", "the result of training") from None


def verify_model(folder: Path) -> int:
    """Compare the files of a model, and of its members, with their digests.

    Returns
    -------
    int
        The number of files.

    Raises
    ------
    InputError
        If one of them is missing, or has changed since it was written.
    """
    manifest = _read_manifest(folder)
    manifest.verify()
    members = [folder / name for name in manifest.names if Path(name).name == DESCRIPTION]
    return 1 + len(manifest.names) + sum(verify_model(path.parent) - 1 for path in members)


@contextlib.contextmanager
def errors_of_model(folder: Path, kind: str) -> Iterator[None]:
    """Convert errors that a damaged or hostile model causes to an `InputError`."""
    try:
        yield
    except (
        OSError,
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:  # whose message may quote the model
        raise unreadable(folder, error) or InputError(
            f'{folder} is not the folder of a model of kind "{kind}"'
        ) from error


def read_description(folder: Path, kind: str, *, model_format: int = 1) -> dict[str, Any]:
    """Read the description of a model, and verify the digests of its files.

    A tagger of another package checks what it reads from them by itself; see `ModelFiles`, which
    the taggers of this package use.

    Parameters
    ----------
    folder : Path
        A folder that `write_model` wrote.
    kind : str
        The expected kind.
    model_format : int
        The expected version.

    Returns
    -------
    dict of str to Any
        The description as it was passed to `write_model`, with the additional keys ``format``,
        ``files`` and ``digest``.

    Raises
    ------
    InputError
        If the model has another kind or version, or one of its files was modified.
    """
    return dict(ModelFiles(folder, kind, model_format=model_format).fields.values)


def read_digest(folder: Path) -> str:
    """Read the digest of a model, which identifies the content of its folder.

    Raises
    ------
    InputError
        If the folder holds no model.
    """
    return read_fields(folder).text("digest")

"""The attributes of tokens in the format of CRFsuite, such as ``-1:lower=dr``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from corpus.batch import Batch
from taggers.crf.channels import Channel, Channels
from taggers.features import BEGIN, END, Words
from taggers.templates import Templates

_CACHED_WORDS = 15_000  # words whose attributes are cached; most tokens are frequent words


class WindowAttributes:
    """The attributes of tokens in the format of CRFsuite: features and streams in their window.

    Parameters
    ----------
    templates : Templates
        The features and streams to use.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._features = [(each, templates.feature(each.name)) for each in templates.features]
        self._channels = Channels(templates)

    def of_documents(self, batch: Batch) -> Iterator[list[list[bytes]]]:
        """Yield the attributes of each token, document by document.

        Parameters
        ----------
        batch : Batch
            Documents with all streams of the templates.

        Yields
        ------
        list of list of bytes
            The attributes of each token, such as ``b"-1:lower=dr"``, or ``b"1:EOS"`` for a position
            after the end of the document.
        """
        words = Words(batch.vocabulary)
        columns = [compute(words) for _, compute in self._features]
        channels = [_ChannelAttributes(channel) for channel in self._channels.of(batch)]
        rows: dict[int, list[list[bytes]]] = {}
        bounds = batch.document_offsets.tolist()
        for start, stop in itertools.pairwise(bounds):
            document = []
            for word in batch.word_ids[start:stop].tolist():
                if word not in rows:
                    rows[word] = self._at_offsets([column[word] for column in columns])
                document.append(rows[word])
            attributes = self._of_document(document)
            for channel in channels:
                channel.add(start, attributes)
            yield attributes
            if len(rows) > _CACHED_WORDS:
                rows.clear()

    def _at_offsets(self, values: Sequence[str]) -> list[list[bytes]]:
        window = self._templates.window
        found: list[list[bytes]] = [[] for _ in range(2 * window + 1)]
        for (template, _), value in zip(self._features, values, strict=True):
            if not value:  # the feature has no value for this word
                continue
            for offset in template.offsets:
                found[offset + window].append(_encoded(offset, template.name, value))
        return found

    def _of_document(self, rows: Sequence[list[list[bytes]]]) -> list[list[bytes]]:
        last = len(rows) - 1
        window = self._templates.window
        attributes = []
        for place in range(len(rows)):
            found: list[bytes] = []
            for offset in range(-window, window + 1):
                if 0 <= place + offset <= last:
                    found += rows[place + offset][offset + window]
                else:
                    border = BEGIN if offset < 0 else END
                    found.append(f"{offset}:{border}".encode())
            attributes.append(found)
        return attributes


class _ChannelAttributes:
    """The attributes of a channel, encoded once for each value and offset."""

    def __init__(self, channel: Channel) -> None:
        self._values = channel.stream.values
        self._at = {
            offset: [_encoded(offset, channel.name, value) for value in channel.stream.vocabulary]
            for offset in channel.offsets
        }

    def add(self, start: int, attributes: list[list[bytes]]) -> None:
        """Add to the attributes of a document whose first token is `start`."""
        values = self._values[start : start + len(attributes)].tolist()
        for place, found in enumerate(attributes):
            for offset, encoded in self._at.items():
                other = place + offset
                if 0 <= other < len(values) and values[other] >= 0:
                    found.append(encoded[values[other]])


def _encoded(offset: int, name: str, value: str) -> bytes:
    return f"{offset}:{name}={value}".encode("utf-8", "surrogatepass")

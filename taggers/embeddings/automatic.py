"""Settings of the embeddings and clusters that a run trains by itself, by the size of its text.

They were chosen on the training documents of MEDDOCAN (docs/explanation/word-embeddings.md).
"""

from __future__ import annotations

import math
from itertools import product

from taggers.embeddings.training import TrainingOptions

#: The value of an option in place of a folder of embeddings.
AUTO = "auto"

#: The normalisation of words, the windows of the embeddings and the numbers of their clusters.
NORMALISATION, WINDOWS, KS = "digits", (1, 5), (16, 64, 256, 1024)

#: The names of all clusterings; a small vocabulary has only those with the fewest clusters.
CLUSTERINGS = tuple(f"{NORMALISATION}-w{window}-k{k}" for window, k in product(WINDOWS, KS))

#: The number of characters of a large pool on which vectors are trained: 20 million tokens or so.
MAX_CHARACTERS = 110_000_000

#: With fewer words, nothing is trained.
MIN_WORDS = 1000

_WORDS_PER_CLUSTER = 5  # at least, on average
_LARGE = 1_000_000  # tokens of a corpus that is not small
_TOKENS, _MIN_EPOCHS, _MAX_EPOCHS = 3_200_000, 3, 30


def min_count_for(tokens: int) -> int:
    """Return the minimum count of a word: 2 up to 1 million tokens, 5 from 10 million on."""
    return 2 + round(3 * min(max(math.log10(max(tokens, 1) / _LARGE), 0.0), 1.0))


def training_options(tokens: int, window: int, random_state: int) -> TrainingOptions:
    """Return the options of training for a number of tokens.

    The time is bounded: the more tokens, the fewer epochs.
    """
    epochs = math.ceil(_TOKENS / max(tokens, 1))
    return TrainingOptions(
        dimension=100 if tokens > _LARGE else 50,
        window=window,
        epochs=min(max(epochs, _MIN_EPOCHS), _MAX_EPOCHS),
        min_count=min_count_for(tokens),
        random_state=random_state,
    )


def ks_for(words: int) -> list[int]:
    """Return the numbers of clusters for a number of words; none for fewer than `MIN_WORDS`."""
    most = words // _WORDS_PER_CLUSTER if words >= MIN_WORDS else 0
    return [k for k in KS if k <= most]

"""The conditional random field, on two engines: one of our own, by word type, and CRFsuite."""

from __future__ import annotations

from taggers.crf.crf_options import CRFOptions
from taggers.crf.tagger import CRFTagger

__all__ = ["CRFOptions", "CRFTagger"]

"""Conditional random fields: features and scores are computed once per word type."""

from __future__ import annotations

from taggers.crf.crf_options import CRFOptions
from taggers.crf.crf_tagger import CRFTagger

__all__ = ["CRFOptions", "CRFTagger"]

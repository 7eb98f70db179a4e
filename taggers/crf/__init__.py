"""Conditional random fields, with two engines: the compiled word-type engine, and CRFsuite."""

from __future__ import annotations

from taggers.crf.crf_options import CRFOptions
from taggers.crf.tagger import CRFTagger

__all__ = ["CRFOptions", "CRFTagger"]

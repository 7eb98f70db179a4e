"""The names of the figures of a report, which ``bootstrap plot --what`` draws."""

from __future__ import annotations

#: The figures by name: what they show. Some exist for one run only, others for several only.
FIGURES = {
    "scores": "precision, recall and F1 on validation",
    "classes": "F1 of each class",
    "class-curves": "F1 of each class in each iteration (one run)",
    "variants": "F1 of each variant (an experiment)",
    "differences": "difference of F1 to the first run (several runs, or an experiment)",
    "errors": "errors of each class, or of each run, by kind",
    "error-kinds": "errors of each iteration by kind (one run)",
    "confusion": "gold against predicted classes (one run)",
    "selected": "documents selected and annotated in each iteration (one run)",
    "proportions": "classes of the selected documents beside the reference (one run)",
    "confidence": "confidence of the tagged documents (one run)",
    "calibration": "confidence against documents without an error (one run)",
    "agreement": "agreement with the previous iteration (one run)",
    "seconds": "seconds of each stage",
    "test": "F1 of each class on the test documents, or of each run (with --test)",
}

#: The horizontal axes of scores: the attribute of the metrics, and its title.
AXES = {
    "iteration": ("iteration", "iteration"),
    "documents": ("human_documents", "documents that people annotated"),
    "tokens": ("human_tokens", "tokens that people annotated"),
}

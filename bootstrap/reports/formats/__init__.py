"""What becomes of a report or a run: a page, drawings, and records of other programs."""

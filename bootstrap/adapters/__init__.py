"""Models as parts of other programs: a component of spaCy, and a recognizer of Presidio."""

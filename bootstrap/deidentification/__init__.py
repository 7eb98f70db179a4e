"""De-identification: what is found in notes, what replaces it, and the check of the output."""

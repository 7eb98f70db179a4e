"""Import of frequency dictionaries from CSV and TSV files."""

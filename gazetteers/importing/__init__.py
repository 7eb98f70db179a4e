"""Reading of CSV and TSV files, and import of gazetteers from them."""

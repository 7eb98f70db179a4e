"""Formats that are columns: Parquet, CSV and TSV."""

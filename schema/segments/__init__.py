"""Segments: rows encoded by a declared schema in one Parquet file, recognised again, and merged."""

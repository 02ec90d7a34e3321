"""Typed functions that read the schema's views: a DuckDB connection in, an Arrow table out. No metric is defined here.

What may stand here: choosing rows and columns, ordering, limiting, and thinning rows for drawing (a bucket is a sum
over rows that a view gives). What a number means is decided in ``schema/views/``. Streamlit is known to
``cached.py`` alone.
"""

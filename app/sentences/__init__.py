"""Pure functions from Arrow tables to sentences: what a page or report says in words. No Streamlit, no DuckDB."""

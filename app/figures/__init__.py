"""Pure functions from Arrow tables to Plotly figures. One figure a file; neither Streamlit nor DuckDB."""

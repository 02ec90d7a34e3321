"""Numbers, tables and figures as a page shows them, with their downloads."""

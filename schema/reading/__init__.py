"""Opens runs for SQL queries: a connection with every table and view, windows of long runs, and kept summaries."""

"""Runs opened for questions: a connection with every table and view, windows of long runs, kept summaries."""

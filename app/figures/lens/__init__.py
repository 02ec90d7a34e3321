"""Figures of the pages that show one round or one request close up."""

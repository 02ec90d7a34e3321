"""Models: the tiny ones that are made here by code, and how a name on the command line becomes a folder."""

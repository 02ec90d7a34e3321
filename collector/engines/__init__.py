"""Engines: run one arm of a stream on an engine and write its run."""

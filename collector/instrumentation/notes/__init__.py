"""What the engine's thread notes of a step, as plain values: no rows, no files."""

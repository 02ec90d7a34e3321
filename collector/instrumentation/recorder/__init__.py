"""Listens to a scheduler on the engine's thread, and hands its notes to the writer's thread."""

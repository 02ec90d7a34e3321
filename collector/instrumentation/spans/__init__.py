"""When components of the engine and of the workers ran, on which clock, and their NVTX ranges."""

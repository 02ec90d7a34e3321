"""How the scan goes past a waiting request that the native state check refuses."""

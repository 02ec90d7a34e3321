"""Workloads: what is offered to the engine, when, and under which names. Pure and seeded; knows nothing of vLLM."""

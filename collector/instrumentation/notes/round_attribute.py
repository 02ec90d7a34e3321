"""How the number of a round reaches those who see only what vLLM hands them."""

ROUND_ATTRIBUTE = "radixflow_round"
"""Name under which the number of a round travels on vLLM's SchedulerOutput to the workers."""

"""The command line of the collector: one module a command."""

"""Recording a server that somebody else loads: runs one after another, switched while it serves."""

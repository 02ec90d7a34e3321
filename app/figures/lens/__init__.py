"""One round and one request, close up."""

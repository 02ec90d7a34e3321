"""Parts of pages. They own session state and the address; they return plain values."""

"""The query parameters in a page's address, and links from one page to another."""

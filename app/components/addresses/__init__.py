"""What stands in the address of a page, and links from one page to another."""

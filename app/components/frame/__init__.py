"""What every page has: its frame, its lead sentence, the opened runs, links, escaped text."""

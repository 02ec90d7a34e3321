"""What every page has: its head, its lead sentence, the choice of runs, and the name of the workbench."""

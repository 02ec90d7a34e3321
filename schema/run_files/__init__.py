"""The files of a run besides its rows: manifest, names, who writes, and how a file is replaced whole or not at all."""

"""Records a scheduler that stands still for ever: ``python -m tests.collector.streams.stalled_process RUN``."""

import sys
import time
from pathlib import Path

from tests.collector.streams.stalled_lab import StalledLab


def main(path: Path) -> None:
    """Schedule two rounds, then nothing but steps without work, a thousand a second at most."""
    lab = StalledLab(path)
    lab.add("small", 20)
    lab.step(2)
    lab.add("giant", 1000)
    while True:
        lab.step()
        time.sleep(0.001)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

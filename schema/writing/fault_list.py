"""What went wrong in a writer, in sentences: kept for the run, and said to the person who watches."""

import sys
from collections.abc import Hashable
from contextlib import suppress


class FaultList:
    """Keeps sentences, and prints each on stderr.

    Attributes:
        sentences: Every fault so far, in order. One that was said elsewhere may be added without being printed.
    """

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self._topics: set[Hashable] = set()

    def say(self, sentence: str) -> None:
        """Keep a sentence and print it."""
        self.sentences.append(sentence)
        with suppress(OSError, ValueError):  # stderr may be closed
            print(f"radixflow: {sentence}", file=sys.stderr, flush=True)

    def say_once(self, topic: Hashable, sentence: str) -> None:
        """The same, unless something was said of this topic before: what repeats with every row is said once."""
        if topic not in self._topics:
            self._topics.add(topic)
            self.say(sentence)


def reason_of(error: BaseException) -> str:
    """What went wrong, in as few words as the error has for it."""
    text = str(getattr(error, "strerror", None) or error) or type(error).__name__
    return text.rpartition("] ")[2] if "Detail: [errno" in text else text  # Arrow tells what it was doing as well

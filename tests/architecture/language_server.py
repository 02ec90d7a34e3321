"""A client for a language server: what an editor is told when it asks for a definition or for references."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

Message = dict[str, Any]


class LanguageServer:
    """One server over one workspace folder, as an editor would start it.

    Args:
        command: The server, talking on its standard input and output.
        folder: The folder that is opened, by the very path that an editor would use for it.
    """

    def __init__(self, command: list[str], folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._num_requests = 0
        uri = folder.as_uri()
        folders = [{"uri": uri, "name": folder.name}]
        abilities = {"workspace": {"configuration": True, "workspaceFolders": True}}
        self._ask(
            "initialize",
            {"processId": os.getpid(), "rootUri": uri, "workspaceFolders": folders, "capabilities": abilities},
        )
        self._send({"method": "initialized", "params": {}})

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.communicate()

    def definition(self, file: str, word: str) -> set[str]:
        """Files, relative to the folder, in which the first occurrence of a word in a file is defined."""
        return self._files("textDocument/definition", self._first(file, word))

    def references(self, file: str, word: str, patience_s: float = 60) -> set[str]:
        """Files that refer to what the first occurrence of a word in a file names, once two answers agree.

        A server answers before it has read the whole workspace, so it is asked until nothing is added any more.
        """
        asked = self._first(file, word) | {"context": {"includeDeclaration": True}}
        deadline, before = time.monotonic() + patience_s, None
        while (found := self._files("textDocument/references", asked)) != before and time.monotonic() < deadline:
            before = found
            time.sleep(5)
        return found

    def _first(self, file: str, word: str) -> Message:
        """Opens a file in the server and gives the place of the first occurrence of a word."""
        path = self._folder / file
        text = path.read_text()
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        before = text[: text.index(word)]
        place = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        return {"textDocument": {"uri": path.as_uri()}, "position": place}

    def _files(self, method: str, parameters: Message) -> set[str]:
        start = self._folder.as_uri() + "/"
        return {place["uri"].removeprefix(start) for place in self._ask(method, parameters) or []}

    def _ask(self, method: str, parameters: Message) -> Any:
        self._num_requests += 1
        self._send({"id": self._num_requests, "method": method, "params": parameters})
        while True:
            message = self._receive()
            if "method" not in message and message.get("id") == self._num_requests:
                assert "error" not in message, message
                return message["result"]
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": self._answer(message)})

    def _answer(self, message: Message) -> Any:
        """What an editor without settings of its own answers to a question of the server."""
        return [{} for _ in message["params"]["items"]] if message["method"] == "workspace/configuration" else None

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self._process.stdin.flush()

    def _receive(self) -> Message:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, "the language server ended"
        message: Message = json.loads(self._process.stdout.read(length))
        return message

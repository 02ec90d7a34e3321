"""Builds the small NVTX tool of this folder, which shows what is really emitted or does nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("nvtx_tool.c")
ATTACH = "NVTX_INJECTION64_PATH"
"""Environment variable that names the tool of a process; read at its first use of NVTX."""
OUTPUT = "RADIXFLOW_NVTX_OUT"
"""Environment variable that names the file for what is emitted; without it the tool does nothing."""


def build_nvtx_tool(folder: Path) -> Path | None:
    """Compile the tool into a folder; None where there is no C compiler.

    Raises:
        subprocess.CalledProcessError: The compiler refuses; its words are in ``stderr``.
    """
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    if compiler is None:
        return None
    library = folder / "libnvtx_tool.so"
    words = [compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-pthread"]
    subprocess.run([*words, "-o", str(library), str(SOURCE)], check=True, capture_output=True, text=True)
    return library

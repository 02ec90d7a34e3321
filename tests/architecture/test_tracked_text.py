"""Nothing in the repository names one person's machine or a private network, recordings included."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.trees import ROOT, tracked_files

# Folders that exist on one machine. Examples use /path/to/..., and tests that plant a home folder /home/someone.
MACHINE_PATH = re.compile(
    rb"(?<![\w./-])/(?:root|work|mnt|srv|data|scratch|opt/[\w.-]+|home/(?!someone\b)[\w.-]+|Users/[\w.-]+|tmp/[\w.-]+|var/tmp)(?=/|\b)"
)
# Private address ranges, private top-level domains, and package indexes fixed in a file.
PRIVATE_HOST = re.compile(
    rb"(?<![\d.=])(?:10\.\d{1,3}\.\d{1,3}\.\d{1,3}|192\.168\.\d{1,3}\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])\.\d{1,3}\.\d{1,3})"
    rb"(?![\d.])|https?://[\w.-]+\.(?:internal|local|lan|corp|intranet|home)\b|file:///\w"
)
INDEX = re.compile(
    rb"(?:--|PIP_)?(?:extra[-_])?index[-_]url[ =\"',]+(?:https?|file)://[^\s\"']+|--find-links", re.IGNORECASE
)

# (file, what is allowed there): each with its reason.
ALLOWED: dict[str, tuple[re.Pattern[bytes], ...]] = {
    # This file spells the patterns out, and plants faults.
    "tests/architecture/test_tracked_text.py": (MACHINE_PATH, PRIVATE_HOST, INDEX),
    # It plants paths to see them cut to their last part.
    "tests/collector/engines/test_machine_facts.py": (MACHINE_PATH,),
    # It looks for the very options that a requirements file must not hold.
    "tests/setup/test_requirements.py": (INDEX,),
}


def faults(name: str, content: bytes) -> list[str]:
    """What a file says that holds on one machine only."""
    allowed = ALLOWED.get(name, ())
    patterns = [pattern for pattern in (MACHINE_PATH, PRIVATE_HOST, INDEX) if pattern not in allowed]
    return [
        f"{name}: {match.group().decode(errors='replace')}"
        for pattern in patterns
        for match in pattern.finditer(content)
    ]


def test_no_tracked_file_names_a_machine_or_a_private_host() -> None:
    paths = tracked_files()
    assert Path("pyproject.toml") in paths
    assert [fault for path in paths for fault in faults(path.as_posix(), (ROOT / path).read_bytes())] == []


@pytest.mark.parametrize(
    "text",
    [
        "see /" + "home/anna/runs",
        '"/' + 'root/elsewhere"',
        "cp x /" + "tmp/elsewhere/x",
        "cd /" + "work/elsewhere",
        "http://10.1.2.3:8080/",
        "https://pypi.company.internal/simple",
        "pip install --index-url https://pypi.example.com/simple x",
        "-f --find-links wheels",
        "file:///wheels",
    ],
)
def test_a_planted_path_or_host_is_found(text: str) -> None:
    assert len(faults("planted.md", text.encode())) >= 1


@pytest.mark.parametrize(
    "text",
    ["PYTHON=/path/to/python3.12", "http://127.0.0.1:8501", "app/pages/work/x", "https://github.com/x/y", "v10.1.2"],
)
def test_what_holds_everywhere_is_not_reported(text: str) -> None:
    assert faults("fine.md", text.encode()) == []

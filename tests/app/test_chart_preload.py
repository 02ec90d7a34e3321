"""The code of figures is asked for early; only the browser can tell, here it is at least the file that is there."""

import re
from pathlib import Path

import streamlit

from radixflow.app.components.frame import chart_preload


def test_the_file_that_is_asked_for_is_there():
    script = chart_preload._script()
    (name,) = re.findall(r'new URL\("([^"]+)"', script)
    folder = Path(streamlit.__file__).parent / "static" / "static"
    (index,) = [path.read_text() for path in [folder.parent / "index.html", folder / "index.html"] if path.exists()]
    assert (folder / "js" / name).stat().st_size > 1_000_000
    assert re.search(r'<script type="module"[^>]* src="[^"]*/static/js/', index)  # what the script looks for


def test_without_such_a_file_nothing_is_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(chart_preload.st, "__file__", str(tmp_path / "__init__.py"))
    assert chart_preload._script.__wrapped__() == ""

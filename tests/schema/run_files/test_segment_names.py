"""What the names of segments say: which of them a merged file holds, at once however many there are."""

import time
from pathlib import Path

import pytest

from radixflow.schema.run_files.segment_names import without_merged


@pytest.mark.parametrize(
    ("names", "left"),
    [
        (["engine-000000", "engine-000000-000004", "engine-000003"], ["engine-000000-000004"]),
        (["engine-000004", "engine-000005", "engine-000000-000004"], ["engine-000005", "engine-000000-000004"]),
        (["engine-000000-000004", "worker0-000003"], ["engine-000000-000004", "worker0-000003"]),
        (["engine-000000-000009", "engine-000002-000004", "engine-000005"], ["engine-000000-000009"]),
        (["engine-000000-000004", "engine-000003-000009", "engine-000008"],
         ["engine-000000-000004", "engine-000003-000009"]),
        (["foreign", "engine-000001"], ["foreign", "engine-000001"]),
    ],
)  # fmt: skip
def test_what_a_merged_file_holds_is_left_out_in_the_order_given(names, left):
    paths = [Path(f"{name}.parquet") for name in names]
    assert [path.stem for path in without_merged(paths)] == left


def test_a_recording_of_many_merged_files_is_listed_at_once():
    paths = [Path(f"engine-{10 * each:06d}-{10 * each + 9:06d}.parquet") for each in range(20_000)]
    start = time.process_time()
    assert without_merged(paths) == paths
    assert time.process_time() - start < 5  # every file against every other one takes minutes

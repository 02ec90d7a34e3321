"""The check finds every fault that is planted, names it, and finds none in a good run."""

import json

import pyarrow.parquet as pq
import pytest

from radixflow.schema.checking.check import check_run
from radixflow.schema.errors import RadixflowError
from tests import builders
from tests.stalled_builder import stalled_builder


def pair_builder(path):
    """A small run to spoil: a0 and b0 in round 1, a1 blocked, then selected in round 2."""
    run = builders.RunBuilder(path, row_capacity=4)
    for number, name in enumerate(("a0", "a1", "b0")):
        run.request(name, group=number)
    run.round(("a0", 48), ("b0", 48), visits=(builders.blocked("a1", "a0", at=1),))
    run.round(("a1", 16, 32))
    return run.finish()


def change(table, row, **columns):
    return lambda rows_of: rows_of[table][row].update(columns)


def repeat(table, row):
    return lambda rows_of: rows_of[table].append(dict(rows_of[table][row]))


def remove(table, row):
    return lambda rows_of: rows_of[table].pop(row)


FAULTS = [
    (change("rounds", 0, rows_no_work=9), "ledger_faults: Round 1 may hold 4 rows, but its ledger explains 12."),
    (change("requests", 0, num_scheduled_prompt_tokens=40), "Request a0 has 48 prompt tokens, but its ledger explains"),
    (change("requests", 0, num_reused_tokens=None), "Request a0 finished without a count of reused tokens."),
    (change("rounds", 1, round=3), "rounds: Round 3 follows round 1."),
    (repeat("rounds", 1), "rounds: Round 2 is there 2 times."),
    (change("rounds", 1, schedule_start_ns=10), "rounds: Round 2 starts before the round before it."),
    (change("rows", 1, slot=0), "rounds: Two rows of round 1 have the same slot."),
    (change("rows", 1, slot=2), "rounds: The slots of round 1 are not 0 to 1."),
    (remove("rows", 1), "rounds: Round 1 says 2 rows in use, rows has 1."),
    (change("rows", 0, num_tokens=47), "rounds: Round 1 says 96 tokens, rows has 95."),
    (change("rows", 0, num_tokens=47), "requests: a0 says 48 scheduled tokens, rows has 47."),
    (repeat("visits", 0), "round_visits: Position 1 of the scan of round 1 is there 2 times."),
    (change("requests", 1, request=0), "requests: Number 0 is there 2 times."),
    (change("requests", 1, request_id="a0"), "requests: a0 is there 2 times."),
    (repeat("offers", 0), "offers: a0 is there 2 times."),
    (change("requests", 0, num_rows=2), "requests: a0 says 2 rows, rows has 1."),
    (remove("visits", 0), "requests: a1 says 1 BLOCKED visits, visits has 0."),
    (change("rounds", 0, schedule_end_ns=999), "rounds: round 1: schedule_end_ns is before schedule_start_ns."),
    (change("rounds", 0, update_end_ns=1), "rounds: round 1: update_end_ns is before update_start_ns."),
    (change("requests", 0, first_selected_ns=1), "requests: request_id a0: first_selected_ns is before registered_ns."),
    (change("offers", 0, completed_ns=1), "offers: request_id a0: completed_ns is before first_output_ns."),
    (change("spans", 0, end_ns=1), "spans: round 1: end_ns is before start_ns."),
    (change("awaited_states", 0, producer=77), "awaited_states: producer 77 is not in requests."),
    (change("awaited_states", 0, published_round=77), "awaited_states: published_round 77 is not in rounds."),
    (change("visits", 0, last_round=0), "visits: A run of visits of request 1 goes from round 1 to 0."),
    (change("visits", 0, last_round=2**62), f"visits: A run of visits of request 1 goes from round 1 to {2**62}."),
    (change("rows", 0, request=77), "rows: request 77 is not in requests."),
    (change("events", 0, round=77), "events: round 77 is not in rounds."),
    (change("requests", 0, request_id="stranger"), "requests: request_id stranger is not in offers."),
]


@pytest.mark.parametrize(("plant", "sentence"), FAULTS, ids=[sentence[:40] for _, sentence in FAULTS])
def test_a_planted_fault_is_found(tmp_path, plant, sentence):
    run = pair_builder(tmp_path / "run")
    plant(run.rows_of)
    found = [str(fault) for fault in check_run(run.write())]
    assert any(sentence in fault for fault in found), found


STALL_FAULTS = [
    (change("stalls", 0, end_ns=1), "stalls: start_ns 800: end_ns is before start_ns."),
    (change("stalls", 0, num_steps=0), "stalls: The stall from 800 ns on has 0 steps."),
    (
        change("stalls", 0, num_steps=11),
        "stalls: Before round 1 stalls have 11 steps, but it says 10 steps without work.",
    ),
    (change("stalls", 1, num_steps=4), "stalls: Before round 2 stalls have 5 steps, but it says 4 steps without work."),
    (change("stalls", 0, num_waiting=0), "stalls: In the stall from 800 ns on nothing waits and nothing runs."),
    (change("stalls", 1, start_ns=850), "stalls: The stall from 850 ns on begins before the one before it has ended."),
    (change("stalls", 0, head_request=77), "stalls: head_request 77 is not in requests."),
    (change("stalls", 0, stop_request=77), "stalls: stop_request 77 is not in requests."),
    (change("stalls", 1, round_before=77), "stalls: round_before 77 is not in rounds."),
]


@pytest.mark.parametrize(("plant", "sentence"), STALL_FAULTS, ids=[sentence[:40] for _, sentence in STALL_FAULTS])
def test_a_fault_planted_in_a_stall_is_found(tmp_path, plant, sentence):
    run = stalled_builder(tmp_path / "run")
    plant(run.rows_of)
    found = [str(fault) for fault in check_run(run.write())]
    assert any(sentence in fault for fault in found), found


def test_good_runs_have_no_faults(tmp_path):
    runs = [*builders.tiny_pair(tmp_path), builders.empty_run(tmp_path), builders.one_round_run(tmp_path)]
    runs.append(pair_builder(tmp_path / "run").write())
    assert [check_run(run) for run in runs] == [[]] * 5


def test_a_run_without_our_client_has_no_faults(tmp_path):
    run = builders.RunBuilder(tmp_path / "run", client=False)
    run.request("a0")
    run.round(("a0", 48))
    assert check_run(run.write()) == []


def test_many_faults_of_one_kind_are_counted(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    for number in range(9):
        run.request(f"a{number}")
        run.round((f"a{number}", 48), rows_other=5)
    found = [fault.sentence for fault in check_run(run.write())]
    assert len(found) == 6 and found[-1] == "... and 4 more of this kind."


def test_an_incomplete_run_says_so_and_what_it_holds_is_checked(tmp_path):
    found = [str(fault) for fault in check_run(builders.incomplete_run(tmp_path))]
    assert found == [
        "manifest.json: The recording did not come to its end, the run is incomplete; not closed: client, engine.",
        "rounds/.tmp-engine-000001.parquet: A file was being written when the recording ended.",
    ]


@pytest.mark.parametrize(
    ("fault", "sentences"),
    [
        ("truncated", ["visits/engine-000000.parquet: engine-000000.parquet is not a readable Parquet file"]),
        ("foreign", ["rows/engine-000001.parquet: engine-000001.parquet has other columns than declared: lacks slot"]),
        ("not_parquet", ["rows/engine-000001.parquet: engine-000001.parquet is not a readable Parquet file"]),
        ("missing", ["8 of 8 rows of rows that engine wrote are missing.", "says 8 rows of rows, but 0 can be read."]),
        ("future_version", ["has run format version 99; this RadixFlow reads version 1."]),
    ],
)
def test_faults_of_files_are_found(tmp_path, fault, sentences):
    found = [str(each) for each in check_run(builders.broken_run(tmp_path, fault))]
    for sentence in sentences:
        assert any(sentence in each for each in found), found


def test_damage_behind_a_whole_footer_is_found(tmp_path):
    path = builders.one_round_run(tmp_path)
    (segment,) = (path / "rounds").glob("*.parquet")
    start = pq.read_metadata(segment).row_group(0).column(0).data_page_offset
    content = bytearray(segment.read_bytes())
    content[start : start + 20] = b"\xff" * 20
    segment.write_bytes(content)
    (fault,) = check_run(path)
    assert fault.where == "rounds/engine-000000.parquet" and "cannot be decoded" in fault.sentence


def test_what_the_recording_said_is_repeated(tmp_path):
    path = builders.one_round_run(tmp_path)
    writer = path / "writers" / "engine.json"
    said = {"faults": ["engine stopped writing"], "drops": {"visits": 3}}
    writer.write_text(json.dumps(json.loads(writer.read_text()) | said))
    manifest = json.loads((path / "manifest.json").read_text())
    told = {"faults": ["engine stopped writing", "the client was late"], "drops": {"visits": 3}}
    (path / "manifest.json").write_text(json.dumps(manifest | told))
    assert [str(fault) for fault in check_run(path)] == [
        "writers/engine.json: engine stopped writing",
        "writers/engine.json: 3 rows of visits were dropped.",
        "manifest.json: the client was late",
    ]


def test_counts_of_the_manifest_are_compared(tmp_path):
    path = builders.one_round_run(tmp_path)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["tables"]["rounds"] = 2
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert [str(fault) for fault in check_run(path)] == ["manifest.json: It says 2 rows of rounds, but 1 can be read."]


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(RadixflowError, match="is not a run"):
        check_run(tmp_path)

"""The SQL console answers questions about the opened runs and nothing else, whoever wrote the question."""

import time

import duckdb
import pyarrow as pa
import pytest

from radixflow.app.queries import console
from radixflow.app.queries.console_process import GRACE_SECONDS, ask_apart
from tests import builders


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A folder with both arms of the tiny stream, and a file beside them that nobody may read."""
    folder = tmp_path_factory.mktemp("console")
    builders.tiny_pair(folder / "runs")
    (folder / "secret.csv").write_text("word\nhidden\n")
    return folder


@pytest.fixture(scope="module")
def ask(there):
    connection = console.open_console([str(path.parent) for path in sorted(there.rglob("manifest.json"))])
    yield lambda sql, **limits: console.answer(connection, sql, **limits)
    connection.close()


def test_views_and_tables_are_answered(ask):
    found = ask("SELECT label, num_rounds FROM run_summary ORDER BY run;")
    assert found.table.to_pylist() == [
        {"label": "radix", "num_rounds": 6},
        {"label": "radixflow-immediate", "num_rounds": 4},
    ]
    assert not found.is_cut and not found.error
    assert ask("WITH a AS (FROM rows) SELECT count(*) AS n FROM a").table["n"].to_pylist() == [16]
    assert ask("SELECT * FROM slot_cells WHERE false").table.num_rows == 0


def test_rows_beyond_the_limit_are_cut_and_it_is_said(ask):
    found = ask("SELECT range AS a FROM range(100000) ORDER BY a DESC")
    assert found.is_cut and found.table.num_rows == console.MAX_ROWS and found.table["a"][0].as_py() == 99999
    assert not ask(f"SELECT * FROM range({console.MAX_ROWS})").is_cut


@pytest.mark.parametrize("sql", ["SELEC 1", "SELECT a FROM rounds", "SELECT * FROM nowhere", "", "SELECT 'a' + 1"])
def test_a_mistake_is_said(ask, sql):
    found = ask(sql)
    assert found.table is None and found.error


HOSTILE = {
    "write": "COPY (SELECT 1) TO '{there}/out.csv'",
    "overwrite a segment": "COPY (SELECT 1) TO '{segment}' (FORMAT parquet)",
    "read a file": "SELECT * FROM read_csv('/etc/passwd', header = false, sep = chr(1))",
    "read a text": "SELECT * FROM read_text('/etc/hostname')",
    "read by name": "SELECT * FROM '{there}/secret.csv'",
    "read beside a segment": "SELECT * FROM read_text('{run}/manifest.json')",
    "go up from a segment": "SELECT * FROM read_text('{segment}/../../manifest.json')",
    "list files": "SELECT * FROM glob('{there}/*')",
    "attach": "ATTACH '{there}/new.db'",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "network": "SELECT * FROM read_parquet('https://nowhere.invalid/a.parquet')",
    "setting": "SET enable_external_access = true",
    "global setting": "SET GLOBAL lock_configuration = false",
    "reset": "RESET memory_limit",
    "pragma": "PRAGMA enable_external_access = true",
    "call": "CALL pragma_version()",
    "create": "CREATE TABLE a AS SELECT 1",
    "drop": "DROP VIEW rounds",
    "insert": "INSERT INTO opened_runs SELECT * FROM opened_runs",
    "delete": "DELETE FROM opened_runs",
    "two statements": "SELECT 1; DROP VIEW rounds",
    "analyse": "EXPLAIN ANALYZE COPY (SELECT 1) TO '{there}/out.csv'",
    "export": "EXPORT DATABASE '{there}/all'",
    "nested": "SELECT * FROM query('COPY (SELECT 1) TO ''{there}/out.csv''')",
    "python": "SELECT * FROM planted_python_table",
    "prepare": "PREPARE a AS SELECT 1",
    "use": "USE memory",
    "comment trick": "/* SELECT */ COPY (SELECT 1) TO '{there}/out.csv' -- SELECT",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_question_gets_no_answer(ask, there, name):
    planted_python_table = pa.table({"word": ["hidden"]})  # noqa: F841 - what a replacement scan would find
    run = there / "runs" / "tiny" / "figure-2" / "radix"
    (segment,) = (run / "rows").glob("*.parquet")
    before = (segment.read_bytes(), sorted(str(path) for path in there.rglob("*")))
    found = ask(HOSTILE[name].format(there=there, segment=segment, run=run))
    assert found.table is None and found.error
    assert (segment.read_bytes(), sorted(str(path) for path in there.rglob("*"))) == before
    assert ask("SELECT count(*) AS n FROM rounds").table["n"].to_pylist() == [10]


@pytest.mark.parametrize("name", ["read a file", "read by name", "python"])
def test_an_open_connection_would_answer(there, name):
    """The control arm: the same questions on an ordinary connection."""
    planted_python_table = pa.table({"word": ["hidden"]})  # noqa: F841 - found by its name
    connection = duckdb.connect()
    assert connection.sql(HOSTILE[name].format(there=there, segment="", run="")).fetchall()


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a) SELECT max(n) FROM a",
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1",
        "SELECT sum(hash(a.range * b.range)) FROM range(1000000) a, range(1000000) b",
    ],
)
def test_an_endless_question_is_stopped(ask, sql):
    start = time.monotonic()
    found = ask(sql, max_seconds=1.0)
    assert found.table is None and "Stopped after 1 s" in found.error
    assert time.monotonic() - start < 20
    assert ask("SELECT 1 AS n").table["n"].to_pylist() == [1]


@pytest.mark.parametrize(
    "sql",
    ["SELECT list(range) FROM range(300000000)", "SELECT repeat('x', 60000000)"],
)
def test_a_huge_answer_is_refused(ask, sql):
    found = ask(sql)
    assert found.table is None and found.error


def test_a_process_of_its_own_gives_the_same_answer(ask, there):
    paths = [str(path.parent) for path in sorted(there.rglob("manifest.json"))]
    for sql in (
        "SELECT label, num_rounds FROM run_summary ORDER BY run",
        "DROP VIEW rounds",
        "SELECT * FROM range(9999)",
    ):
        assert ask_apart(paths, sql) == ask(sql)


@pytest.mark.parametrize("sql", ["SELECT repeat('x', 4000000000)", "SELECT length(repeat(repeat('x', 60000), 200000))"])
def test_what_no_limit_of_the_database_ends_ends_with_its_process(there, sql):
    """These functions look at no clock; the first took 51 s where 10 were allowed."""
    paths = [str(path.parent) for path in sorted(there.rglob("manifest.json"))]
    start = time.monotonic()
    found = ask_apart(paths, sql, max_seconds=5)
    assert found.table is None and found.error
    assert time.monotonic() - start < 5 + GRACE_SECONDS + 5


def test_a_long_question_is_refused(ask):
    assert "letters" in ask("SELECT 1 --" + "x" * 30_000).error


def test_the_page_answers_when_it_is_told_to_and_not_from_a_link_alone(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path)
    app.query_params["sql"] = "SELECT count(*) AS planted FROM rounds"
    app.run()
    app.switch_page("pages/sql.py").run()
    assert app.text_area(key="sql").value and len(app.dataframe) == 1  # what the views mean
    app.text_area(key="sql").set_value("SELECT count(*) AS planted FROM rounds").run()
    app.button[0].click().run()
    assert not app.exception and app.dataframe[1].value["planted"].to_list() == [10]
    app.text_area(key="sql").set_value("DROP VIEW rounds").run()
    assert len(app.dataframe) == 1
    app.button[0].click().run()
    assert [error.value for error in app.error] == [
        "Only SELECT is answered here\\: nothing can be changed, written or loaded\\."
    ]

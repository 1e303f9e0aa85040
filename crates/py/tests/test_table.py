"""Tables: other tools read the same memory."""

from __future__ import annotations

import aerofed
import numpy as np
import pytest
from aerofed import Run, Scenario, Table


@pytest.fixture(scope="module")
def million() -> Table:
    """500 rounds of 2 000 devices, without training."""
    changes = {"devices.count": 2000, "data.sharing": "pool", "stop.max_rounds": 500, "uavs.coverage_radius_m": 50, "training.max_edge_rounds": 1, "stop.target_accuracy": 1.0}
    scenario = Scenario.load("quickstart", faults=[], **changes)
    table = aerofed.run(scenario, method="hfl", dry=True, progress=False).devices
    assert len(table) == 1_000_000
    return table


def test_polars_and_pandas_read_a_million_rows_without_a_copy(million: Table) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    for column in million.columns:
        there = pyarrow.table(million)[column].chunk(0).buffers()[1].address
        frame = million.to_polars()[column]
        assert frame.to_arrow().buffers()[1].address == there, column
        series = million.to_pandas()[column]
        assert isinstance(series.dtype, pandas.ArrowDtype)
        assert pyarrow.array(series).buffers()[1].address == there, column
    assert polars.DataFrame(million).height == 1_000_000


def test_columns_have_types_units_and_meanings(small_run: Run) -> None:
    rounds = small_run.rounds
    assert rounds.units["clock_s"] == "s" and "round" not in rounds.units
    assert rounds.descriptions["test_accuracy"].startswith("Accuracy of the global model")
    assert rounds["round"].dtype == np.int64 and rounds["clock_s"].dtype == np.float64
    assert list(rounds) == rounds.columns and "5 rows" in repr(rounds)
    with pytest.raises(KeyError, match="did you mean `clock_s`"):
        rounds["clock"]
    pyarrow = pytest.importorskip("pyarrow")
    schema = pyarrow.schema(rounds)
    assert schema.field("clock_s").metadata[b"unit"] == b"s"
    assert pyarrow.table(small_run.uavs)["devices"].type == pyarrow.list_(pyarrow.int64())


def test_duckdb_reads_tables(small_run: Run) -> None:
    duckdb = pytest.importorskip("duckdb")
    rounds = small_run.rounds.to_pyarrow()
    assert rounds is not None
    assert duckdb.sql("select max(round) from rounds").fetchall() == [(5,)]

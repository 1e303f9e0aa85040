"""Scenarios: the same fields, values and refusals as the command line."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path

import aerofed
import numpy as np
import pytest
from aerofed import Scenario


def test_tables_are_attributes_and_changes_make_another_scenario() -> None:
    paper = Scenario.load("paper")
    more = paper.with_(seed=3, **{"uavs.count": 7, "stop.targets": [0.5, 0.6], "mobility.kind": "static"})
    assert (paper.uavs.count, more.uavs.count) == (5, 7)
    assert more.seed == 3 and more.stop.targets == [0.5, 0.6] and more.mobility.kind == "static"
    assert more.changes()["uavs.count"] == 7
    assert more != paper and more.with_(**{"uavs.count": 5, "stop.targets": paper.stop.targets}) != more
    assert paper.uavs["count"] == 5 and "count" in dir(paper.uavs)
    with pytest.raises(AttributeError, match="did you mean `count`"):
        paper.uavs.cuont  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean `uavs`"):
        paper.uav  # noqa: B018


def test_a_scenario_survives_being_written_read_and_pickled(tmp_path: Path) -> None:
    scenario = Scenario.load("wildfire", **{"name": 'a "b" ü', "seed": np.int64(9), "uavs.speed_mps": np.float64(12.5)})
    assert Scenario.toml(scenario.to_toml()) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    file = tmp_path / "mine.toml"
    file.write_text(scenario.to_toml())
    assert Scenario.load(file) == scenario
    assert hash(Scenario.load(file)) == hash(scenario)
    assert scenario.name == 'a "b" ü'


@pytest.mark.parametrize(
    ("path", "value", "setting"),
    [
        ("uavs.cuont", 7, "uavs.cuont=7"),
        ("uavs.count", 0, "uavs.count=0"),
        ("uavs.count", "many", 'uavs.count="many"'),
        ("uavs.battery_j", -5.0, "uavs.battery_j=-5.0"),
        ("mobility.kind", "statc", 'mobility.kind="statc"'),
        ("devices.cpu_hz", [5.0, 1.0], "devices.cpu_hz=[5.0, 1.0]"),
        ("faults", [{"kind": "loss", "uav": 9, "round": 2}], 'faults=[{"kind" = "loss", "uav" = 9, "round" = 2}]'),
        ("selection.threshold", 0.3, "selection.threshold=0.3"),
    ],
)
def test_refusals_are_those_of_the_command_line(command: str, path: str, value: object, setting: str) -> None:
    with pytest.raises(ValueError) as refused:
        aerofed.run(Scenario.load("quickstart", **{path: value}), progress=False)
    told = subprocess.run([command, "run", "--set", setting, "--out", "/nonexistent/x"], capture_output=True, text=True)
    assert told.returncode == 2
    assert told.stderr.strip() == f"error: {refused.value}"


def test_a_file_or_name_that_is_not_there_is_told_with_what_was_meant() -> None:
    with pytest.raises(ValueError, match="did you mean `paper`"):
        Scenario.load("papre")
    with pytest.raises(ValueError, match="line 2, column"):
        Scenario.toml("[uavs]\nspeed = 3")
    with pytest.raises(TypeError, match="cannot be a value"):
        Scenario.load("paper", seed=object())


def test_the_library_is_listed() -> None:
    assert {"paper", "quickstart", "wildfire"} <= set(aerofed.scenarios())
    assert {"cehfed", "hfl"} <= set(aerofed.methods())
    assert "max_rounds" in aerofed.defaults()
    assert Scenario.load("quickstart").warnings() == []
    assert Scenario.load("quickstart", **{"uavs.speed_mps": 900}).warnings()

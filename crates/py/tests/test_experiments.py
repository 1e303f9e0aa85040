"""Comparisons, sweeps and planners: what the command line says, in Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import aerofed
import numpy as np
import pytest
from aerofed import Scenario

ROOT = Path(__file__).resolve().parents[3]


class Nearest(aerofed.Association):
    """Every covered device, with its nearest UAV: what `hfl` does."""

    name = "nearest"

    def select(self, scene: aerofed.Scene) -> list[np.ndarray]:
        return [np.flatnonzero(scene.devices.nearest == uav) for uav in range(len(scene.uavs.active))]


def test_a_comparison_is_the_command_lines(command: str, small: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(small.to_toml())
    methods = ["hfl", "long=hfl:allocation.local_iterations=8"]
    words = ["compare", file, "--methods", ",".join(methods), "--seeds", "3", "--targets", "0.5,0.6", "--out", tmp_path / "cli", "-q", "--latex"]
    told = subprocess.run([command, *words], check=True, capture_output=True, text=True)
    found = aerofed.compare(small, methods=methods, seeds=3, targets=[0.5, 0.6], out=tmp_path / "py", progress=False)
    assert repr(found) == told.stdout.rstrip()
    cli = {path.relative_to(tmp_path / "cli") for path in (tmp_path / "cli").rglob("*")}
    assert {path.relative_to(tmp_path / "py") for path in (tmp_path / "py").rglob("*")} == cli - {Path("compare.tex")}
    for name in ("compare.md", "compare.csv", "compare.json", "runs.csv", "curves.csv", "compare-time.svg"):
        assert (tmp_path / "py" / name).read_bytes() == (tmp_path / "cli" / name).read_bytes(), name
    assert found.latex() == (tmp_path / "cli/compare.tex").read_text() and "\\toprule" in found.latex()
    assert found.statistics.methods[1].label == "long"
    assert len(found.runs) == 2 * 3 * 2
    assert set(found.curves["label"]) == {"hfl", "long"}
    assert found.run("long", 2).summary.seed == 2
    assert set(found.figures()) == {"compare-time", "compare-energy"}
    with pytest.raises(ValueError, match="no method"):
        aerofed.compare(small, methods=["hfll"], seeds=1, out=tmp_path / "x", progress=False)
    with pytest.raises(ValueError, match="`seeds` is 0, allowed: a whole number from 1 to 1000000"):
        aerofed.compare(small, methods=["hfl"], seeds=0, out=tmp_path / "x", progress=False)
    assert not (tmp_path / "x").exists()


def test_own_methods_stand_beside_others(small: Scenario, tmp_path: Path) -> None:
    own = aerofed.Method(base="hfl", association=Nearest())
    found = aerofed.compare(small, methods=["hfl", own], seeds=2, targets=[0.5], out=tmp_path / "c", progress=False)
    assert [method.label for method in found.statistics.methods] == ["hfl", "nearest"]
    one, other = found.run("hfl", 1), found.run("nearest", 1)
    assert list(one.rounds["test_accuracy"]) == list(other.rounds["test_accuracy"])
    assert other.summary.method == "nearest"


def test_ctrl_c_sets_a_comparison_down_and_the_same_call_goes_on(small: Scenario, tmp_path: Path) -> None:
    long = small.with_(**{"stop.max_rounds": 150, "stop.target_accuracy": 1.0})

    def later() -> None:
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=later)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        aerofed.compare(long, methods="hfl", seeds=40, targets=[1.0], jobs=2, out=tmp_path / "c", progress=False)
    thread.join()
    assert any((tmp_path / "c/runs").iterdir())
    few = aerofed.compare(long, methods="hfl", seeds=1, targets=[1.0], out=tmp_path / "c", progress=False)
    alone = aerofed.run(long, method="hfl", seed=1, progress=False)
    assert few.run("hfl", 1).summary.final_accuracy == alone.summary.final_accuracy


def test_a_sweep_is_the_command_lines(command: str, small: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(small.to_toml())
    words = ["sweep", file, "--dry", "--grid", "uavs.count=3,5", "--random", "uavs.speed_mps=10.0..30.0", "--samples", "3"]
    subprocess.run([command, *words, "--methods", "hfl", "--out", tmp_path / "cli", "-q"], check=True, capture_output=True)
    found = aerofed.sweep(
        small,
        dry=True,
        grid={"uavs.count": [3, 5]},
        random={"uavs.speed_mps": (10.0, 30.0)},
        samples=3,
        methods="hfl",
        out=tmp_path / "py",
        progress=False,
    )
    for name in ("sweep.csv", "sweep.parquet", "results.json", "schema.json"):
        assert (tmp_path / "py" / name).read_bytes() == (tmp_path / "cli" / name).read_bytes(), name
    assert sorted(set(found.runs["uavs.count"])) == [3, 5] and len(found.runs) == 6
    assert found.results.experiments and "front" in found.markdown().lower()
    with pytest.raises(ValueError, match="needs `samples`"):
        aerofed.sweep(small, random={"uavs.speed_mps": (1, 2)}, out=tmp_path / "x")
    with pytest.raises(ValueError, match="nothing is varied"):
        aerofed.sweep(small, out=tmp_path / "x")


def test_planners_answer_as_the_command_line(command: str) -> None:
    cell, fleet = ROOT / "examples/cell.json", ROOT / "examples/fleet.json"
    for words, answer in [
        (["allocate", cell], aerofed.allocate(cell)),
        (["allocate", cell, "--solver", "palm"], aerofed.allocate(json.loads(cell.read_text()), solver="palm")),
        (["deploy", fleet], aerofed.deploy(fleet)),
        (["deploy", fleet, "--method", "two_stage", "--seed", "3"], aerofed.deploy(fleet, method="two_stage", seed=3)),
    ]:
        told = subprocess.run([command, *words], check=True, capture_output=True, text=True)
        assert answer.to_dict() == json.loads(told.stdout)
    with pytest.raises(ValueError, match="allowed: marginal_gains"):
        aerofed.deploy(fleet, method="magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`goal` is 2, allowed: a number from 0 to 1"):
        aerofed.deploy(fleet, goal=2)
    with pytest.raises(ValueError, match="not read by this --method"):
        aerofed.deploy(fleet, method="none", margin_m=3)
    with pytest.raises(ValueError, match="devices"):
        aerofed.allocate({**json.loads(cell.read_text()), "devices": []})

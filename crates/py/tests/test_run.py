"""Runs: the command line's bytes, by hand or to the end, interrupted and taken up."""

from __future__ import annotations

import csv
import html
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import aerofed
import numpy as np
import pytest
from aerofed import Run, Scenario, Simulation

FILES = [
    "scenario.toml",
    "schema.json",
    "rounds.csv",
    "uavs.csv",
    "devices.jsonl",
    "events.jsonl",
    "model.safetensors",
    "map.svg",
]


def same_but_for_the_clock(a: str, b: str) -> None:
    one, other = json.loads(a), json.loads(b)
    for summary in (one, other):
        del summary["wall_clock_s"], summary["threads"]
    assert one == other


def test_a_run_is_the_command_lines_to_the_byte(
    command: str, small: Scenario, small_run: Run, settings: Callable[[Scenario], list[str]], tmp_path: Path
) -> None:
    subprocess.run([command, "run", *settings(small), "--out", tmp_path / "cli", "--quiet"], check=True, capture_output=True)
    small_run.save(tmp_path / "saved")
    kept = aerofed.run(small, out=tmp_path / "kept", threads=1, progress=False)
    for folder in ("saved", "kept"):
        names = {entry.name for entry in (tmp_path / folder).iterdir()}
        assert names == {entry.name for entry in (tmp_path / "cli").iterdir()}
        for name in FILES:
            assert (tmp_path / folder / name).read_bytes() == (tmp_path / "cli" / name).read_bytes(), name
        same_but_for_the_clock((tmp_path / folder / "summary.json").read_text(), (tmp_path / "cli/summary.json").read_text())
    told = json.loads((tmp_path / "cli/summary.json").read_text())
    for run in (small_run, kept, aerofed.load_run(tmp_path / "cli")):
        for name in ("final_accuracy", "total_time_s", "total_energy_j", "rounds"):
            assert run.summary[name] == told[name], name


def test_tables_hold_what_the_files_hold(small_run: Run, tmp_path: Path) -> None:
    small_run.save(tmp_path / "run")
    for table, name in [(small_run.rounds, "rounds.csv"), (small_run.uavs, "uavs.csv")]:
        with (tmp_path / "run" / name).open() as file:
            rows = list(csv.DictReader(file))
        assert table.columns == list(rows[0])
        assert len(table) == len(rows)
        for column in table.columns:
            values = list(table[column])
            for value, row in zip(values, rows, strict=True):
                assert cell(value) == row[column] or float(value) == float(row[column]) or np.isnan(value), column
    with (tmp_path / "run/events.jsonl").open() as file:
        events = [json.loads(line) for line in file]
    assert events, "something happens in this run"
    for place, event in enumerate(events):
        told = {name: small_run.events[name][place] for name in small_run.events.columns}
        assert {name: value for name, value in told.items() if value is not None} == event
    with (tmp_path / "run/devices.jsonl").open() as file:
        seen = [json.loads(line) for line in file]
    assert list(small_run.devices["uav"]) == [uav for line in seen for uav in line["uav"]]
    assert list(small_run.devices["x_m"]) == [x for line in seen for x in line["x_m"]]
    assert list(small_run.devices["device"][:3]) == [0, 1, 2]


def cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)


def test_a_saved_run_is_loaded_and_saved_again(small_run: Run, tmp_path: Path) -> None:
    small_run.save(tmp_path / "a")
    loaded = aerofed.load_run(tmp_path / "a")
    assert loaded.summary == small_run.summary
    assert loaded.scenario == small_run.scenario
    assert loaded.map_svg() == small_run.map_svg()
    assert loaded.progress_svg() == small_run.progress_svg()
    for name, weights in small_run.model.items():
        assert np.array_equal(loaded.model[name], weights)
    loaded.save(tmp_path / "b")
    assert (tmp_path / "a/rounds.csv").read_bytes() == (tmp_path / "b/rounds.csv").read_bytes()
    with pytest.raises(ValueError, match="exists and is not empty"):
        small_run.save(tmp_path / "a")
    small_run.save(tmp_path / "a", force=True)
    with pytest.raises(ValueError, match="exists and is not empty"):
        loaded.save(tmp_path / "b")
    loaded.save(tmp_path / "b", force=True)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "b"]
    with pytest.raises(ValueError, match="no such file"):
        aerofed.load_run(tmp_path / "nowhere")
    (tmp_path / "b/rounds.csv").write_text("nonsense")
    with pytest.raises(ValueError, match=r"rounds\.csv"):
        aerofed.load_run(tmp_path / "b")


def test_pages_show_the_run(small_run: Run, tmp_path: Path) -> None:
    page = small_run.report(tmp_path / "report.html")
    assert page.startswith("<!") and (tmp_path / "report.html").read_text() == page
    shown = small_run._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and page in html.unescape(shown)
    assert "replay" in page and "<svg" in small_run.progress_svg() and "<svg" in (small_run.map_svg() or "")
    assert "Energy by item" in repr(small_run)
    assert "<td>" in small_run.rounds._repr_html_()


def test_rounds_by_hand_are_the_same_rounds(small: Scenario, small_run: Run) -> None:
    simulation = Simulation(small)
    before = simulation.model
    seen = [round.test_accuracy for round in simulation]
    assert seen == list(small_run.rounds["test_accuracy"])
    assert simulation.is_over and simulation.step() is None and simulation.rounds_done == 5
    assert any(not np.array_equal(before[name], weights) for name, weights in simulation.model.items())
    run = simulation.finish()
    assert run.summary.stopped_by == "max_rounds"
    with pytest.raises(RuntimeError, match="finished"):
        simulation.step()
    last = run.round(5)
    assert last.round == 5 and last.time_s == pytest.approx(sum(last.time.values()))
    assert sum(map(len, last.selection)) == last.selected
    assert [event["event"] for number in range(1, 6) for event in run.round(number).events] == list(run.events["event"])
    with pytest.raises(ValueError, match="allowed: 1 to 5"):
        run.round(6)


def test_options_are_short_for_fields(small: Scenario) -> None:
    run = aerofed.run(small, method="hfl", seed=4, rounds=2, dry=True, progress=False)
    assert (run.summary.method, run.summary.seed, run.summary.rounds) == ("hfl", 4, 2)
    assert run.scenario.learner == "surrogate"


def test_progress_is_told(small: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    aerofed.run(small, rounds=3, progress=lambda round: seen.append(round.round))
    assert seen == [1, 2, 3]
    aerofed.run(small, rounds=3, progress=True)
    assert "3/3" in capsys.readouterr().err
    aerofed.run(small, rounds=3)
    assert capsys.readouterr().err == ""

    def fail(_: object) -> None:
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        aerofed.run(small, progress=fail)


def test_a_bar_of_text_where_there_is_no_tqdm(
    small: Scenario, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    aerofed.run(small, rounds=3, progress=True)
    told = capsys.readouterr().err
    assert "round 3/3 [" in told and told.endswith("\n")


def test_ctrl_c_ends_a_run_which_goes_on_to_the_same_bytes(small: Scenario, tmp_path: Path) -> None:
    long = small.with_(**{"stop.max_rounds": 30, "stop.target_accuracy": 1.0})
    whole = aerofed.run(long, out=tmp_path / "whole", progress=False)

    def interrupt(round: aerofed.Round) -> None:
        if round.round == 7:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(aerofed.Interrupted, match="resume") as stopped:
        aerofed.run(long, out=tmp_path / "parts", progress=interrupt)
    done = stopped.value.run
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert done.summary.stopped_by == "interrupted" and 7 <= done.summary.rounds < 30
    rest = aerofed.resume(tmp_path / "parts", progress=False)
    assert rest.summary.rounds == 30
    for name in FILES:
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert aerofed.resume(tmp_path / "parts").summary.rounds == 30, "one that is finished is loaded"
    assert whole.summary.rounds == 30
    with pytest.raises(ValueError, match="no run to continue"):
        aerofed.resume(tmp_path / "nowhere")


def test_other_threads_go_on_while_a_run_computes(small: Scenario) -> None:
    ticks: list[float] = []
    over = threading.Event()

    def tick() -> None:
        while not over.wait(0.002):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    simulation = Simulation(small.with_(**{"model.name": "cnn", "stop.max_rounds": 2}))
    began = time.perf_counter()
    simulation.step()
    ended = time.perf_counter()
    over.set()
    thread.join()
    inside = [moment for moment in ticks if began < moment < ended]
    assert len(inside) >= min(3, (ended - began) / 0.02)


def test_a_folder_that_is_taken_is_refused_and_left_alone(small: Scenario, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds something else than a run"):
        aerofed.run(small, out=tmp_path, progress=False)
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.txt"]


def test_parquet_files_hold_the_tables(command: str, small: Scenario, small_run: Run, settings: Callable[[Scenario], list[str]], tmp_path: Path) -> None:
    """What `--parquet` writes, to the byte, and what other tools read in it."""
    subprocess.run([command, "run", *settings(small), "--out", tmp_path / "cli", "--parquet", "--quiet"], check=True, capture_output=True)
    small_run.save(tmp_path / "saved", parquet=True)
    aerofed.load_run(tmp_path / "cli").save(tmp_path / "copied", parquet=True)
    names = {entry.name for entry in (tmp_path / "cli").iterdir()}
    assert {"rounds.parquet", "uavs.parquet", "devices.parquet", "events.parquet"} <= names
    for folder in ("saved", "copied"):
        assert {entry.name for entry in (tmp_path / folder).iterdir()} == names
        for name in names:
            if name.endswith(".parquet"):
                assert (tmp_path / folder / name).read_bytes() == (tmp_path / "cli" / name).read_bytes(), name
    small_run.save(tmp_path / "saved", force=True)
    assert not (tmp_path / "saved/rounds.parquet").exists(), "a run that is replaced goes with all its files"
    small_run.parquet(tmp_path / "alone")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    for name, table in [("rounds", small_run.rounds), ("uavs", small_run.uavs), ("devices", small_run.devices), ("events", small_run.events)]:
        read = parquet.read_table(tmp_path / "alone" / f"{name}.parquet")
        assert read.to_pydict() == table.to_pyarrow().to_pydict(), name
        assert [field.type for field in read.schema] == [field.type for field in table.to_pyarrow().schema] or name in ("uavs", "events")


def test_weights_and_biases_takes_rounds_as_they_come(small: Scenario, tmp_path: Path) -> None:
    """As docs/python.md has it: the package writes its own offline files."""
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    with wandb.init(mode="offline", dir=tmp_path, settings=wandb.Settings(silent=True)) as log:
        aerofed.run(small, progress=lambda round: log.log({"accuracy": round.test_accuracy, "energy_j": round.cumulative_energy_j}, step=round.round))
        assert log.summary["accuracy"] > 0.1
    assert list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))


def test_numbers_out_of_range_are_refused_in_words(small: Scenario, tmp_path: Path) -> None:
    for words, call in [
        ("`threads` is 0, allowed: a whole number from 1 to 1024", lambda: aerofed.run(small, threads=0)),
        ("`threads` is -1", lambda: aerofed.Simulation(small, threads=-1)),
        ("`checkpoint_every` is -1, allowed: a whole number from 0", lambda: aerofed.run(small, checkpoint_every=-1)),
        ("`jobs` is 0", lambda: aerofed.compare(small, methods="hfl", seeds=1, jobs=0, out=tmp_path / "x")),
        ("`first_seed` is -3", lambda: aerofed.compare(small, methods="hfl", seeds=1, first_seed=-3, out=tmp_path / "x")),
        ("`targets` is 1.5, allowed: a number from 0 to 1", lambda: aerofed.compare(small, methods="hfl", seeds=1, targets=[1.5], out=tmp_path / "x")),
        ("`smooth` is 0", lambda: aerofed.compare(small, methods="hfl", seeds=1, smooth=0, out=tmp_path / "x")),
        ("`samples` is 0", lambda: aerofed.sweep(small, random={"uavs.speed_mps": (1, 2)}, samples=0, out=tmp_path / "x")),
        ("-3", lambda: aerofed.run(small, seed=-3)),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    assert not (tmp_path / "x").exists()


def test_tensorboard_reads_the_curves(command: str, small: Scenario, small_run: Run, settings: Callable[[Scenario], list[str]], tmp_path: Path) -> None:
    """What `--log tensorboard` writes, read back by the package itself."""
    path = small_run.tensorboard(tmp_path / "py")
    words = [*settings(small), "--out", tmp_path / "cli", "--log", "tensorboard", "--quiet"]
    subprocess.run([command, "run", *words], check=True, capture_output=True)
    assert (tmp_path / "cli" / path.name).read_bytes() == path.read_bytes()
    again = [*settings(small), "--out", tmp_path / "cli", "--force", "--quiet"]
    subprocess.run([command, "run", *again], check=True, capture_output=True)
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "py"))
    events.Reload()
    seen = events.Scalars("accuracy/test")
    assert [event.step for event in seen] == [1, 2, 3, 4, 5]
    assert [event.value for event in seen] == [float(np.float32(value)) for value in small_run.rounds["test_accuracy"]]
    assert [event.wall_time for event in seen] == list(small_run.rounds["clock_s"])
    assert {"energy/edge_hover_j", "time/upload_s", "loss/train"} <= set(events.Tags()["scalars"])

"""What the tests share."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import aerofed
import pytest

# Where a shell starts the tests in the background SIGINT is ignored, and nothing could be interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[3]

# Small, so that a run takes a fraction of a second; a UAV leaves in it.
SMALL = {
    "devices.count": 40,
    "data.data_volume": 800,
    "data.probe_samples": 100,
    "model.name": "logistic",
    "stop.max_rounds": 5,
}


@pytest.fixture(scope="session")
def small() -> aerofed.Scenario:
    return aerofed.Scenario.load("quickstart", **SMALL)


@pytest.fixture(scope="session")
def small_run(small: aerofed.Scenario) -> aerofed.Run:
    return aerofed.run(small, progress=False)


@pytest.fixture(scope="session")
def command() -> str:
    """The program itself: AEROFED names it, or it is where cargo leaves it."""
    built = [path for path in (ROOT / "target/release/aerofed", ROOT / "target/debug/aerofed") if path.is_file()]
    newest = max(built, key=lambda path: path.stat().st_mtime, default=None)
    for place in (os.environ.get("AEROFED"), newest, shutil.which("aerofed")):
        if place and Path(place).is_file():
            return str(place)
    pytest.skip("the program `aerofed` is not built: cargo build, or AEROFED=PATH")


@pytest.fixture(scope="session")
def settings() -> Callable[[aerofed.Scenario], list[str]]:
    """The options of the command line that make the same scenario of the quick start."""

    def options(scenario: aerofed.Scenario) -> list[str]:
        base = aerofed.Scenario.load("quickstart")
        changed = {path: value for path, value in scenario.changes().items() if base.changes().get(path) != value}
        return [word for path, value in changed.items() for word in ("--set", f"{path}={value}")]

    return options

"""Types: stubs are what the module is, and mypy accepts package and examples."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import aerofed
import pytest

ROOT = Path(__file__).resolve().parents[3]


def mypy(*words: str | Path, needs: tuple[str, ...] = ("gymnasium", "pettingzoo", "flwr")) -> None:
    for module in ("mypy", *needs):
        pytest.importorskip(module, reason=f"{module} is not installed")
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stubs_are_what_the_module_is() -> None:
    mypy("mypy.stubtest", "aerofed", "--ignore-disjoint-bases")


def test_the_stubs_of_the_native_half_are_what_it_is() -> None:
    mypy("mypy.stubtest", "aerofed._aerofed", "--ignore-disjoint-bases", needs=())


def test_mypy_accepts_the_package() -> None:
    mypy("mypy", "--strict", "-p", "aerofed")


def test_everything_public_says_what_it_is() -> None:
    for name in aerofed.__all__:
        thing = getattr(aerofed, name)
        if name.startswith("_") or not callable(thing):
            continue
        assert inspect.getdoc(thing), name
        for method, inside in inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else []:
            if not method.startswith("_"):
                assert inspect.getdoc(inside), f"{name}.{method}"
    assert (Path(inspect.getfile(aerofed)).parent / "py.typed").exists()

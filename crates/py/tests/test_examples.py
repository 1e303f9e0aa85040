"""The examples run, and mypy --strict accepts them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/python"

# What an example needs besides the package, and words that make it short.
KNOWN = {
    "own_rule.py": ([], ["1"]),
    "flower_client.py": (["flwr"], ["2"]),
    "sb3_td3.py": (["gymnasium", "stable_baselines3"], ["60"]),
    "torch_learner.py": (["torch"], ["2"]),
}


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    needs, words = KNOWN[name]
    for module in needs:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{name} needs {module}, which is not installed")
    done = subprocess.run([sys.executable, EXAMPLES / name, *words], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("name", KNOWN)
def test_mypy_accepts_an_example(name: str) -> None:
    pytest.importorskip("mypy")
    words = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    missing = [module for module in KNOWN[name][0] if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"{name} needs {missing[0]}, which is not installed")
    done = subprocess.run([*words, EXAMPLES / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

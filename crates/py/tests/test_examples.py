"""The examples run, and mypy --strict accepts them."""

from __future__ import annotations

import importlib.util
import json
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


def test_the_lines_of_the_readme_say_what_the_command_line_says(command: str, tmp_path: Path) -> None:
    """Three rounds of them: all forty would take a minute."""
    page = (EXAMPLES.parents[1] / "README.md").read_text()
    lines = page.split("```python\n")[1].split("```")[0].replace('"uavs.speed_mps": 15', '"uavs.speed_mps": 15, "stop.max_rounds": 3')
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words = ["run", "--set", "uavs.speed_mps=15", "--rounds", "3", "--method", "cehfed", "--seed", "1", "--out", tmp_path / "cli", "--json", "--quiet"]
    told = json.loads(subprocess.run([command, *words], check=True, capture_output=True, text=True).stdout)
    assert done.stdout.split("\n")[0] == f"{told['final_accuracy']} {told['total_time_s']} {told['total_energy_j']}"
    for name in ("scenario.toml", "rounds.csv", "uavs.csv", "events.jsonl", "model.safetensors"):
        assert (tmp_path / "runs/mine" / name).read_bytes() == (tmp_path / "cli" / name).read_bytes(), name


@pytest.mark.parametrize("name", KNOWN)
def test_mypy_accepts_an_example(name: str) -> None:
    pytest.importorskip("mypy")
    words = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    missing = [module for module in KNOWN[name][0] if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"{name} needs {missing[0]}, which is not installed")
    done = subprocess.run([*words, EXAMPLES / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

"""The planners: one cell, one fleet."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from . import _aerofed
from ._fields import Fields


def allocate(cell: Mapping[str, Any] | str | os.PathLike[str], *, solver: Literal["exact", "palm"] = "exact") -> Fields:
    """Local iterations and bandwidth of each device of a cell, as ``aerofed allocate`` answers.

    :param cell: what ``aerofed allocate --help`` describes, as a dictionary, or a file of JSON.
    """
    return Fields(_aerofed.allocate(_json(cell), solver), "a plan")


def deploy(
    fleet: Mapping[str, Any] | str | os.PathLike[str],
    *,
    method: Literal["marginal_gains", "two_stage", "joint_greedy", "none"] = "marginal_gains",
    goal: float | None = None,
    margin_m: float | None = None,
    movement_weight: float | None = None,
    relay_m: float = 0.0,
    seed: int = 1,
) -> Fields:
    """Where the UAVs of a fleet should hover now, as ``aerofed deploy`` answers.

    :param fleet: what ``aerofed deploy --help`` describes, as a dictionary, or a file of JSON.
    :param goal: as few UAVs as cover this share of the devices; ``coverage_after`` says whether they do.
    """
    return Fields(_aerofed.deploy(_json(fleet), method, goal, margin_m, movement_weight, relay_m, seed), "a plan")


def _json(given: Mapping[str, Any] | str | os.PathLike[str]) -> str:
    if isinstance(given, Mapping):
        return json.dumps(given)
    return Path(given).read_text(encoding="utf-8")

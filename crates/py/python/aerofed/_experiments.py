"""Many runs: methods compared, fields varied."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from . import _aerofed
from ._aerofed import NativeComparison, NativeMethod, NativeSweep
from ._fields import Fields
from ._parts import Learner, Method, Part, as_method
from ._page import framed
from ._progress import Bar, is_watched
from ._run import Run, load_run
from ._scenario import Scenario, as_scenario
from ._simulation import changes_of
from ._table import Table
from ._toml import literal

Methods = str | Method | Part | Sequence[str | Method | Part]


class _Results:
    """What a folder of results has."""

    def __init__(self, native: NativeComparison | NativeSweep) -> None:
        self.folder = Path(native.folder)
        self._markdown = native.markdown

    def markdown(self) -> str:
        """The table that the command line prints."""
        return self._markdown()

    def __repr__(self) -> str:
        return self.markdown().rstrip()

    def report(self) -> str:
        """The page with all of it to look at: ``report.html``."""
        return (self.folder / "report.html").read_text(encoding="utf-8")

    def figures(self) -> dict[str, Path]:
        """The pictures, SVG each, by name."""
        found = [*self.folder.glob("*.svg"), *self.folder.glob("figures/*.svg")]
        return {path.stem: path for path in sorted(found)}

    def _repr_html_(self) -> str:
        return framed(self.report())


class Comparison(_Results):
    """Methods beside each other: what each needs to reach an accuracy."""

    def __init__(self, native: NativeComparison) -> None:
        super().__init__(native)
        self._native = native

    @cached_property
    def statistics(self) -> Fields:
        """All statistics: ``compare.json``."""
        return Fields(self._native.statistics(), "a comparison")

    @cached_property
    def runs(self) -> Table:
        """A row for each run and target."""
        return Table(self._native.runs())

    @cached_property
    def curves(self) -> Table:
        """A row for each run and round."""
        return Table(self._native.curves())

    def run(self, label: str, seed: int) -> Run:
        """The run of a method under a seed."""
        for name, of, folder in zip(self.runs["label"], self.runs["seed"], self.runs["run"], strict=True):
            if (name, of) == (label, seed):
                return load_run(self.folder / folder)
        raise KeyError(f"no run of {label!r} under seed {seed}")

    def latex(self) -> str:
        """The same for a paper, with booktabs: what ``aerofed compare --latex`` writes."""
        return self._native.latex()


class Sweep(_Results):
    """One scenario with fields varied."""

    def __init__(self, native: NativeSweep) -> None:
        super().__init__(native)
        self._native = native

    @cached_property
    def runs(self) -> Table:
        """A row for each run, with what was varied in columns: ``sweep.csv``."""
        return Table(self._native.runs())

    @cached_property
    def results(self) -> Fields:
        """The Pareto front of time, energy and accuracy, and how much depends on each axis: ``results.json``."""
        return Fields(self._native.results(), "results")


def compare(
    scenario: Scenario | str | os.PathLike[str] | None = None,
    *,
    methods: Methods,
    seeds: int,
    first_seed: int = 1,
    targets: Iterable[float] | None = None,
    smooth: int | None = None,
    target_on: Literal["test", "validation"] | None = None,
    full: bool = False,
    rounds: int | None = None,
    dry: bool = False,
    learner: Learner | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compares methods over seeds, as ``aerofed compare`` does, and leaves the same folder.

    :param methods: names (``"hfl"``, ``"long=hfl:allocation.local_iterations=20"``, ``"all"``), or methods or parts written in Python. Savings are of the first
        against each other.
    :param seeds: how many.
    :param targets: accuracies whose cost is compared; None: the scenario's ``stop.targets``.
    :param jobs: runs at a time, each on one thread; the results do not depend on it. None: all cores.
    :param out: the folder; None: ``runs/compare-SCENARIO-HASH``, as the command line.

    The same call again does only what is missing. A run is known by its scenario and the method's name: a part whose code has changed needs another name, or
    another folder. Ctrl-C sets runs down; the same call goes on.
    """
    chosen = as_scenario(scenario, changes_of(None, None, rounds, dry))
    names, own = _named(methods)
    with _bar(progress) as watch:
        native = _aerofed.compare(
            chosen._native,
            names,
            own,
            learner,
            seeds,
            first_seed,
            None if targets is None else list(targets),
            smooth,
            target_on,
            full,
            jobs,
            None if out is None else Path(out),
            watch,
        )
    return Comparison(native)


def sweep(
    scenario: Scenario | str | os.PathLike[str] | None = None,
    *,
    grid: Mapping[str, Iterable[Any]] | None = None,
    random: Mapping[str, tuple[float, float] | tuple[float, float, Literal["log"]]] | None = None,
    samples: int | None = None,
    methods: Methods | None = None,
    seeds: int = 1,
    first_seed: int = 1,
    target: float | None = None,
    rounds: int | None = None,
    dry: bool = False,
    rows: bool | None = None,
    learner: Learner | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Sweep:
    """Varies fields of a scenario, as ``aerofed sweep`` does, and leaves the same folder.

    :param grid: fields and their values: ``{"uavs.count": [3, 5, 8]}``.
    :param random: fields and the ends between which they are drawn, ``{"uavs.speed_mps": (10, 30)}``, with ``"log"`` behind them on a logarithmic scale.
    :param samples: how many are drawn.
    :param methods: as in ``compare``; None: the scenario's.
    :param rows: a row of each run is kept, and no folder; None: where ``dry``.
    :param out: the folder; None: ``runs/sweep-SCENARIO-HASH``, as the command line.
    """
    chosen = as_scenario(scenario, changes_of(None, None, rounds, dry))
    names, own = (None, []) if methods is None else _named(methods)
    listed = [f"{path}={','.join(literal(value) for value in values)}" for path, values in (grid or {}).items()]
    drawn = [f"{path}={ends[0]}..{ends[1]}" + ("" if len(ends) == 2 else f",{ends[2]}") for path, ends in (random or {}).items()]
    with _bar(progress) as watch:
        native = _aerofed.sweep(
            chosen._native,
            listed,
            drawn,
            samples,
            names,
            own,
            learner,
            seeds,
            first_seed,
            target,
            dry if rows is None else rows,
            jobs,
            None if out is None else Path(out),
            watch,
        )
    return Sweep(native)


def _named(methods: Methods) -> tuple[list[str], list[NativeMethod]]:
    given = [methods] if isinstance(methods, str | Method | Part) else list(methods)
    names: list[str] = []
    own: list[NativeMethod] = []
    for entry in given:
        method = as_method(entry)
        if isinstance(method, Method):
            names.append(method.name)
            own.append(method._native)
        elif method is not None:
            names.append(method)
    return names, own


class _Runs:
    """A bar of runs, made when it is known how many there are."""

    def __init__(self) -> None:
        self._bar: Bar | None = None

    def __enter__(self) -> Callable[[int, int], None]:
        return self._show

    def _show(self, done: int, of: int) -> None:
        if self._bar is None:
            self._bar = Bar(of, "run")
        self._bar(done, "")

    def __exit__(self, *error: Any) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)


def _bar(progress: bool | None) -> Any:
    return _Runs() if progress or (progress is None and is_watched()) else nullcontext(None)

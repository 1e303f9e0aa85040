"""Runs from their first round to their last."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import _aerofed
from ._aerofed import NativeRun, NativeSimulation, Round
from ._fields import Fields
from ._parts import Learner, Method, Part, as_method
from ._page import framed
from ._progress import Bar, is_watched
from ._scenario import Scenario
from ._simulation import Simulation
from ._table import Table

Progress = bool | Callable[[Round], object] | None

# Between two looks at a run; a call takes less than a thousandth of that.
LOOK_EVERY_S = 0.1


class Run:
    """A finished run: its tables, its summary, its model, and pictures of it."""

    def __init__(self, native: NativeRun) -> None:
        self._native = native

    @cached_property
    def scenario(self) -> Scenario:
        """What was run: complete, it repeats the run to the byte."""
        return Scenario(self._native.scenario)

    @cached_property
    def rounds(self) -> Table:
        """A row for each global round: ``rounds.csv``."""
        return Table(self._native.rounds())

    @cached_property
    def uavs(self) -> Table:
        """A row for each UAV and round: ``uavs.csv``."""
        return Table(self._native.uavs())

    @cached_property
    def devices(self) -> Table:
        """A row for each device and round, where it was and whom it trained with: ``devices.jsonl``."""
        return Table(self._native.devices())

    @cached_property
    def events(self) -> Table:
        """A row for each thing that happened: ``events.jsonl``."""
        return Table(self._native.events())

    @cached_property
    def summary(self) -> Fields:
        """The run in one object: ``summary.json``."""
        return Fields(self._native.summary, "a summary")

    @cached_property
    def model(self) -> dict[str, NDArray[np.float32]]:
        """The global model, layer by layer."""
        return self._native.model()

    def round(self, number: int) -> Round:
        """One round, from 1."""
        if not 1 <= number <= len(self.rounds):
            raise ValueError(f"`number` is {number}, allowed: 1 to {len(self.rounds)}")
        return self._native.round(number - 1)

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page with curves, books and a replay of the fleet; also written to ``path`` if there is one."""
        page = self._native.html()
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def progress_svg(self) -> str:
        """Accuracy over simulated time, and energy by item, as SVG."""
        return self._native.progress_svg()

    def tensorboard(self, folder: str | os.PathLike[str]) -> Path:
        """Writes the curves as an event file into a folder that ``tensorboard --logdir`` reads; its wall time is the simulated clock."""
        return _written(folder, [self._native.tensorboard()])[0]

    def parquet(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes the tables as ``aerofed run --parquet`` does: ``rounds.parquet``, ``uavs.parquet``, ``devices.parquet``, ``events.parquet``."""
        return _written(folder, self._native.parquet())

    def map_svg(self) -> str | None:
        """The map of the last round as SVG."""
        return self._native.map_svg()

    def save(self, folder: str | os.PathLike[str], *, force: bool = False, parquet: bool = False) -> None:
        """Writes the run folder that ``aerofed run --out`` writes, with the tables as Parquet besides if asked for; ``force`` replaces a run that is there."""
        self._native.save(Path(folder), force)
        if parquet:
            self.parquet(folder)

    def __repr__(self) -> str:
        return self._native.summary_table().rstrip()

    def _repr_html_(self) -> str:
        return framed(self.report())


def _written(folder: str | os.PathLike[str], files: list[tuple[str, bytes]]) -> list[Path]:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, contents in files:
        (place / name).write_bytes(contents)
    return [place / name for name, _ in files]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run. ``run`` has the rounds that were done; ``aerofed.resume`` goes on with one that has a folder."""

    def __init__(self, done: Run, folder: Path | None) -> None:
        how = f"; aerofed.resume({str(folder)!r}) continues" if folder else ""
        super().__init__(f"interrupted after round {done.summary.rounds}{how}")
        self.run = done


def run(
    scenario: Scenario | str | os.PathLike[str] | None = None,
    *,
    method: str | Method | Part | None = None,
    seed: int | None = None,
    rounds: int | None = None,
    dry: bool = False,
    learner: Learner | None = None,
    threads: int | None = None,
    progress: Progress = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    checkpoint_every: int = 5,
) -> Run:
    """Runs a scenario to its end, as ``aerofed run`` does, to the same bits.

    :param scenario: a scenario, a name of ``aerofed.scenarios()``, or a file; none: the quick start.
    :param method: a name of ``aerofed.methods()``, or a method, or a part of one, written in Python.
    :param seed: the one number that all random draws hang on.
    :param rounds: global rounds at most.
    :param dry: nobody trains, accuracy follows a law fitted to real runs.
    :param learner: who trains and tests in place of the scenario's network and data.
    :param threads: worker threads; the results do not depend on it. None: all cores.
    :param progress: True for a bar on stderr, False for none, or a function that is called with every `Round`. None: a bar where
        somebody watches.
    :param out: a folder that the run is kept in, with checkpoints; none: it stays in memory.
    :param force: replaces a run that is there.
    :param checkpoint_every: rounds from one checkpoint to the next; 0: only when it is interrupted.

    Ctrl-C ends it after the current round with `Interrupted`, which has the rounds so far.
    """
    begun = Simulation(
        scenario,
        method=method,
        seed=seed,
        rounds=rounds,
        dry=dry,
        learner=learner,
        threads=threads,
        out=out,
        force=force,
        checkpoint_every=checkpoint_every,
    )
    return played(begun, progress, None if out is None else Path(out))


def resume(
    folder: str | os.PathLike[str],
    *,
    method: Method | Part | None = None,
    learner: Learner | None = None,
    threads: int | None = None,
    progress: Progress = None,
    checkpoint_every: int = 5,
) -> Run:
    """Goes on with a run that was interrupted or killed, to the same bytes as if it had never stopped; one that is finished is loaded.

    A run with parts or a learner in Python needs them again, as they were when it began.
    """
    place = Path(folder)
    how = as_method(method)
    if isinstance(how, str):
        raise TypeError(f"`method` is {how!r}, allowed: a method or a part written in Python; any other stands in the folder")
    own = None if how is None else how._native
    native = NativeSimulation.resume(place, own, learner, threads, checkpoint_every)
    if native is None:
        return load_run(place)
    return played(Simulation._of(native), progress, place)


def load_run(folder: str | os.PathLike[str]) -> Run:
    """Reads a run folder."""
    return Run(_aerofed.load_run(Path(folder)))


def played(simulation: Simulation, progress: Progress, folder: Path | None) -> Run:
    """Does the rounds that are left."""
    native = simulation._native
    try:
        if progress is True or (progress is None and is_watched()):
            with Bar(simulation.scenario.stop.max_rounds) as bar:
                native.play(bar.round, LOOK_EVERY_S)
        elif callable(progress):
            native.play(progress, 0.0)
        else:
            native.play(None, LOOK_EVERY_S)
    except KeyboardInterrupt:
        raise Interrupted(Run(native.finish()), folder) from None
    except BaseException:
        native.give_up()
        raise
    return Run(native.finish())

"""A run round by round."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._aerofed import NativeSimulation, Round
from ._parts import Learner, Method, Part, as_method
from ._scenario import Scenario, as_scenario

if TYPE_CHECKING:
    from ._run import Run


def changes_of(method: str | None, seed: int | None, rounds: int | None, dry: bool) -> dict[str, Any]:
    """The fields that the options of `run` are short for."""
    given = {
        "method": method,
        "learner": "surrogate" if dry else None,
        "seed": seed,
        "stop.max_rounds": rounds,
    }
    return {path: value for path, value in given.items() if value is not None}


class Simulation:
    """A run that is stepped by hand.

    >>> simulation = Simulation("quickstart", method="hfl", rounds=2)
    >>> [round.selected > 0 for round in simulation]
    [True, True]
    >>> simulation.finish().summary.rounds
    2
    """

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] | None = None,
        *,
        method: str | Method | Part | None = None,
        seed: int | None = None,
        rounds: int | None = None,
        dry: bool = False,
        learner: Learner | None = None,
        threads: int | None = None,
        out: str | os.PathLike[str] | None = None,
        force: bool = False,
        checkpoint_every: int = 5,
    ) -> None:
        """As `run`."""
        how = as_method(method)
        own = how._native if isinstance(how, Method) else None
        name = how.name if isinstance(how, Method) else how
        chosen = as_scenario(scenario, changes_of(name, seed, rounds, dry))
        place = None if out is None else Path(out)
        self._native = NativeSimulation(chosen._native, own, learner, threads, place, force, checkpoint_every)

    @classmethod
    def _of(cls, native: NativeSimulation) -> Simulation:
        simulation = cls.__new__(cls)
        simulation._native = native
        return simulation

    @property
    def scenario(self) -> Scenario:
        """What is run."""
        return Scenario(self._native.scenario)

    @property
    def rounds_done(self) -> int:
        """How many rounds are done."""
        return self._native.rounds()

    @property
    def is_over(self) -> bool:
        """Whether there is no round to come."""
        return self._native.is_over()

    @property
    def model(self) -> dict[str, NDArray[np.float32]]:
        """The global model as it stands, layer by layer."""
        return self._native.model()

    def step(self) -> Round | None:
        """One global round; None when the run is over."""
        return self._native.step()

    def finish(self) -> Run:
        """Sums the run up, and gives its folder, if it has one, its final name. One that is not over counts as interrupted."""
        from ._run import Run

        return Run(self._native.finish())

    def __iter__(self) -> Iterator[Round]:
        return self

    def __next__(self) -> Round:
        done = self.step()
        if done is None:
            raise StopIteration
        return done

"""Parts of methods, written in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._aerofed import NativeMethod
from ._views import Cell, Fleet, Job, Outcome, Plan, Scene, Task

Model = NDArray[np.float32]


class Part:
    """Something that decides. Every run gets a copy of its own (``copy.deepcopy``): one object can be passed to many runs.

    What a part carries from round to round are its attributes. Checkpoints hold them as JSON; a part with others says how they are
    kept in ``save`` and ``restore``.
    """

    name: str | None = None
    """What summaries and reports call a method with this part; None: the class's name."""

    def save(self) -> bytes:
        """What it carries from round to round."""
        try:
            return json.dumps(vars(self)).encode()
        except TypeError as error:
            kind = type(self).__name__
            raise TypeError(f"{kind} has attributes that are no JSON ({error}): define `save` and `restore`") from None

    def restore(self, saved: bytes) -> None:
        """Takes up what ``save`` gave."""
        vars(self).update(json.loads(saved))


class Association(Part):
    """Chooses the devices of every cell."""

    needs: Sequence[str] = ()
    """What it must be shown, because it costs seconds and joules to find out: "answers" (or "fitness", which are computed of them),
    "edge_models", "moves"."""

    def select(self, scene: Scene) -> Sequence[Sequence[int] | NDArray[np.integer[Any]]]:
        """For each UAV the devices that train with it: covered by it, and each with one UAV at most."""
        raise NotImplementedError

    def observe(self, outcome: Outcome) -> None:
        """Told at the end of a round how it went."""

    def _observes(self) -> bool:
        return type(self).observe is not Association.observe


class Allocation(Part):
    """Chooses local iterations and the bandwidth of each device."""

    def allocate(self, cell: Cell) -> Plan | tuple[int, Any, Any]:
        """The plan for a cell: H, and positive bandwidths that add up to no more than the cell has."""
        raise NotImplementedError


class Redeployment(Part):
    """Chooses new positions for UAVs, when one of them left or came back."""

    def redeploy(self, fleet: Fleet) -> Mapping[int, Sequence[float] | NDArray[np.floating[Any]]]:
        """For each UAV that moves, by its number, where it hovers from now on: inside the area, and within its spare energy."""
        raise NotImplementedError


class Aggregation(Part):
    """Merges models, at UAVs and at the aggregator."""

    def merge(self, models: Model, weights: NDArray[np.float64]) -> NDArray[np.floating[Any]]:
        """One model of several: ``models`` has a row for each, ``weights`` the samples behind it."""
        raise NotImplementedError


class Method:
    """A method of the program with some parts replaced by one's own, under a name of its own."""

    def __init__(
        self,
        name: str | None = None,
        *,
        base: str = "cehfed",
        association: Association | None = None,
        allocation: Allocation | None = None,
        redeployment: Redeployment | None = None,
        aggregation: Aggregation | None = None,
    ) -> None:
        parts: list[Part] = [part for part in (association, allocation, redeployment, aggregation) if part is not None]
        names = [part.name or type(part).__name__ for part in parts]
        self.name = name or "-".join(names) or base
        self._native = NativeMethod(self.name, base, association, allocation, redeployment, aggregation)

    def __repr__(self) -> str:
        return f"Method({self.name!r})"


def as_method(given: str | Part | Method | None) -> Method | str | None:
    """A method of which one part is given."""
    if isinstance(given, Association):
        return Method(association=given)
    if isinstance(given, Allocation):
        return Method(allocation=given)
    if isinstance(given, Redeployment):
        return Method(redeployment=given)
    if isinstance(given, Aggregation):
        return Method(aggregation=given)
    if given is None or isinstance(given, str | Method):
        return given
    raise TypeError(f"{given!r} is no method, allowed: a name of aerofed.methods(), an aerofed.Method, or one of its parts")


class Learner(Part):
    """Trains and tests in place of the simulator: any model, any data, any library. Time, energy, batteries, selection and merging are aerofed's.

    Models are flat arrays of ``task.parameters`` numbers (float32). The same calls in the same order must have the same answers: draw from ``job.seed``. A
    run has one copy of it, and calls it from one thread at a time. One that carries something from call to call, such as momenta of devices, says in
    ``save`` and ``restore`` how checkpoints hold it.
    """

    task: Task
    """What is learned, in numbers."""

    def _task(self) -> Task:
        return self.task

    def save(self) -> bytes:
        """What it carries from call to call; nothing unless overridden, whatever attributes it has."""
        return b""

    def restore(self, saved: bytes) -> None:
        """Takes up what ``save`` gave."""
        if saved:
            raise ValueError(f"a state of {len(saved)} bytes for {type(self).__name__}, which has no `restore`")

    def first_model(self) -> NDArray[np.floating[Any]]:
        """The global model before the first round."""
        raise NotImplementedError

    def train(self, job: Job) -> tuple[NDArray[np.floating[Any]], float]:
        """A device's trained model, and the mean loss of its steps. ``UpdateLost``: it never comes."""
        raise NotImplementedError

    def test(self, model: Model) -> tuple[float, float]:
        """Loss and accuracy (0 to 1) of a model on the test set."""
        raise NotImplementedError

    def probe(self, model: Model) -> tuple[float, float]:
        """The same on validation samples, which the controller may look at; as ``test`` unless overridden."""
        return self.test(model)

    def outputs(self, model: Model, device: int) -> NDArray[np.floating[Any]]:
        """Softmax outputs of a model on a device's small batch, class by class, for methods that compare models; empty: it does not answer."""
        return np.zeros(0, np.float32)

    def personal_model(self, uav: int, start: Model, epochs: int, round: int) -> NDArray[np.floating[Any]]:
        """A UAV's own model, trained on its own samples, for methods that compare models; ``start`` unless overridden."""
        return start

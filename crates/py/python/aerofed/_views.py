"""What parts written in Python look at, and what they may answer with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(slots=True)
class Devices:
    """All devices, an entry of each array for each."""

    position_m: Numbers
    """Where each is: a row of x and y, metres east and north of the area's corner."""
    tx_power_w: Numbers
    """Uplink transmit power."""
    cpu_hz: Numbers
    """Processor clock."""
    iteration_time_s: Numbers
    """Seconds of one local iteration."""
    iteration_energy_j: Numbers
    """Joules of one local iteration."""
    samples: NDArray[np.uint32]
    """Training samples held."""
    nearest: Whole
    """The nearest active UAV that covers it; -1: none does."""


@dataclass(slots=True)
class Uavs:
    """All UAVs, an entry of each array for each."""

    position_m: Numbers
    """Where each hovers: a row of x and y."""
    altitude_m: Numbers
    """Height above ground."""
    coverage_radius_m: Numbers
    """Ground distance up to which it covers devices."""
    battery_j: Numbers
    """Energy left."""
    full_j: Numbers
    """What a full battery gives."""
    bandwidth_up_hz: Numbers
    """Uplink bandwidth of its cell."""
    bandwidth_down_hz: Numbers
    """Downlink bandwidth of its cell."""
    active: NDArray[np.bool_]
    """Whether it serves devices now."""


@dataclass(slots=True)
class Answers:
    """What the devices that a UAV covers said about their data, in the order of its coverage."""

    differences: Numbers
    """How far each device's last local model is from the UAV's own."""
    rounds_idle: NDArray[np.uint32]
    """Rounds since each trained."""
    classes: Numbers
    """Mean probabilities of the classes in its data, a row for each device."""


@dataclass(slots=True)
class Scene:
    """What the controller sees at the start of a global round.

    The arrays of ``devices``, ``uavs`` and ``covered`` are read-only, and may be kept: they never change. One that would hold the same numbers as in the round before
    is that of the round before, so that nothing is copied of what stays as it is.
    """

    round: int
    """The global round, from 1."""
    clock_s: float
    """Simulated time."""
    loss: float
    """Loss of the global model on the validation samples."""
    accuracy: float
    """Its accuracy there."""
    devices: Devices
    """Everybody's place and means."""
    uavs: Uavs
    """The same of UAVs."""
    covered: list[Whole]
    """For each UAV the devices within its coverage, ascending."""
    answers: list[Answers]
    """For each UAV what its devices said; empty unless ``needs`` has "answers"."""
    fitness: list[Numbers]
    """For each UAV the fitness of the devices that it covers, in their order; empty unless ``needs`` has "fitness"."""
    seed: int
    """Differs from round to round and run to run, and is the same when the run is repeated."""
    _rng: np.random.Generator | None = field(default=None, repr=False)

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers of this round: the same when the run is repeated."""
        if self._rng is None:
            self._rng = np.random.default_rng(self.seed)
        return self._rng


@dataclass(slots=True)
class CellOutcome:
    """How a global round went for one UAV's cell."""

    uav: int
    selected: int
    energy_j: float
    time_s: float
    samples: float
    loss: float | None
    """Of its edge model; None unless ``needs`` has "edge_models"."""
    accuracy: float | None
    moved: float | None
    """How far the edge model moved; None unless ``needs`` has "moves"."""


@dataclass(slots=True)
class Outcome:
    """What the controller hears at the end of a global round."""

    round: int
    loss_before: float
    loss_after: float
    accuracy_before: float
    accuracy_after: float
    covered: int
    energy_j: float
    """What the round took, without flights and leaks."""
    time_s: float
    model_change: float
    cells: list[CellOutcome]
    devices: Whole
    """Who trained."""
    losses: Numbers
    """The mean loss of each of them."""
    edge_time_s: Numbers
    """Seconds that one edge round of each took."""


@dataclass(slots=True)
class Cell:
    """One UAV's cell in a round: who shares its bandwidth, and what time and energy are worth."""

    uav: int
    energy_weight: float
    time_weight: float
    hover_power_w: float
    broadcast_power_w: float
    bandwidth_up_hz: float
    bandwidth_down_hz: float
    model_bits_up: float
    model_bits_down: float
    snr_up_hz: Numbers
    """Received power over noise density of each device's uplink."""
    snr_down_hz: Numbers
    tx_power_w: Numbers
    iteration_time_s: Numbers
    iteration_energy_j: Numbers

    def __len__(self) -> int:
        return len(self.snr_up_hz)


class Plan(NamedTuple):
    """The decision for a cell; bandwidths are in the order of its devices."""

    local_iterations: int
    bandwidth_up_hz: Sequence[float] | Numbers
    bandwidth_down_hz: Sequence[float] | Numbers


@dataclass(slots=True)
class Fleet:
    """What a redeployment looks at: UAVs in the air, and the devices below."""

    width_m: float
    height_m: float
    devices_m: Numbers
    """Where the devices are: a row of x and y for each."""
    ids: list[int]
    """The numbers of the UAVs, which the arrays below are in the order of."""
    position_m: Numbers
    coverage_radius_m: Numbers
    altitude_m: Numbers
    spare_j: Numbers
    """Energy that each may spend on moving."""
    reach_m: Numbers
    """How far that takes it."""
    seed: int


@dataclass(slots=True)
class Job:
    """One device's work in an edge round."""

    device: int
    uav: int
    model: NDArray[np.float32]
    """The model it starts from, flat; a copy of its own, which may be changed."""
    local_iterations: int
    """SGD steps (H)."""
    proximal: float
    """Pull towards the model that it starts from (FedProx); 0: none."""
    seed: int
    """Differs from device to device and edge round to edge round, and is the same when the run is repeated."""


class UpdateLost(Exception):
    """Raised by a learner's ``train``: this update never comes. The run goes on and tells of it, with the words of the exception."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is learned, in numbers: what seconds and joules follow from."""

    parameters: int
    """Numbers of a model: what is sent, merged and paid for."""
    device_samples: Sequence[int]
    """Training samples of each device."""
    personal_samples: Sequence[int]
    """Samples of each UAV's own, for methods that compare models; 0: none."""
    sample_bits: float
    """Size of one training sample."""
    classes: int = 1
    """Classes that the model tells apart."""
    small_batch: int = 1
    """Samples on which a device compares models."""

"""Federated learning where the aggregators fly.

>>> import aerofed
>>> scenario = aerofed.Scenario.load("quickstart", **{"stop.max_rounds": 2, "model.name": "logistic"})
>>> run = aerofed.run(scenario, method="hfl", progress=False)
>>> run.summary.rounds
2
"""

from ._aerofed import VERSION as __version__
from ._aerofed import Round, defaults
from ._experiments import Comparison, Sweep, compare, sweep
from ._fields import Fields
from ._library import methods, scenarios
from ._parts import Aggregation, Allocation, Association, Learner, Method, Part, Redeployment
from ._plans import allocate, deploy
from ._run import Interrupted, Run, load_run, resume, run
from ._scenario import Scenario
from ._simulation import Simulation
from ._table import Table
from ._views import Answers, Cell, CellOutcome, Devices, Fleet, Job, Outcome, Plan, Scene, Task, Uavs, UpdateLost

__all__ = [
    "Aggregation",
    "Allocation",
    "Answers",
    "Association",
    "Cell",
    "CellOutcome",
    "Comparison",
    "Devices",
    "Fields",
    "Fleet",
    "Interrupted",
    "Job",
    "Learner",
    "Method",
    "Outcome",
    "Part",
    "Plan",
    "Redeployment",
    "Round",
    "Run",
    "Scenario",
    "Scene",
    "Simulation",
    "Sweep",
    "Table",
    "Task",
    "Uavs",
    "UpdateLost",
    "__version__",
    "allocate",
    "compare",
    "defaults",
    "deploy",
    "load_run",
    "methods",
    "resume",
    "run",
    "scenarios",
    "sweep",
]

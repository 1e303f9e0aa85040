"""Federated learning where the aggregators fly.

>>> import aerofed
>>> scenario = aerofed.Scenario.load("quickstart", **{"stop.max_rounds": 2, "model.name": "logistic"})
>>> run = aerofed.run(scenario, method="hfl", progress=False)
>>> run.summary.rounds
2
"""

from ._aerofed import VERSION as __version__
from ._aerofed import Round, defaults
from ._fields import Fields
from ._library import methods, scenarios
from ._run import Interrupted, Run, load_run, resume, run
from ._scenario import Scenario
from ._simulation import Simulation
from ._table import Table

__all__ = [
    "Fields",
    "Interrupted",
    "Round",
    "Run",
    "Scenario",
    "Simulation",
    "Table",
    "__version__",
    "defaults",
    "load_run",
    "methods",
    "resume",
    "run",
    "scenarios",
]

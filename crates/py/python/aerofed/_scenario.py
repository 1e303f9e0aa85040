"""What is run: one TOML file, every field with a default."""

from __future__ import annotations

import os
import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any

from ._aerofed import NativeScenario
from ._fields import Fields, unknown
from ._toml import settings


class Scenario:
    """A scenario whose fields are all in their ranges; it does not change.

    Tables are attributes: ``scenario.uavs.count``. ``with_`` makes another scenario. What is wrong is a ``ValueError`` with the words
    of the command line: field, value, what is allowed, and what was probably meant.
    """

    def __init__(self, native: NativeScenario) -> None:
        self._native = native

    @classmethod
    def load(cls, name: str | os.PathLike[str] | None = None, /, **changes: Any) -> Scenario:
        """The scenario of the library that has this name (``aerofed.scenarios()``), or else the file; without a name the quick start.

        Changes are as in ``with_``, and laid over the file as ``--set`` does.
        """
        return cls(NativeScenario.open(None if name is None else Path(name), settings(changes)))

    @classmethod
    def toml(cls, text: str, /, **changes: Any) -> Scenario:
        """A scenario written as TOML; what the text leaves out is at its default."""
        return cls(NativeScenario.parse(text, settings(changes)))

    def with_(self, **changes: Any) -> Scenario:
        """The same with other values: ``scenario.with_(seed=3, **{"uavs.count": 7})``."""
        return Scenario(NativeScenario.parse(self.to_toml(), settings(changes)))

    def to_toml(self) -> str:
        """Every field, as TOML: the ``scenario.toml`` of a run."""
        return self._native.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """Every field, as nested dictionaries."""
        return tomllib.loads(self.to_toml())

    def changes(self) -> dict[str, Any]:
        """The fields that differ from the defaults, by their paths."""
        found = {}
        for path, value, _ in self._native.changes():
            found[path] = None if value is None else tomllib.loads(f"value = {value}")["value"]
        return found

    def warnings(self) -> list[str]:
        """Values that hardly anybody means, a sentence each."""
        return self._native.warnings()

    @cached_property
    def _fields(self) -> Fields:
        return Fields(self.to_dict(), "a scenario")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        fields = self._fields
        if name not in fields:
            raise AttributeError(unknown(name, "a scenario", list(fields)))
        return fields[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (Scenario.toml, (self.to_toml(),))

    def __repr__(self) -> str:
        changed = ", ".join(f"{path}={value!r}" for path, value in self.changes().items())
        return f"Scenario({changed})"


def as_scenario(given: Scenario | str | os.PathLike[str] | None, changes: dict[str, Any]) -> Scenario:
    """A scenario, or the one that a name or path means, with changes."""
    if isinstance(given, Scenario):
        return given.with_(**changes) if changes else given
    return Scenario.load(given, **changes)

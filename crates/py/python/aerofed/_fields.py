"""Tables of named values, read as attributes or as a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ._aerofed import meant


class Fields(Mapping[str, Any]):
    """Named values: ``fields.name`` and ``fields["name"]`` are the same."""

    __slots__ = ("_values", "_what")

    def __init__(self, values: Mapping[str, Any], what: str = "fields") -> None:
        self._values = {name: _wrapped(value, name) for name, value in values.items()}
        self._what = what

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(unknown(name, self._what, list(self._values))) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return f"{self._what} {self.to_dict()!r}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists."""
        return {name: plain(value) for name, value in self._values.items()}


def unknown(name: str, what: str, known: list[str]) -> str:
    """The refusal of a name that is none of those there are."""
    near = meant(name, known)
    hint = f"; did you mean `{near}`?" if near else f", allowed: {', '.join(known)}"
    return f"no `{name}` in {what}{hint}"


def _wrapped(value: Any, what: str) -> Any:
    if isinstance(value, dict):
        return Fields(value, what)
    if isinstance(value, list):
        return [_wrapped(entry, what) for entry in value]
    return value


def plain(value: Any) -> Any:
    """What fields were made of."""
    if isinstance(value, Fields):
        return value.to_dict()
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value

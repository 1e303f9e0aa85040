"""What comes with the program."""

from __future__ import annotations

from . import _aerofed


def scenarios() -> dict[str, str]:
    """The scenarios that ``Scenario.load`` knows by name, with a sentence about each."""
    return dict(_aerofed.scenarios())


def methods() -> dict[str, str]:
    """The methods that ``run`` and ``compare`` know by name, with a line about each."""
    return dict(_aerofed.methods())

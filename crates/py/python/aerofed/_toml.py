"""Python values as TOML writes them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._fields import Fields, plain


def settings(changes: Mapping[str, Any]) -> list[str]:
    """Changes of fields as the command line's `path=value`."""
    return [f"{path}={literal(value)}" for path, value in changes.items()]


def literal(value: Any) -> str:
    """One value."""
    if isinstance(value, Fields):
        value = plain(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, os.PathLike):
        return _text(os.fspath(value))
    if isinstance(value, Mapping):
        entries = (f"{_text(str(name))} = {literal(entry)}" for name, entry in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(literal(entry) for entry in value) + "]"
    raise TypeError(f"{value!r} cannot be a value of a scenario, allowed: numbers, texts, lists and dictionaries")


def _float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def _text(value: str) -> str:
    # Escapes of JSON are those of TOML, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

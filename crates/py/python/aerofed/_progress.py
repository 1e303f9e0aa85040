"""How far a run is, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import TracebackType
from typing import Any, TextIO

from ._aerofed import Round

Watch = Callable[[Round], object]


class Bar:
    """A bar of rounds: tqdm's where it is installed, a line of text otherwise. Used as a context."""

    def __init__(self, total: int, unit: str = "round") -> None:
        self._total = total
        self._unit = unit
        self._tqdm: Any = _tqdm_bar(total, unit)
        self._width = 0

    def __call__(self, done: int, words: str) -> None:
        if self._tqdm is not None:
            self._tqdm.set_postfix_str(words, refresh=False)
            self._tqdm.update(done - self._tqdm.n)
            return
        filled = WIDTH * done // max(self._total, 1)
        bar = "=" * filled + ">" * (filled < WIDTH) + " " * (WIDTH - filled - 1)
        line = f"{self._unit} {done}/{self._total} [{bar}] {words}"
        self._write("\r" + line.ljust(self._width))
        self._width = len(line)

    def round(self, record: Round) -> None:
        """Shows a round of a run."""
        energy_kj = record.cumulative_energy_j / 1e3
        self(record.round, f"accuracy {100 * record.test_accuracy:.1f} %, {record.clock_s:.1f} s, {energy_kj:.1f} kJ")

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._width:
            self._write("\n")

    @staticmethod
    def _write(text: str) -> None:
        stream: TextIO | None = sys.stderr
        if stream is not None:
            stream.write(text)
            stream.flush()


WIDTH = 30


def _tqdm_bar(total: int, unit: str) -> Any:
    try:
        tqdm = import_module("tqdm.auto")
    except ImportError:
        return None
    return tqdm.tqdm(total=total, unit=unit)


def is_watched() -> bool:
    """Whether a person looks at stderr: a terminal, or a notebook."""
    if "ipykernel" in sys.modules:
        return True
    stream: TextIO | None = sys.stderr
    return stream is not None and stream.isatty()

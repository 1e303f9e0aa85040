"""Tables that other tools read without a copy."""

from __future__ import annotations

import html
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ._aerofed import NativeTable
from ._fields import unknown


class Table:
    """A table in memory, as Arrow has it.

    Whatever knows the Arrow PyCapsule interface takes it as it is, without a copy: ``pyarrow.table(table)``,
    ``polars.DataFrame(table)``, ``duckdb.sql("select * from table")``. ``table["name"]`` is one column.
    """

    def __init__(self, native: NativeTable) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _, _ in self._native.columns()]

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one."""
        return {name: unit for name, unit, _ in self._native.columns() if unit}

    @property
    def descriptions(self) -> dict[str, str]:
        """What each column means."""
        return {name: meaning for name, _, meaning in self._native.columns()}

    def __getitem__(self, column: str) -> Any:
        """A column: a numpy array (a copy) where every row has a number, a list otherwise."""
        if column not in self.columns:
            raise KeyError(unknown(column, "the table", self.columns))
        return self._native.column(column)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` over the same memory (columns of ``pandas.ArrowDtype``); needs pandas and pyarrow."""
        pandas = import_module("pandas")
        return self.to_pyarrow().to_pandas(types_mapper=pandas.ArrowDtype)

    def to_polars(self) -> Any:
        """A ``polars.DataFrame`` over the same memory; needs polars."""
        return import_module("polars").DataFrame(self)

    def to_pyarrow(self) -> Any:
        """A ``pyarrow.Table`` over the same memory; needs pyarrow."""
        return import_module("pyarrow").table(self)

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self.columns)})"

    def _repr_html_(self) -> str:
        first = self._native.head(SHOWN_ROWS)
        shown = [(name, first.column(name)) for name in self.columns]
        rows = range(len(first))
        head = "".join(f"<th>{html.escape(name)}</th>" for name, _ in shown)
        body = "".join("<tr>" + "".join(f"<td>{_cell(column[row])}</td>" for _, column in shown) + "</tr>" for row in rows)
        more = f"<p>{len(self)} rows</p>" if len(self) > SHOWN_ROWS else ""
        return f"<div style='overflow-x: auto'><table><tr>{head}</tr>{body}</table>{more}</div>"


SHOWN_ROWS = 10


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return html.escape(str(value))

#!/usr/bin/env python3
"""Executes the notebooks, each in a folder of its own that is removed afterwards. Needs nbclient, ipykernel, matplotlib, pandas and pyarrow.

python scripts/run_notebooks.py [NAME...]      # first_flight, comparison, own_rule; none: all
"""

import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "examples/python/notebooks"


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    for name in names:
        notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        nbformat.validate(notebook)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            NotebookClient(notebook, timeout=600, resources={"metadata": {"path": place}}).execute()
            shown = sum("text/html" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
            left = ", ".join(sorted(path.name for path in Path(place).iterdir())) or "nothing"
        print(f"{name}: {len(notebook.cells)} cells in {time.monotonic() - began:.0f} s, {shown} of them shown as pages or tables; it wrote {left}")


if __name__ == "__main__":
    main()

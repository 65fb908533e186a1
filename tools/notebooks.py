"""Make notebooks from scripts in examples/: cells begin at "# %%" lines, and are run.

    python tools/notebooks.py                 # examples/notebooks/*.ipynb
    python tools/notebooks.py --pictures docs/images     # and the first figure of each as a PNG

A script stays a script: a notebook also shows the figures that a cell makes, and its last expression.
"""

from __future__ import annotations

import argparse
import base64
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ("embedding", "riverswim")
SETUP = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def cells(script: str) -> list[nbformat.NotebookNode]:
    """The cells of a script: "# %% [markdown]" begins text in comments, "# %%" code."""
    found = []
    for i, (kind, body) in enumerate(re.findall(r"^# %%(.*)\n((?:(?!# %%).*\n?)*)", script, re.MULTILINE)):
        if "[markdown]" in kind:
            cell = nbformat.v4.new_markdown_cell(re.sub(r"^# ?", "", body.strip(), flags=re.MULTILINE))
        else:
            cell = nbformat.v4.new_code_cell(body.strip())
        cell["id"] = f"cell-{i}"  # random by default: equal scripts give equal notebooks
        found.append(cell)
    return found


def made(name: str) -> nbformat.NotebookNode:
    """The notebook of an example, run in a kernel of its own; an error of a cell is raised."""
    script = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=cells(script), metadata=SETUP)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    notebook.metadata = nbformat.from_dict(SETUP)  # not the version that it was run with
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not _bare(output)]
    return notebook


def _bare(output: nbformat.NotebookNode) -> bool:
    """Whether all there is to show is what Python calls a value, such as a legend at its address."""
    return output.output_type == "execute_result" and set(output.data) == {"text/plain"}


def figures(notebook: nbformat.NotebookNode) -> list[bytes]:
    """Every PNG that a notebook shows."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode(text) for text in shown]


def main() -> None:
    """Write the notebooks, and their pictures where wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, metavar="DIR")
    pictures = parser.parse_args().pictures
    (EXAMPLES / "notebooks").mkdir(exist_ok=True)
    for name in NAMES:
        notebook = made(name)
        nbformat.write(notebook, EXAMPLES / "notebooks" / f"{name}.ipynb")
        if pictures is not None:
            (pictures / f"example-{name}.png").write_bytes(figures(notebook)[0])


if __name__ == "__main__":
    main()

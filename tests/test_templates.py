"""Every template passes its own checker in under 60 lines, and the checker sees when it is broken."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TEMPLATES = sorted((Path(__file__).parents[1] / "templates").glob("*.py"))
# In each a slip that its author might make: (what stands there, what would be wrong, what the checker says).
SLIPS = {
    "agent": ("self._rng(1, len(self.history))", "np.random.default_rng()", "seed"),
    "embedding": ("np.sqrt(self.lam * np.einsum", "np.sqrt(np.einsum", "σ² is not k(z, z)"),
    "environment": ("self.np_random.normal()", "np.random.normal()", "seed"),
    "kernel": ("np.maximum(near, 0.0).prod(axis=-1)", "near.min(axis=-1)", "eigenvalue"),
}


def run(path: Path) -> int:
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(path), run_name="__main__")
    return int(stopped.value.code or 0)


def test_there_is_one_for_each_kind() -> None:
    assert [path.stem for path in TEMPLATES] == ["agent", "embedding", "environment", "kernel"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_is_short_and_passes_its_checker(template: Path, capsys) -> None:
    assert len(template.read_text(encoding="utf-8").splitlines()) < 60
    assert run(template) == 0, capsys.readouterr().out


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_its_checker_sees_a_slip(template: Path, capsys, tmp_path: Path) -> None:
    right, wrong, said = SLIPS[template.stem]
    text = template.read_text(encoding="utf-8")
    assert right in text
    broken = tmp_path / template.name
    renamed = text.replace("Triangular", "Slipped")  # the names of kernels are taken
    broken.write_text(renamed.replace(right, wrong), encoding="utf-8")
    assert run(broken) == 1
    assert said in capsys.readouterr().out

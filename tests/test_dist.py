"""What a release shows on an index: links that lead somewhere from anywhere, and addresses in the metadata."""

from __future__ import annotations

import re
import tomllib

import dist  # tools/dist.py

ADDRESS = "https://example.org/cmerl"


def test_links_become_absolute_and_others_stay() -> None:
    text = "[a](docs/a.md#b) ![c](images/c.png) [d](https://d.org/x.md) [e](#e) f(x)"
    assert dist.absolute(text, ADDRESS, "v1") == (
        f"[a]({ADDRESS}/blob/v1/docs/a.md#b) ![c]({ADDRESS}/raw/v1/images/c.png) [d](https://d.org/x.md) [e](#e) f(x)"
    )


def test_the_readme_of_a_release_has_no_relative_link() -> None:
    readme = dist.absolute((dist.ROOT / "README.md").read_text(encoding="utf-8"), ADDRESS, "main")
    links = re.findall(r"\]\(([^)\s]+)\)", readme)
    assert len(links) > 10
    assert all(link.startswith(("https://", "#")) for link in links)


def test_a_citation_names_the_repository() -> None:
    text = (dist.ROOT / "CITATION.cff").read_text(encoding="utf-8") + dist.citation(ADDRESS)
    lines = text.splitlines()
    assert lines[-1] == f'repository-code: "{ADDRESS}"'
    assert not any(line.startswith("repository-code") for line in lines[:-1])


def test_addresses_join_the_metadata() -> None:
    metadata = (dist.ROOT / "pyproject.toml").read_text(encoding="utf-8") + dist.urls(ADDRESS, "main")
    project = tomllib.loads(metadata)["project"]
    assert project["urls"]["Repository"] == ADDRESS
    assert project["name"] == "cmerl"


def test_versions_agree() -> None:
    import cmerl

    project = tomllib.loads((dist.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (dist.ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert project["version"] == cmerl.__version__
    assert f"\nversion: {cmerl.__version__}\n" in citation

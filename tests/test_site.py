"""The site: built strictly, then every page opened in a real browser, wide and narrow, light and dark."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import browser
import pytest
import site_pages

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = pytest.importorskip("mkdocs.commands.build")
    from mkdocs.config import load_config

    place = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(place), strict=True)
        logging.getLogger("mkdocs").setLevel(logging.WARNING)
        build.build(config)  # strict: a dead link or a missing page raises
    return place


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if not (browser.CHROMIUM and browser.DRIVER):
        pytest.skip("NOT RUN: no browser here; apt-get install chromium chromium-driver")
    with browser.open_browser(tmp_path_factory.mktemp("profile")) as opened:
        forget = "try { localStorage.clear() } catch (error) {}"  # where the theme keeps a light that was chosen
        opened.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": forget})
        yield opened


@pytest.mark.filterwarnings("default")  # of the site's builder
def test_every_page_is_readable_on_any_screen_in_any_light_and_asks_for_nothing(site: Path, driver: Any) -> None:
    pages = sorted(path for path in site.rglob("*.html") if path.name != "404.html")
    assert len(pages) > 25
    for page in pages:
        name = page.relative_to(site).as_posix()
        for width, dark in ((1400, False), (420, True)):
            browser.size(driver, width, dark=dark)
            driver.get(page.as_uri())
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width, (name, width)
            assert browser.complaints(driver) == [], name
            ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert (sum(int(v) for v in ground.strip("rgba()").split(",")[:3]) < 300) == dark, (name, ground)
        assert all(url.startswith("file:") for url in browser.requests(driver)), name
        hrefs = "return [...document.querySelectorAll('article a[href], article img[src]')].map(e => e.href || e.src)"
        for target in driver.execute_script(hrefs):
            if target.startswith("file:"):
                assert Path(target.removeprefix("file://").partition("#")[0]).exists(), (name, target)


def test_examples_of_docstrings_are_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def add() -> None:
        pass

    add.__doc__ = "It adds.\n\n>>> for i in (1, 2):\n...     i * 3\n3\n6\n\nArgs:\n    x: a_b.\n\n>>> 1\n1"
    monkeypatch.setattr(site_pages, "MODULES", ["cmerl"])
    monkeypatch.setattr(site_pages, "public_names", lambda module: [("add", add)])
    text = site_pages.api_page().rstrip()
    assert "```pycon\n>>> for i in (1, 2):\n...     i * 3\n3\n6\n```\n" in text
    assert "- `x`: a\\_b." in text
    assert text.endswith("```pycon\n>>> 1\n1\n```")


def test_formulas_become_mathml() -> None:
    made = site_pages.on_page_content(r'<span class="arithmatex">\(\sigma^2 &lt; \lambda\)</span>', None, None, None)
    assert made.startswith("<math")
    assert "<msup>" in made
    assert "&#x0003C;" in made  # less than
    assert "arithmatex" not in made


@pytest.mark.parametrize("module", site_pages.MODULES)
def test_every_public_name_is_documented(module: str) -> None:
    for name, thing in site_pages.public_names(module):
        if callable(thing):
            assert inspect.getdoc(thing), f"{module}.{name} has no docstring"
        for method, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not method.startswith("_") and isinstance(value, FunctionType | property | classmethod | staticmethod):
                assert inspect.getdoc(getattr(thing, method)), f"{module}.{name}.{method} has no docstring"


def test_the_import_graph_has_every_layer_and_only_arcs_that_go_down() -> None:
    depth = {name: i for i, layer in enumerate(site_pages.layers()) for name in layer}
    found = site_pages.imports()
    assert ("planning", "optimism") in found
    assert all(depth[a] < depth[b] for a, b in found if a != b)
    drawn = site_pages.import_graph()
    assert all(f">{name}</text>" in drawn for name in depth)


@pytest.mark.filterwarnings("default")
def test_the_search_finds_pages_without_a_server(site: Path, driver: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    browser.size(driver, 1400)
    driver.get((site / "index.html").as_uri())
    driver.execute_script("document.querySelector('label[for=__search]').click()")
    driver.find_element("css selector", ".md-search__input").send_keys("misspecification")
    found = "return [...document.querySelectorAll('.md-search-result__link')].map(e => e.href)"
    WebDriverWait(driver, browser.PATIENCE).until(lambda d: d.execute_script(found))
    assert any("guarantees.html" in href for href in driver.execute_script(found))
    assert browser.complaints(driver) == []

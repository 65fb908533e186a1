"""The page in a real browser. Without chromium and chromium-driver these tests are reported as not run."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import pytest
import rundirs

from cmerl import experiments
from cmerl.report import watch, write_page

pytestmark = pytest.mark.skipif(
    not (browser.CHROMIUM and browser.DRIVER),
    reason="NOT RUN: no browser here; apt-get install chromium chromium-driver",
)

HOSTILE = rundirs.HOSTILE


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Iterator[Any]:
    with browser.open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    """The page of a run that has everything: real maps, every metric, a name with markup."""
    path = tmp_path_factory.mktemp("browser") / "run"
    worlds = ["cmerl/GridWorld-v0", {"id": "cmerl/PBall2D-v0", "label": HOSTILE}]
    experiments.run({"environments": worlds, "agents": ["cme-rl"], "episodes": 4, "jobs": 1}, out=path)
    with open(path / "episodes.jsonl", "w", encoding="utf-8") as file:
        for env in ("cmerl/GridWorld-v0", HOSTILE):
            for i, agent in enumerate(("cme-rl", HOSTILE, "random")):
                for seed in range(3):
                    rows = rundirs.lines(env, agent, seed, 30, power=0.4 + 0.3 * i, rich=i == 0)
                    file.writelines(json.dumps(row) + "\n" for row in rows)
    return write_page(path).as_uri()


@pytest.fixture(scope="module")
def page(driver, address) -> Any:
    """The page, opened once for all tests: each leaves it as it was, or does not mind."""
    browser.size(driver, 1440)
    browser.show(driver, address)
    return driver


def script(driver: Any, text: str) -> Any:
    return driver.execute_script(f"return {text}")


def names_drawn(driver: Any, figure: str) -> set[str]:
    return set(script(driver, f"document.getElementById('{figure}').data.map(t => t.name).filter(n => n)"))


def test_every_figure_and_map_is_drawn_without_complaint_or_request(page, address) -> None:
    wanted = script(page, "Object.keys(data.figures)")
    assert len(wanted) == 2 * 9 + 2
    for figure in wanted:
        assert script(page, f"document.getElementById('{figure}').querySelectorAll('.trace').length") > 0, figure
    for i in range(2):
        for layer in ("value", "sigma", "visits", "policy"):
            assert script(page, f"document.getElementById('env-{i}-map-{layer}').querySelectorAll('.hm').length") == 1
    assert browser.complaints(page) == []
    assert set(browser.requests(page)) == {address}


def test_names_with_markup_show_as_text(page) -> None:
    assert HOSTILE in script(page, "[...document.querySelectorAll('h2')].map(h => h.textContent)")
    assert HOSTILE in script(page, "[...document.querySelectorAll('.agents button')].map(b => b.textContent.trim())")
    ticks = script(page, "[...document.querySelectorAll('#compare-iqm .ytick text')].map(t => t.textContent)")
    assert HOSTILE in ticks
    assert script(page, "document.querySelectorAll('main script').length") == 0


def test_axes_agents_and_intervals_can_be_switched(page) -> None:
    regret = "document.getElementById('env-0-regret')"
    assert script(page, f"{regret}.layout.xaxis.type ?? 'linear'") == "linear"
    page.find_element("css selector", "[data-axes=log]").click()
    assert script(page, f"{regret}.layout.xaxis.type") == script(page, f"{regret}.layout.yaxis.type") == "log"
    assert len(script(page, f"[...{regret}.querySelectorAll('.ytick')].map(t => t.textContent)")) >= 2
    page.find_element("css selector", "[data-axes=linear]").click()
    assert script(page, f"{regret}.layout.xaxis.type ?? 'linear'") == "linear"

    assert {"cme-rl", "random"} <= names_drawn(page, "env-0-regret")
    button = page.find_element("css selector", "[data-agent='2']")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert "random" not in names_drawn(page, "env-0-regret")
    assert "random" not in names_drawn(page, "env-1-return")
    button.click()
    assert "random" in names_drawn(page, "env-0-regret")

    traces = script(page, f"{regret}.data.length")
    bands = page.find_element("css selector", "[data-bands]")
    bands.click()
    assert script(page, f"{regret}.data.length") == traces // 2
    bands.click()
    assert script(page, f"{regret}.data.length") == traces
    assert browser.complaints(page) == []


def test_the_slider_goes_through_episodes_and_the_maps_follow(page) -> None:
    block = "document.querySelector('[data-maps=env-0]')"
    total = "document.getElementById('env-0-map-visits').data[0].text.flat().reduce((a, b) => a + Number(b), 0)"
    seen = []
    for place in range(3):
        move = f"s => {{ s.value = {place}; s.dispatchEvent(new Event('input')); }}"
        script(page, f"({move})({block}.querySelector('input'))")
        seen.append((script(page, f"{block}.querySelector('output').textContent"), script(page, total)))
    assert seen == [("1", 20), ("2", 40), ("4", 80)]  # every episode has twenty steps


def test_single_seeds_can_be_shown(page) -> None:
    regret = "document.getElementById('env-0-regret')"
    before = script(page, f"{regret}.data.length")
    button = page.find_element("css selector", "[data-seeds]")
    button.click()
    assert script(page, f"{regret}.data.length") == before + 9  # three agents of three seeds
    button.click()
    assert script(page, f"{regret}.data.length") == before
    assert browser.complaints(page) == []


def test_a_printed_page_fits_a4(page, address) -> None:
    """A browser asks for figures first, on the screen as it is, and lays out for paper afterwards."""
    browser.size(page, 1440, dark=True)
    browser.show(page, address)
    plots = "[...document.querySelectorAll('.plot:not([hidden])')].filter(e => e.querySelector('.main-svg'))"
    sizes = f"{plots}.map(e => [e._fullLayout.width, e._fullLayout.height])"
    figures = page.execute_script(f"window.dispatchEvent(new Event('beforeprint')); return {sizes}")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    rooms = script(page, f"{plots}.map(e => [e.clientWidth, e.clientHeight])")
    assert len(figures) == len(rooms) > 20
    for figure, room in zip(figures, rooms, strict=True):  # no figure lies over its neighbour
        assert figure[0] <= room[0] + 1
        assert figure[1] <= room[1] + 1
    assert contrast(page, "#env-0-regret .ytick text") >= 4.5  # dark ink, whatever the screen's light is

    width = round((210 - 2 * 14) / 25.4 * 96)  # the style sheet's margins, in CSS pixels
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    assert script(page, "document.documentElement.scrollWidth") <= width
    boxes = "[...document.querySelectorAll('.main-svg, table, td, pre, figure')]"
    assert max(script(page, f"{boxes}.map(e => e.getBoundingClientRect().right)")) <= width + 1

    browser.size(page, 1440)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    page.execute_script("window.dispatchEvent(new Event('afterprint'))")
    script(page, "new Promise(done => setTimeout(done, 300))")
    wide = "document.querySelector('#env-0-regret')"
    assert script(page, f"Math.abs({wide}.clientWidth - {wide}.querySelector('.main-svg').clientWidth)") <= 1
    browser.show(page, address)


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_readable_on_any_screen_in_any_light(page, width: int, dark: bool) -> None:
    browser.size(page, width, dark=dark)
    script(page, "new Promise(done => setTimeout(done, 300))")  # figures follow the screen's size
    assert script(page, "document.documentElement.scrollWidth") <= width  # nothing to scroll sideways for
    texts = "[...document.querySelectorAll('h1, h2, h3, p, td, tbody th, button, .plot, .plot text')]"
    shown = f"{texts}.filter(e => e.textContent.trim() && e.getBoundingClientRect().width)"
    assert script(page, f"{shown}.filter(e => e.getBoundingClientRect().right > {width} + 1).length") == 0
    assert script(page, f"Math.min(...{shown}.map(e => parseFloat(getComputedStyle(e).fontSize)))") >= 10
    for element in ("h1", "p", ".quiet", ".alarm", "#env-0-regret .ytick text"):
        assert contrast(page, element) >= 4.5, element


def contrast(driver: Any, selector: str) -> float:
    """WCAG's contrast ratio of a text on the page's ground."""
    style = f"getComputedStyle(document.querySelector({json.dumps(selector)}))"
    ink = script(driver, f"{style}.fill" if "text" in selector else f"{style}.color")
    ground = script(driver, "getComputedStyle(document.body).backgroundColor")
    light = [luminance([float(v) for v in re.findall(r"[\d.]+", colour)[:3]]) for colour in (ink, ground)]
    return (max(light) + 0.05) / (min(light) + 0.05)


def luminance(rgb: list[float]) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_live_page_follows_the_run_and_says_when_nobody_serves_it(driver, tmp_path) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    rundirs.make(tmp_path, envs=("E",), agents=("a",), seeds=1, episodes=3)
    browser.complaints(driver)
    browser.requests(driver)
    server = watch.Server(tmp_path)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        browser.size(driver, 1440)
        browser.show(driver, server.address)
        append(tmp_path, rundirs.lines("E", "a", 0, 9)[3:])
        wait = WebDriverWait(driver, browser.PATIENCE)
        wait.until(lambda d: "1 × 9" in script(d, "document.querySelector('table').textContent"))
        wait.until(lambda d: script(d, "document.getElementById('env-0-return').data.at(-1).x.length") == 9)
        append(tmp_path, rundirs.lines("E", "b", 0, 9))  # a new agent: the page is laid out anew
        wait.until(lambda d: script(d, "document.querySelectorAll('.agents button').length") == 2)
        assert browser.complaints(driver) == []
        assert all(url.startswith(server.address) for url in browser.requests(driver))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    WebDriverWait(driver, browser.PATIENCE).until(
        lambda d: script(d, "document.querySelectorAll('.gone').length") == 1
    )


def append(path: Path, rows: list[dict[str, Any]]) -> None:
    with open(path / "episodes.jsonl", "a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)

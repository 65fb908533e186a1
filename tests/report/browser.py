"""A real browser, driven headless: Chromium or Chrome, with its driver."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PATIENCE = 300.0  # seconds, on a machine with much else to do
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]


@contextmanager
def open_browser(profile: Path) -> Iterator[Any]:
    """A browser with an empty profile that records its console and its requests."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(executable_path=str(DRIVER)))
    try:
        driver.get("about:blank")
        driver.get_log("performance")  # what the browser's own first tab has loaded
        yield driver
    finally:
        driver.quit()


def size(driver: Any, width: int, height: int = 900, *, dark: bool = False) -> None:
    """Another screen, in another light."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def show(driver: Any, address: str) -> None:
    """Open a page and draw all of it."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get(address)
    WebDriverWait(driver, PATIENCE).until(lambda d: d.execute_script("return document.body.dataset.ready === 'true'"))
    driver.execute_script("everything()")
    WebDriverWait(driver, PATIENCE).until(
        lambda d: d.execute_script(
            "return [...document.querySelectorAll('.plot:not([hidden])')].every(e => e.querySelector('.main-svg'))"
        )
    )


def picture(driver: Any, path: Path, *, whole: bool = True) -> None:
    """The page as PNG."""
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole, "format": "png"})
    if whole:
        content = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": content["width"], "height": content["height"], "scale": 1}
        shot = driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png", "clip": clip}
        )
    path.write_bytes(base64.b64decode(shot["data"]))


def complaints(driver: Any) -> list[str]:
    """What the console says above notices."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]


def requests(driver: Any) -> list[str]:
    """Addresses that the page asked for since the last call."""
    found = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["url"])
    return [url for url in found if not url.startswith(("data:", "blob:"))]

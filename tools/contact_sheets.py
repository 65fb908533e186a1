"""Pictures of every page of the site, several to a sheet, so that all can be looked at in a few minutes.

    make docs && python tools/contact_sheets.py site sheets
    python tools/contact_sheets.py runs/mine/report.html sheets --scale 1

A page is pictured four times: light and dark, 1400 and 420 pixels wide. Long pages are cut into columns, which stand
side by side. It needs a browser (make browser) and Pillow.
"""

from __future__ import annotations

import argparse
import base64
import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "report"))

import browser  # noqa: E402 - it lives beside the tests that use it
from PIL import Image  # noqa: E402

FORMS = {"light-1400": (1400, False), "dark-1400": (1400, True), "light-420": (420, False), "dark-420": (420, True)}
COLUMN = 2400  # pixels of a page, before scaling, that one column of a sheet shows
WIDE, HIGH = 2000, 2600  # of a sheet, at most


def pages(place: Path) -> list[Path]:
    """Pages to picture: all of a site, or the one that is named."""
    if place.is_file():
        return [place]
    return sorted(path for path in place.rglob("*.html") if path.name != "404.html")


def sheets(pieces: list[Image.Image]) -> Iterator[Image.Image]:
    """Pieces side by side, row by row."""
    sheet, x, y, row = Image.new("RGB", (WIDE, HIGH), "#b000b0"), 0, 0, 0
    used = False
    for piece in pieces:
        if x + piece.width > WIDE:
            x, y, row = 0, y + row + 8, 0
        if y + piece.height > HIGH and used:
            yield sheet.crop((0, 0, WIDE, min(y + row, HIGH)))
            sheet, x, y, row = Image.new("RGB", (WIDE, HIGH), "#b000b0"), 0, 0, 0
        sheet.paste(piece, (x, y))
        x, row, used = x + piece.width + 8, max(row, piece.height), True
    if used:
        yield sheet.crop((0, 0, WIDE, min(y + row, HIGH)))


def columns(driver: Any, page: Path, width: int, dark: bool, scale: float) -> Iterator[Image.Image]:
    """One page in one form, cut into pieces of at most ``COLUMN`` pixels, scaled."""
    browser.size(driver, width, dark=dark)
    if b"application/gzip" in page.read_bytes():  # a report, which draws its figures as they come into view
        browser.show(driver, page.as_uri())
    else:
        driver.get(page.as_uri())
    high = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]["height"]
    for top in range(0, high, COLUMN):
        clip = {"x": 0, "y": top, "width": width, "height": min(COLUMN, high - top), "scale": scale}
        options = {"captureBeyondViewport": True, "format": "png", "clip": clip}
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", options)
        yield Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")


def main() -> int:
    """Picture, paste, write; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", type=Path, help="a site's folder, or one page")
    parser.add_argument("out", type=Path, help="where sheets go")
    parser.add_argument("--scale", type=float, help="of pictures; by default 0.45 at 1400 pixels, 0.75 at 420")
    parser.add_argument("--form", choices=FORMS, action="append", help="only this form; may be repeated")
    given = parser.parse_args()
    if not (browser.CHROMIUM and browser.DRIVER):
        raise SystemExit("no browser: make browser")
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser.open_browser(Path(folder) / "profile") as driver:
        forget = "try { localStorage.clear() } catch (error) {}"  # where the theme keeps a light that was chosen
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": forget})
        for form in given.form or FORMS:
            width, dark = FORMS[form]
            scale = given.scale or (0.45 if width > 1000 else 0.75)
            pieces: list[Image.Image] = []
            for page in pages(given.place.resolve()):
                pieces += columns(driver, page, width, dark, scale)
            for number, sheet in enumerate(sheets(pieces)):
                sheet.save(given.out / f"{form}-{number:02}.png")
                print(given.out / f"{form}-{number:02}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

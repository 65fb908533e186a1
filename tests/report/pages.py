"""What a page draws, and whether its tags are in order."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any


def data_of(text: str) -> dict[str, Any]:
    """What the page draws."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text).group(1))


class Structure(HTMLParser):
    """Checks that tags close in order, and collects ids, addresses and text."""

    VOID = ("meta", "link", "input", "line", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attributes if name == "id" and value]
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert tag in self.VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data.strip())


def structure(text: str) -> Structure:
    found = Structure()
    found.feed(text)
    assert not found.open
    assert len(set(found.ids)) == len(found.ids)
    return found

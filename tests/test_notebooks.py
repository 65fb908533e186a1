from __future__ import annotations

from html.parser import HTMLParser

import gymnasium

from cmerl import CMERL, agents, experiments, notebooks
from cmerl.kernels import RBF, Delta, StateAction

HOSTILE = "<script>alert(1)</script>"


def words(text: str) -> list[str]:
    """The text of HTML that closes what it opens."""
    found: list[str] = []
    opened: list[str] = []
    parser = HTMLParser()
    parser.handle_data = lambda data: found.append(data)  # type: ignore[method-assign]
    parser.handle_starttag = lambda tag, _: opened.append(tag)  # type: ignore[method-assign]
    parser.handle_startendtag = lambda *_: None  # type: ignore[method-assign]
    parser.handle_endtag = lambda tag: opened.remove(tag)  # type: ignore[method-assign]
    parser.feed(text)
    assert not opened
    return found


def test_a_kernel_shows_its_parts() -> None:
    shown = words(StateAction(RBF(0.25), Delta())._repr_html_())
    assert shown[0] == "StateAction"
    assert any("0.25" in word for word in shown)


def test_an_agent_shows_how_it_has_done_and_what_it_says_of_itself() -> None:
    agent = CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0).learn(3)
    shown = words(agent._repr_html_())
    assert shown[0] == "cme-rl"
    for name, entry in {"episodes": "3", "last return": f"{agent.history[-1].ret:.4g}", "mode": "practical"}.items():
        assert shown[shown.index(name) + 1] == entry
    assert "return by episode" in shown
    fresh = agents.make("random", gymnasium.make("cmerl/RiverSwim-v0"))
    assert words(fresh._repr_html_())[0] == "random"


def test_results_show_their_summary_with_names_as_text(tmp_path) -> None:
    spec = {"environments": [{"id": "cmerl/RiverSwim-v0", "label": HOSTILE}], "episodes": 2, "seeds": 2, "jobs": 1}
    results = experiments.run(spec, out=tmp_path / "run")
    shown = words(results._repr_html_())
    assert HOSTILE in shown
    mean = results.summary()["results"][0]["return"]["mean"]
    assert any(word.startswith(f"{mean:.4g} (") for word in shown)
    assert results.plot()._repr_png_().startswith(b"\x89PNG")


def test_a_curve_spans_its_box_whatever_its_scale() -> None:
    text = notebooks.curve([5.0, 1e9, -3.0, float("nan"), 7.0], "x")
    points = [tuple(map(float, pair.split(","))) for pair in text.split('points="')[1].split('"')[0].split()]
    assert [min(x for x, _ in points), max(x for x, _ in points)] == [0, notebooks.WIDTH]
    assert [min(y for _, y in points), max(y for _, y in points)] == [2, notebooks.HEIGHT - 2]
    assert notebooks.curve([1.0], "x") == ""
    long = notebooks.curve([float(i) for i in range(10_000)], "x")
    assert long.count(",") <= notebooks.MOST_POINTS

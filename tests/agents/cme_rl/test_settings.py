"""Settings: they go through JSON unchanged, refuse names that do not exist, and say when to learn and to plan."""

import dataclasses
import json
from typing import Any

import pytest

from cmerl.acting.terminal_value import TerminalSettings
from cmerl.agents import Settings
from cmerl.agents.cme_rl.settings import RENAMED, RETIRED, KernelSettings, Updates
from cmerl.embedding.displacement.settings import DisplacementSettings, OutlierSettings
from cmerl.errors import InputError
from cmerl.model_selection import Selection
from cmerl.optimism import PrizeCeiling


def leaves(part: Any) -> list[tuple[Any, str]]:
    """Every number of nested settings: the object that holds it, and its name."""
    found = []
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        found += leaves(value) if dataclasses.is_dataclass(value) else [(part, field.name)]
    return found


def test_settings_go_through_json_unchanged() -> None:
    changed = Settings(
        kernels=KernelSettings(width=0.3, shared=(0.1, 0.2)),
        updates=Updates(replan_nats=2.5, wait_after=7),
        prize=PrizeCeiling(prizes=2.0),
        displacement=DisplacementSettings(outliers=OutlierSettings(far=5.0)),
        exact_limit=12,
    )
    for settings in (Settings(), changed):
        assert Settings.from_spec(json.loads(json.dumps(settings.spec()))) == settings
    assert Settings.from_spec({}) == Settings()
    assert Settings.from_spec({"updates": {"wait_after": 7}}).updates == Updates(wait_after=7)


@pytest.mark.parametrize(
    ("spec", "message"),
    [({"exact": 3}, "Settings has no setting exact"), ({"updates": {"wiat": 1}}, "Updates has no setting wiat")],
)
def test_a_name_that_does_not_exist_is_refused(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings.from_spec(spec)


def test_a_setting_that_was_retired_is_passed_over() -> None:
    kept = {"discount": True, "held_out": 7}
    assert Settings.from_spec({"selection": kept}) == Settings(selection=Selection(held_out=7))
    prize = {"hope": 4.0, "margin": 8.0, "prizes": 2.0}
    assert Settings.from_spec({"prize": prize}) == Settings(prize=PrizeCeiling(prizes=2.0))
    terminal = {"search": {"terminal": {"apart": 0.02}, "surprise": 0.5}}
    older = {
        "displacement": {"far": 10.0, "end_radius": 0.5, "survivors": 400, "usual_steps": 100, "depths": [8, 22]}
    }
    older["selection"] = terminal
    assert Settings.from_spec(older) == Settings()
    for part, name in leaves(Settings()):
        assert name not in RETIRED.get(type(part).__name__, ())


def test_a_setting_that_was_renamed_is_read_by_its_older_name() -> None:
    terminal = {"caution": 0.2, "fear": 0.9, "own": 3}
    found = Settings.from_spec({"selection": {"search": {"terminal": terminal}}})
    assert found.selection.search.terminal == TerminalSettings(pessimism=0.2, end_pessimism=0.9, own=3)
    names = {(type(part).__name__, name) for part, name in leaves(Settings())}
    for cls, renamed in RENAMED.items():
        assert all((cls, new) in names and (cls, old) not in names for old, new in renamed.items())


def test_every_setting_is_explained_where_it_is_defined() -> None:
    for part, name in leaves(Settings()):
        explained = f"{name}: " in (type(part).__doc__ or "") or f" {name} " in (type(part).__doc__ or "")
        assert explained, f"{type(part).__name__}.{name}"


@pytest.mark.parametrize(
    ("nats", "gained", "costly", "due"),
    [
        (0.9, 0.0, False, False),
        (1.1, 1e6, False, True),  # where a plan is cheap, a nat is enough
        (1.1, 20.0, True, True),  # 1.1 > 0.05·20
        (1.1, 23.0, True, False),
        (0.9, 0.0, True, False),
    ],
)
def test_a_new_plan_is_due_after_a_nat_that_is_also_a_share_of_all_where_plans_are_costly(
    nats: float, gained: float, costly: bool, due: bool
) -> None:
    assert Updates(replan_nats=1.0, replan_share=0.05).replan_due(nats, gained, costly=costly) is due


@pytest.mark.parametrize(
    ("nats", "waiting", "learned", "wait"),
    [(0.5, 10, 10, True), (0.6, 10, 10, False), (0.1, 11, 50, False), (0.1, 5, 9, False)],
)
def test_little_may_wait_once_enough_was_learned(nats: float, waiting: int, learned: int, wait: bool) -> None:
    assert Updates(wait_nats=0.5, wait_after=10).may_wait(nats, waiting, learned) is wait

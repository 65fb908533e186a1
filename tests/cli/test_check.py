"""cmerl check: a table for people, an exit code for scripts."""

from __future__ import annotations

import pytest

from cmerl.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["check", *arguments])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out + shown.err


def test_a_sound_environment_ends_with_code_0_and_shows_what_would_be_chosen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, shown = run(capsys, "Pendulum-v1")
    assert code == 0
    assert "no problems found" in shown
    assert "9 candidates of a continuous action" in shown


def test_a_finding_ends_with_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = run(capsys, "CliffWalking-v1")
    assert code == 1
    assert "max_episode_steps" in shown
    assert run(capsys, "CliffWalking-v1", "--horizon", "50")[0] == 0


def test_an_unknown_environment_is_one_sentence_and_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = run(capsys, "CartPol-v1")
    assert code == 2
    assert "CartPole-v1" in shown
    assert "Traceback" not in shown

"""``cmerl act``: an exported policy as a filter, observations in, actions out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    policy: Annotated[Path, typer.Argument(metavar="PATH", help="A policy, as policy.export(path) writes it.")],
) -> int:
    """Read observations from standard input, a line of JSON each, and write actions.

    The steps of an episode are counted from 0; an empty line begins another episode. A line may also say its step:
    {"observation": [0.1, 0.2], "step": 3}.

    Examples:
        echo '[0.1, 0.2]' | cmerl act ball.policy
        my-plant | cmerl act reactor.policy | my-actuator
    """
    import sys

    from cmerl.exported import load
    from cmerl.exported.stream import act

    for line in act(load(policy), sys.stdin):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0

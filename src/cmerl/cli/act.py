"""``cmerl act``: run an exported policy as a filter from observations to actions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    policy: Annotated[Path, typer.Argument(metavar="PATH", help="Policy file written by policy.export(path).")],
) -> int:
    """Read observations and write the policy's actions.

    Observations come from standard input, one JSON value per line; each gets one action on a line. Steps count from
    0; an empty line begins a new episode. A line may also set its step: {"observation": [0.1, 0.2], "step": 3}.

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

"""The command line: one small file per command, imported lightly, so that ``cmerl --help`` is quick.

A command is a module of this package whose function ``command`` typer can read; it imports what it needs when called.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer

from cmerl.errors import CmerlError
from cmerl.files import reason
from cmerl.workspace import check_room

COMMANDS = (
    "run",
    "resume",
    "report",
    "watch",
    "act",
    "tune",
    "theory",
    "envs",
    "agents",
    "check",
)  # as --help lists them

MISTAKE, FAILED_UNIT, INTERRUPTED, TERMINATED = 2, 1, 130, 143  # exit codes

HELP = """Reinforcement learning with conditional mean embeddings.

\b
Start with:  cmerl run cmerl/RiverSwim-v0
Compare:     cmerl run cmerl/RiverSwim-v0 --agent cme-rl --agent random --episodes 200 --seeds 8
Look:        cmerl report runs/RiverSwim-v0-…
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 when all went well, 2 with one sentence where the user was mistaken."""
    try:
        check_room()
        code = app()(args=arguments, prog_name="cmerl", standalone_mode=False)
    except CmerlError as error:
        code = _complain(str(error), MISTAKE)
    except typer.Abort:
        code = INTERRUPTED
    except KeyboardInterrupt:
        code = _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:  # whoever read has had enough, as in cmerl envs | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED_UNIT
    except OSError as error:
        code = _complain(reason(error), MISTAKE)
    except MemoryError:
        code = _complain("memory is short: play fewer runs at a time (--jobs), or raise the limit", FAILED_UNIT)
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's own errors are the user's mistakes, others are ours
            raise
        code = _complain(error.format_message() + _hint(error), MISTAKE)
    sys.exit(code if isinstance(code, int) else 0)


def _version(wanted: bool) -> None:
    if wanted:
        import cmerl

        typer.echo(f"cmerl {cmerl.__version__}")
        raise typer.Exit


def app() -> Any:
    """The typer application with every command that is there."""
    application = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # plain help needs no rich, which takes longer to import than the rest
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback()(_root)
    for name in COMMANDS:
        if find_spec(f"cmerl.cli.{name}") is None:
            continue
        module = import_module(f"cmerl.cli.{name}")
        if isinstance(module.command, typer.Typer):
            for sub in module.command.registered_commands:
                sub.help = _help(sub.callback)
            application.add_typer(module.command, name=name)
        else:
            application.command(name, help=_help(module.command))(module.command)
    return typer.main.get_command(application)


def _root(
    version: bool = typer.Option(
        False, "--version", help="Show the version and end.", callback=_version, is_eager=True
    ),
) -> None:
    pass


def _help(command: Callable[..., Any] | None) -> str:
    """A command's docstring, with its examples left as they stand."""
    return (inspect.getdoc(command) or "").replace("Examples:\n", "\b\nExamples:\n")


def _hint(error: Exception) -> str:
    """Where to go from a mistake: the commands that there are, or the help of the one that was meant."""
    context = getattr(error, "ctx", None)
    known = list(getattr(getattr(context, "command", None), "commands", ()))
    if str(error).startswith("No such command") and known:
        return f" There are {', '.join(known)}."
    path = getattr(context, "command_path", "")
    return f" See {path} --help." if path and not str(error).startswith("Usage:") else ""


def _complain(message: str, code: int) -> int:
    no_command = message.startswith("Usage:")  # then it is the help, to be shown as it stands
    typer.echo(message if no_command else f"cmerl: {' '.join(message.split())}", err=True)
    return code

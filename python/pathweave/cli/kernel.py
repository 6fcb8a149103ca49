"""`pathweave kernel`: the controllers as eBPF in this machine's kernel.

The binary `pathweave-linux` does the work. It takes this process's place, so that the terminal,
Ctrl-C and the exit code are its own, and it checks the arguments, which are handed on as they are.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

kernel = typer.Typer(
    help="Put controllers into this machine's kernel, for MPTCP and TCP.",
    epilog="Example: pathweave kernel load xmp --set beta=4",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_AS_THEY_ARE = {"ignore_unknown_options": True, "allow_extra_args": True}


@kernel.command(context_settings=_AS_THEY_ARE, options_metavar="NAME [OPTIONS]")
def load(context: typer.Context) -> None:
    """Load a controller; sockets can then choose it. Needs root.

    --set KEY=VALUE gives a parameter another value than its default,
    --minimum-window PACKETS is the smallest window,
    --failed-after N timeouts in a row make a subflow fail, and
    --connections N is the room for connections. --replace takes the place of
    one that is loaded with other settings; open sockets keep those.

    Example: pathweave kernel load xmp --set beta=4 --connections 16384
    """
    _hand_over("load", context)


@kernel.command(name="set", context_settings=_AS_THEY_ARE, options_metavar="NAME KEY=VALUE...")
def set_values(context: typer.Context) -> None:
    """Give a loaded controller other values of some settings. Needs root.

    New sockets and new subflows get them; open ones keep what they have.

    Example: pathweave kernel set xmp beta=6
    """
    _hand_over("set", context)


@kernel.command(context_settings=_AS_THEY_ARE, options_metavar="NAME [--force [--instead CONTROL]]")
def unload(context: typer.Context) -> None:
    """Take a controller out of the kernel. Needs root.

    One that sockets still use stays, unless --force gives them another first:
    the one that --instead CONTROL names.

    Example: pathweave kernel unload xmp
    """
    _hand_over("unload", context)


@kernel.command(context_settings=_AS_THEY_ARE, options_metavar="[--json]")
def status(context: typer.Context) -> None:
    """Show what is loaded, its parameters, and who uses it.

    --json writes it as one JSON object. The exit code is 3 when it cannot be known.

    Example: pathweave kernel status --json
    """
    _hand_over("status", context)


@kernel.command(context_settings=_AS_THEY_ARE, options_metavar="[OPTIONS]")
def watch(context: typer.Context) -> None:
    """Show the subflows of loaded controllers until Ctrl-C.

    --interval SECONDS is the time between two looks, --count N ends it after so
    many, --json writes each look as a line of JSON, and --filter KIND=VALUE shows
    only subflows of a controller, address, port or token.

    Example: pathweave kernel watch --interval 0.5 --filter port=5201
    """
    _hand_over("watch", context)


@kernel.command(context_settings=_AS_THEY_ARE, options_metavar="")
def check(context: typer.Context) -> None:
    """Try what this kernel has of what the controllers need. Needs root.

    Example: pathweave kernel check
    """
    _hand_over("check", context)


@kernel.command(context_settings=_AS_THEY_ARE, options_metavar="[NAME] --cgroup PATH [--off]")
def use(context: typer.Context) -> None:
    """Give a control group's new sockets a controller. Needs root.

    --cgroup PATH names it, --off takes the controller away again, and --list
    shows who has one.

    Example: pathweave kernel use xmp --cgroup /sys/fs/cgroup/backup
    """
    _hand_over("use", context)


def _hand_over(verb: str, context: typer.Context) -> NoReturn:
    from pathweave.linux import binary

    program = str(binary())
    sys.stdout.flush()
    sys.stderr.flush()
    # Its messages name commands by what it was called as: src/own_command.rs of crates/linux.
    os.execv(program, ["pathweave", "kernel", verb, *context.args])  # noqa: S606 - no shell is wanted

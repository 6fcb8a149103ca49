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


@kernel.command(
    context_settings=_AS_THEY_ARE, options_metavar="NAME [--set KEY=VALUE]... [--replace]"
)
def load(context: typer.Context) -> None:
    """Load a controller; sockets can then choose it. Needs root.

    --set gives a parameter another value than its default. --replace takes the
    place of one that is loaded with other settings; open sockets keep those.

    Example: pathweave kernel load xmp --set beta=4
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

    One that sockets still use stays, unless --force gives them another first.

    Example: pathweave kernel unload xmp
    """
    _hand_over("unload", context)


@kernel.command(context_settings=_AS_THEY_ARE, options_metavar="")
def status(context: typer.Context) -> None:
    """Show what is loaded, its parameters, and who uses it.

    Example: pathweave kernel status
    """
    _hand_over("status", context)


@kernel.command(context_settings=_AS_THEY_ARE, options_metavar="")
def watch(context: typer.Context) -> None:
    """Show the subflows of loaded controllers until Ctrl-C.

    Example: pathweave kernel watch
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

    --off takes it away again, and --list shows who has one.

    Example: pathweave kernel use xmp --cgroup /sys/fs/cgroup/backup
    """
    _hand_over("use", context)


def _hand_over(verb: str, context: typer.Context) -> NoReturn:
    from pathweave.linux import binary

    program = str(binary())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(program, [program, "kernel", verb, *context.args])  # noqa: S606 - no shell is wanted

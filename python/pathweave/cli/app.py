"""The command `pathweave` and its verbs. Heavy modules are imported by the verbs that use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from pathweave.cli.apart import apart
from pathweave.cli.bench import bench
from pathweave.cli.check import check
from pathweave.cli.compare import compare
from pathweave.cli.completion import bash_words
from pathweave.cli.demo import demo
from pathweave.cli.exits import guarded
from pathweave.cli.export import export
from pathweave.cli.init import init
from pathweave.cli.kernel import kernel
from pathweave.cli.listing import explain, list_, schema
from pathweave.cli.merge import merge
from pathweave.cli.report import report
from pathweave.cli.reproduce import reproduce
from pathweave.cli.results import results
from pathweave.cli.run import run
from pathweave.cli.solve import solve
from pathweave.cli.survey import survey
from pathweave.cli.testbed import play_all
from pathweave.cli.trace import trace
from pathweave.cli.verify import verify

app = typer.Typer(
    name="pathweave",
    help="Simulate data-centre fabrics packet by packet, compare multipath congestion controls "
    "and judge them by the optimum.",
    epilog="Example: pathweave run papers/xmp/fig1.toml --seeds 5\n\n"
    "Exit codes: 0 done, 2 wrong input, 1 anything else (interrupted runs included; of compare, "
    "that something has moved).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: Rich would take half of the time that help may take
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def _version(asked: bool) -> None:
    if asked:
        from pathweave.core import core

        typer.echo(f"pathweave {core().version()} (results of {core().results_version()})")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None: ...


app.command(name="demo")(demo)
app.command(name="init")(init)
app.command(name="check")(check)
app.command(name="run")(run)
app.command(name="solve")(solve)
app.command(name="testbed")(play_all)
app.command(name="merge")(merge)
app.command(name="report")(report)
app.command(name="results")(results)
app.command(name="reproduce")(reproduce)
app.command(name="survey")(survey)
app.command(name="compare")(compare)
app.command(name="export")(export)
app.command(name="trace")(trace)
app.command(name="verify")(verify)
app.add_typer(kernel, name="kernel")
app.command(name="bench")(bench)
app.command(name="list")(list_)
app.command(name="explain")(explain)
app.command(name="schema")(schema)


def call(arguments: Sequence[str] | None = None) -> object:
    """Run a command line, the process's own if None; exceptions and an exit code come out of it."""
    return app(arguments, prog_name="pathweave", standalone_mode=False)


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    with bash_words("_PATHWEAVE_COMPLETE"), apart():
        guarded(call)

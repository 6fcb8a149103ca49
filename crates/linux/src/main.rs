//! The binary behind `pathweave kernel` and `pathweave testbed`.

use clap::{CommandFactory, Parser, Subcommand};
use pathweave_linux::{Failure, kernel, manual, metrics, testbed, unit};
use std::process::ExitCode;

/// Pathweave's controllers on this machine's kernel.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Load controllers into the kernel, see who uses them, unload them.
    #[command(subcommand)]
    Kernel(kernel::Command),
    /// Tell Prometheus what the loaded controllers do, as OpenMetrics text.
    ///
    /// Example: pathweave-linux metrics --listen 127.0.0.1:9091
    Metrics(metrics::Command),
    /// Print a systemd unit that loads a controller at boot.
    ///
    /// Example: pathweave-linux unit > /etc/systemd/system/pathweave@.service
    Unit(unit::Command),
    /// Write manual pages into a folder.
    ///
    /// Example: pathweave-linux manual /usr/local/share/man/man1
    Manual(manual::Command),
    /// Run one variant of a scenario on real sockets.
    ///
    /// Example: pathweave-linux testbed fig4.toml --variant xmp --output results.json
    Testbed(testbed::Command),
    /// Put back what a testbed has changed if its process is killed. A testbed starts it by itself.
    #[command(name = testbed::SUPERVISION, hide = true)]
    Supervision(testbed::Supervision),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().verb {
        Verb::Kernel(command) => {
            end_quietly_with_the_reader();
            command.run()
        }
        Verb::Metrics(command) => command.run(),
        Verb::Unit(command) => command.run(),
        Verb::Manual(command) => command.run(Arguments::command()),
        Verb::Testbed(command) => command.run(),
        Verb::Supervision(command) => command.run(),
    };
    done.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}

/// As other programs do in a pipe such as `... | head`. Not for the testbed, whose sockets may lose their peers.
fn end_quietly_with_the_reader() {
    // SAFETY: the default action needs no handler; nothing else in this process has to do with the signal.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

//! Live windows of all subflows.

use super::requirements;
use super::rows::{Connection, Row};
use super::status::Pinned;
use crate::Failure;
use rustix::event::{PollFd, Timespec, poll};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A subflow, wherever it is.
type Place = (u64, SocketAddr, SocketAddr);

/// Prints the windows again and again, `count` times or until it is ended.
///
/// # Errors
/// When nothing is loaded.
pub fn print(interval: Duration, count: Option<u32>) -> Result<(), Failure> {
    requirements::check_rights()?;
    let mut before: HashMap<Place, u64> = HashMap::new();
    let mut last = Instant::now();
    for turn in 0.. {
        let pinned = Pinned::all();
        if pinned.is_empty() {
            return Err(Failure::refused("no controller is loaded")
                .hint("`pathweave kernel load xmp` loads one"));
        }
        let seconds = last.elapsed().as_secs_f64();
        last = Instant::now();
        let mut text = String::new();
        let mut now = HashMap::new();
        for controller in &pinned {
            let controller = match controller {
                Ok(controller) => controller,
                Err(failure) => {
                    let _ = writeln!(text, "{failure}");
                    continue;
                }
            };
            let _ = writeln!(text, "{}", controller.kernel_name);
            for connection in controller.connections() {
                write_connection(&mut text, &connection, &before, &mut now, seconds);
            }
        }
        if show(&text).is_err() || count.is_some_and(|count| turn + 1 >= count) {
            return Ok(()); // whoever read it has gone
        }
        before = now;
        pause(interval);
    }
    Ok(())
}

fn write_connection(
    text: &mut String,
    connection: &Connection,
    before: &HashMap<Place, u64>,
    now: &mut HashMap<Place, u64>,
    seconds: f64,
) {
    let name = connection
        .token
        .map_or("TCP".to_owned(), |token| format!("MPTCP {token:08x}"));
    let _ = writeln!(text, "  {name}");
    let _ = writeln!(
        text,
        "     {:<42} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7}",
        "subflow", "window", "ssthresh", "RTT ms", "Mbps", "marks", "losses"
    );
    for row in &connection.subflows {
        let place = (row.namespace, row.local, row.remote);
        now.insert(place, row.packets);
        let bits = |packets: u64| (packets * row.segment.get() * 8) as f64;
        let rate = before.get(&place).map_or("-".to_owned(), |&packets| {
            format!(
                "{:.1}",
                bits(row.packets.saturating_sub(packets)) / seconds / 1e6
            )
        });
        let ssthresh = if row.ssthresh.is_finite() {
            format!("{:.1}", row.ssthresh)
        } else {
            "-".to_owned()
        };
        let _ = writeln!(
            text,
            "  {:>2} {:<42} {:>9.1} {:>9} {:>9.3} {:>9} {:>8} {:>7}{}",
            row.number,
            format!("{} -> {}", row.local, row.remote),
            row.window,
            ssthresh,
            row.smoothed_rtt.as_secs_f64() * 1e3,
            rate,
            row.marks,
            row.losses + row.timeouts,
            match row {
                Row { failed: true, .. } => "  failed",
                Row {
                    suppressed: true, ..
                } => "  suppressed",
                _ => "",
            }
        );
    }
}

/// On a terminal over what stood there, else below it.
fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        // To the top; each line and all below it are cleared as they are written.
        let text = text.replace('\n', "\x1b[K\n");
        write!(out, "\x1b[H{text}\x1b[J")?;
    } else {
        writeln!(out, "{text}")?;
    }
    out.flush()
}

/// Waits; a signal ends the program as usual.
fn pause(interval: Duration) {
    let timeout = Timespec::try_from(interval).ok();
    let nothing: &mut [PollFd<'_>] = &mut [];
    let _ = poll(nothing, timeout.as_ref());
}

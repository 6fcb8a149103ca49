//! Live windows of all subflows.

use super::filter::{self, Filter};
use super::pinned::Pinned;
use super::rows::{Connection, Row};
use super::unpinned::unpinned;
use super::{pins, registered, requirements};
use crate::Failure;
use crate::own_command::own_command;
use rustix::event::{PollFd, Timespec, poll};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

/// A subflow, wherever it is.
type Place = (u64, SocketAddr, SocketAddr);

/// One look, as a line of JSON.
#[derive(Serialize)]
struct Look {
    /// Seconds since 1970.
    time: f64,
    subflows: Vec<Subflow>,
    /// What is only half loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<String>,
}

/// One subflow of a look.
#[derive(Serialize)]
struct Subflow {
    controller: String,
    /// MPTCP's, in hexadecimal as `ss` and `ip mptcp` write it; null for plain TCP.
    token: Option<String>,
    number: u32,
    local: SocketAddr,
    remote: SocketAddr,
    /// Its network namespace's inode number.
    namespace: u64,
    window_packets: f64,
    /// Null for none.
    ssthresh_packets: Option<f64>,
    rtt_ms: f64,
    /// Since the look before; null in a subflow's first.
    mbps: Option<f64>,
    packets: u64,
    marks: u64,
    cuts: u32,
    losses: u32,
    timeouts: u32,
    failed: bool,
    suppressed: bool,
}

/// Prints the windows again and again, `count` times or until it is ended, those that filters let through.
///
/// # Errors
/// When nothing is loaded.
pub fn print(
    interval: Duration,
    count: Option<u32>,
    filters: &[Filter],
    json: bool,
) -> Result<(), Failure> {
    requirements::check_rights()?;
    let mut before: HashMap<Place, u64> = HashMap::new();
    let mut last = Instant::now();
    for turn in 0.. {
        let pinned = Pinned::all()?;
        if pins::loaded()?.is_empty() {
            if let Some(name) = registered::names()?.first() {
                return Err(unpinned(name));
            }
            return Err(Failure::refused("no controller is loaded")
                .hint(format!("{} loads one", own_command("kernel load xmp"))));
        }
        let seconds = last.elapsed().as_secs_f64();
        last = Instant::now();
        let mut text = String::new();
        let mut now = HashMap::new();
        let mut look = Look {
            time: SystemTime::UNIX_EPOCH
                .elapsed()
                .map_or(0.0, |since| since.as_secs_f64()),
            subflows: Vec::new(),
            failures: Vec::new(),
        };
        for controller in &pinned {
            let controller = match controller {
                Ok(controller) => controller,
                Err(failure) => {
                    let _ = writeln!(text, "{failure}");
                    look.failures.push(failure.to_string());
                    continue;
                }
            };
            let _ = writeln!(text, "{}", controller.kernel_name);
            for mut connection in controller.connections() {
                let token = connection.token;
                connection
                    .subflows
                    .retain(|row| filter::admit(filters, &controller.kernel_name, token, row));
                if connection.subflows.is_empty() {
                    continue;
                }
                let rows = connection.subflows.iter();
                let name = &controller.kernel_name;
                look.subflows
                    .extend(rows.map(|row| subflow(name, token, row, &before, seconds)));
                write_connection(&mut text, &connection, &before, &mut now, seconds);
            }
        }
        let shown = if json {
            let line = serde_json::to_string(&look).expect("numbers and texts");
            let mut out = io::stdout().lock();
            writeln!(out, "{line}").and_then(|()| out.flush())
        } else {
            show(&text)
        };
        if shown.is_err() || count.is_some_and(|count| turn + 1 >= count) {
            return Ok(()); // whoever read it has gone
        }
        before = now;
        pause(interval);
    }
    Ok(())
}

/// Megabits of payload a second since the look before; none in a subflow's first.
fn mbps(row: &Row, before: &HashMap<Place, u64>, seconds: f64) -> Option<f64> {
    let packets = before.get(&(row.namespace, row.local, row.remote))?;
    let bits = row.packets.saturating_sub(*packets) * row.segment.get() * 8;
    Some(bits as f64 / seconds / 1e6)
}

fn subflow(
    controller: &str,
    token: Option<u32>,
    row: &Row,
    before: &HashMap<Place, u64>,
    seconds: f64,
) -> Subflow {
    Subflow {
        controller: controller.to_owned(),
        token: token.map(|token| format!("{token:08x}")),
        number: row.number,
        local: row.local,
        remote: row.remote,
        namespace: row.namespace,
        window_packets: row.window,
        ssthresh_packets: row.ssthresh.is_finite().then_some(row.ssthresh),
        rtt_ms: row.smoothed_rtt.as_secs_f64() * 1e3,
        mbps: mbps(row, before, seconds),
        packets: row.packets,
        marks: row.marks,
        cuts: row.cuts,
        losses: row.losses,
        timeouts: row.timeouts,
        failed: row.failed,
        suppressed: row.suppressed,
    }
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
        let rate = mbps(row, before, seconds).map_or("-".to_owned(), |mbps| format!("{mbps:.1}"));
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

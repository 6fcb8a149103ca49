//! What holds for every run, read off its results.

use crate::plans;
use pathweave_engine::{Column, Output, Table};
use pathweave_fabric::NodeId;
use pathweave_fabric::routing::RoutingKind;
use pathweave_scenario::{Change, Plan};
use std::collections::BTreeMap;

/// What does not hold.
pub struct Broken {
    /// The same for all failures of a kind.
    pub kind: String,
    pub message: String,
}

impl Broken {
    pub fn new(kind: &str, message: impl Into<String>) -> Broken {
        Broken {
            kind: kind.to_owned(),
            message: message.into(),
        }
    }

    /// The kind is the message without its numbers: what fails alike counts together.
    pub fn alike(what: &str, message: String) -> Broken {
        let mut words = String::new();
        for c in message.chars().take(160) {
            match c {
                '0'..='9' | '.' if words.ends_with('#') => {}
                '0'..='9' => words.push('#'),
                c => words.push(c),
            }
        }
        Broken {
            kind: format!("{what}: {words}"),
            message,
        }
    }
}

/// Fails with a kind and a message unless something holds.
macro_rules! hold {
    ($holds:expr, $kind:expr, $($message:tt)*) => {
        let holds: bool = $holds;
        if !holds {
            return Err(Broken::new($kind, format!($($message)*)));
        }
    };
}

/// Whether two runs gave the same.
pub fn same(first: &Output, second: &Output, kind: &str) -> Result<(), Broken> {
    let tables = |output: &Output| -> Vec<_> {
        output
            .tables
            .iter()
            .chain(&output.explanations)
            .cloned()
            .collect()
    };
    for (one, other) in tables(first).iter().zip(&tables(second)) {
        for ((name, values), (_, others)) in one.columns.iter().zip(&other.columns) {
            let (values, others) = (format!("{values:?}"), format!("{others:?}"));
            hold!(
                values == others,
                kind,
                "table {} differs in {name}: {values} and {others}",
                one.name
            );
        }
    }
    hold!(
        first.hash == second.hash,
        kind,
        "hashes {} and {}",
        first.hash,
        second.hash
    );
    let counters = (&first.counters, &second.counters);
    hold!(counters.0 == counters.1, kind, "{counters:?}");
    hold!(
        first.verdict == second.verdict,
        kind,
        "{:?} and {:?}",
        first.verdict,
        second.verdict
    );
    hold!(
        first.notes == second.notes,
        kind,
        "{:?} and {:?}",
        first.notes,
        second.notes
    );
    Ok(())
}

/// What holds for every run.
pub fn check(plan: &Plan, output: &Output) -> Result<(), Broken> {
    for table in output.tables.iter().chain(&output.explanations) {
        well_formed(table)?;
        in_order(table, output)?;
    }
    flows(plan, output)?;
    links(plan, output)?;
    rates(plan, output)?;
    suspensions(output)?;
    waits(output)?;
    Ok(())
}

/// What flows waited for adds up to the time that they were there.
fn waits(output: &Output) -> Result<(), Broken> {
    let flows = table(output, "flows")?;
    let (starts, ends) = (flows.numbers("start_s"), flows.numbers("end_s"));
    let endings = plans::endings(output);
    let account = table(output, "waits")?;
    let mut waited = vec![0.0; starts.len()];
    for (&flow, time) in account
        .integers("flow")
        .iter()
        .zip(account.numbers("waited_s"))
    {
        hold!(*time > 0.0, "a wait took no time", "flow {flow}");
        waited[flow as usize] += time;
    }
    let ended = output.counters.ended.as_secs_f64();
    for flow in 0..starts.len() {
        let waited = waited[flow];
        let there = match endings[flow] {
            "unstarted" => 0.0,
            // Its group stopped before it started.
            "stopped" if ends[flow].is_nan() && waited == 0.0 => 0.0,
            _ if ends[flow].is_nan() => ended - starts[flow],
            _ => ends[flow] - starts[flow],
        };
        hold!(
            (waited - there).abs() <= 1e-12 + 1e-12 * ended,
            "waits do not add up",
            "flow {flow} was there for {there} s and waited for {waited} s"
        );
    }
    Ok(())
}

/// The events of a subflow alternate, starting with a suspension.
fn suspensions(output: &Output) -> Result<(), Broken> {
    let Some(table) = output.table("suspensions") else {
        return Ok(());
    };
    let Some(Column::Flags(suspended)) = table.column("suspended") else {
        return Err(Broken::new("a column is missing", "suspensions.suspended"));
    };
    let owners = table.integers("flow").iter();
    let mut before = BTreeMap::new();
    for (owner, &suspended) in owners.zip(table.integers("subflow")).zip(suspended) {
        let was = before.insert(owner, suspended).unwrap_or(false);
        hold!(
            was != suspended,
            "a subflow is suspended twice, or goes on twice",
            "{owner:?}"
        );
    }
    Ok(())
}

fn well_formed(table: &Table) -> Result<(), Broken> {
    let rows = table.columns.first().map_or(0, |(_, column)| column.len());
    for (name, column) in &table.columns {
        let place = format!("{}.{name}", table.name);
        hold!(column.len() == rows, "columns differ in length", "{place}");
        match column {
            Column::Numbers(numbers) => {
                // A threshold may be infinite: none is set.
                let infinite = *name == "ssthresh";
                let fits = |number: &f64| {
                    number.is_nan() || *number >= 0.0 && (infinite || number.is_finite())
                };
                let wrong = numbers.iter().find(|number| !fits(number));
                hold!(
                    wrong.is_none(),
                    "a number is infinite or below zero",
                    "{place}: {wrong:?}"
                );
            }
            Column::Labels { names, codes } => {
                let known = codes.iter().all(|&code| (code as usize) < names.len());
                hold!(known, "a label has no name", "{place}");
            }
            Column::Integers(_) | Column::Flags(_) => {}
        }
    }
    Ok(())
}

/// Rows of series come in the order of time, none after the end of the run.
fn in_order(table: &Table, output: &Output) -> Result<(), Broken> {
    let times = table.numbers("time_s");
    hold!(
        times.windows(2).all(|pair| pair[0] <= pair[1]),
        "a series is not in the order of time",
        "{}",
        table.name
    );
    let ended = output.counters.ended.as_secs_f64();
    for name in ["time_s", "end_s", "opened_s"] {
        let late = table.numbers(name).iter().find(|&&time| time > ended);
        hold!(
            late.is_none(),
            "something is later than the end",
            "{}.{name}: {late:?}",
            table.name
        );
    }
    Ok(())
}

fn table<'a>(output: &'a Output, name: &str) -> Result<&'a Table, Broken> {
    output
        .table(name)
        .ok_or_else(|| Broken::new("a table is missing", name))
}

/// The ideal is that of packets in the order of the data. Where they differ in size, several subflows may send them in
/// an order that takes up to a packet's time less, in seconds.
fn another_order_s(plan: &Plan) -> f64 {
    let slowest = plan
        .fabric
        .links
        .iter()
        .map(|link| link.rate.as_bps())
        .min();
    let groups = plan.groups.iter().filter(|group| {
        let own = group.listed.iter().filter_map(|flow| flow.subflows);
        let most = own.chain([group.subflows]).max();
        group.transport.packets.is_some() && most > Some(1)
    });
    let largest = groups.map(|group| group.transport.data_packet).max();
    largest.map_or(0.0, |bytes| {
        f64::from(bytes) * 8.0 / slowest.unwrap_or(1) as f64
    })
}

/// Bytes are conserved, and nothing is faster than light.
fn flows(plan: &Plan, output: &Output) -> Result<(), Broken> {
    let flows = table(output, "flows")?;
    let sizes = flows.numbers("size_bytes");
    let (starts, ends) = (flows.numbers("start_s"), flows.numbers("end_s"));
    let (times, ideals) = (flows.numbers("fct_s"), flows.numbers("fct_ideal_s"));
    let delivered = flows.integers("delivered_bytes");
    let mut received = vec![0; delivered.len()];
    let subflows = table(output, "subflows")?;
    let of_subflows = subflows.integers("received_bytes");
    let sent = subflows.integers("sent_packets");
    for (row, &flow) in subflows.integers("flow").iter().enumerate() {
        hold!(
            (flow as usize) < received.len(),
            "a subflow has no flow",
            "{flow}"
        );
        received[flow as usize] += of_subflows[row];
        hold!(
            of_subflows[row] == 0 || sent[row] > 0,
            "bytes arrived that nobody sent",
            "subflow {row}"
        );
    }
    // The ideal is that of the paths that a flow may take at its start, at the rates that links have then.
    let constant = plan.events.is_empty();
    let another_order = another_order_s(plan);
    for flow in 0..delivered.len() {
        let (size, delivered) = (sizes[flow], delivered[flow]);
        let finished = times[flow].is_finite();
        hold!(
            size.is_nan() || delivered as f64 <= size.max(1.0),
            "more was delivered than sent",
            "flow {flow}: {delivered} of {size}"
        );
        hold!(
            received[flow] >= delivered,
            "more was delivered than arrived",
            "flow {flow}: {delivered} of {}",
            received[flow]
        );
        hold!(
            !finished || delivered as f64 == size.max(1.0),
            "a flow finished without its bytes",
            "flow {flow}: {delivered} of {size}"
        );
        hold!(
            ends[flow].is_nan() || ends[flow] >= starts[flow],
            "a flow ended before it began",
            "flow {flow}: {} {}",
            starts[flow],
            ends[flow]
        );
        hold!(
            // Every hop rounds to a picosecond.
            !finished
                || !constant
                || times[flow] >= ideals[flow] * (1.0 - 1e-9) - 1e-9 - another_order,
            "a flow was faster than its ideal",
            "flow {flow}: {} s, ideal {} s",
            times[flow],
            ideals[flow]
        );
    }
    let total: u64 = delivered.iter().sum();
    let counted = output.counters.delivered_bytes;
    hold!(
        total == counted,
        "the sum of deliveries is wrong",
        "{total} and {counted}"
    );
    Ok(())
}

/// The highest rate that each link ever has, in bits per second.
fn line_rates(plan: &Plan) -> Vec<f64> {
    let mut rates: Vec<f64> = plan
        .fabric
        .links
        .iter()
        .map(|link| link.rate.as_bps() as f64)
        .collect();
    for event in &plan.events {
        if let Change::Rate(rate) = event.change {
            let link = event.link.0 as usize;
            rates[link] = rates[link].max(rate.as_bps() as f64);
        }
    }
    rates
}

/// Whether packets of a subflow may take different ways.
fn packets_part_ways(plan: &Plan) -> bool {
    let moves = matches!(
        plan.routing,
        RoutingKind::Spray { .. } | RoutingKind::Fmp(_)
    );
    let mut controllers = plan.groups.iter().flat_map(|group| group.controllers());
    moves || controllers.any(|(entry, _)| entry.scatter().is_some())
}

/// What a packet has at most on the wire, in bits, with room for a congestion header.
fn packet_bits(plan: &Plan) -> f64 {
    let transports = plan.groups.iter().map(|group| &group.transport);
    let longest = transports
        .map(|config| config.data_packet.max(config.ack_packet))
        .max();
    (f64::from(longest.unwrap_or(0)) + 64.0) * 8.0
}

/// The fewest bits that a packet has on the wire: a data packet, the last one of a flow, or an acknowledgement.
fn fewest_packet_bits(plan: &Plan) -> f64 {
    let transports = plan.groups.iter().map(|group| &group.transport);
    let sizes = transports.map(|config| {
        let data = match &config.packets {
            Some(mix) => mix.smallest(),
            None => config.data_packet,
        };
        data.min(config.ack_packet).min(config.overhead() + 1)
    });
    f64::from(sizes.min().unwrap_or(1).max(1)) * 8.0
}

/// The most that a line can carry (bit/s): transmissions end at whole picoseconds, so that each may be one shorter than it
/// should be.
fn most_of_a_line(rate: f64, plan: &Plan) -> f64 {
    let packets_a_second = rate / fewest_packet_bits(plan);
    rate * (1.0 + 1e-9) / (1.0 - packets_a_second * 1e-12)
}

fn links(plan: &Plan, output: &Output) -> Result<(), Broken> {
    let links = table(output, "links")?;
    let lines = line_rates(plan);
    let ended = output.counters.ended;
    let from = plan.measure.from.min(ended);
    let to = plan.measure.to.unwrap_or(ended).min(ended);
    let window = (to - from).as_secs_f64();
    let bytes = links.integers("bytes");
    for (link, line) in lines.iter().enumerate() {
        let name = || plan.fabric.link_name(pathweave_fabric::LinkId(link as u32));
        let bits = bytes[link] as f64 * 8.0;
        // Counted are packets that arrive; one may have been on its way when the window opened.
        let most = most_of_a_line(*line, plan) * window + packet_bits(plan);
        hold!(
            bits <= most,
            "a link carried more than its rate",
            "{}: {bits} bits of {most}",
            name()
        );
    }
    let names = ["links", "phase_links"];
    for table in output
        .tables
        .iter()
        .filter(|table| names.contains(&table.name))
    {
        let rows = table
            .numbers("utilisation")
            .iter()
            .zip(table.integers("bytes"))
            .enumerate();
        for (row, (share, bytes)) in rows.filter(|(_, (share, _))| **share > 1.0) {
            let bits = *bytes as f64 * 8.0;
            let over = bits - bits / share;
            // What was sent at another rate arrives a delay later.
            let link = row % lines.len();
            let changes = plan
                .events
                .iter()
                .any(|event| event.link.0 as usize == link);
            let delay = plan.fabric.links[link].delay.as_secs_f64();
            let late = if changes { delay * lines[link] } else { 0.0 };
            let rounding = bits / share * (most_of_a_line(lines[link], plan) / lines[link] - 1.0);
            hold!(
                over <= packet_bits(plan) + late + rounding,
                "a utilisation is more than a packet above 1",
                "{}, row {row}: {share}",
                table.name
            );
        }
    }
    Ok(())
}

/// No rate is above that of the ports into the destination. The source's do not bound it: what waits behind
/// other packets arrives together.
fn rates(plan: &Plan, output: &Output) -> Result<(), Broken> {
    let lines = line_rates(plan);
    let fabric = &plan.fabric;
    let hosts: BTreeMap<&str, NodeId> = fabric
        .hosts
        .iter()
        .map(|&host| (fabric.node(host).name.as_str(), host))
        .collect();
    let ports = |node: NodeId| {
        let into_node = fabric
            .links
            .iter()
            .zip(&lines)
            .filter(move |(link, _)| link.to == node);
        into_node.map(|(_, line)| *line).collect::<Vec<f64>>()
    };
    let flows = table(output, "flows")?;
    let host_of = |column: &str, row: usize| match flows.column(column) {
        Some(Column::Labels { names, codes }) => {
            let name = &names[codes[row] as usize];
            hosts.get(name).copied()
        }
        _ => None,
    };
    // The ports into each flow's destination, together and the fastest one.
    let mut limits = Vec::new();
    for row in 0..flows.integers("id").len() {
        let (Some(_), Some(destination)) = (host_of("source", row), host_of("destination", row))
        else {
            return Err(Broken::new("a flow has no hosts", format!("flow {row}")));
        };
        let into = ports(destination);
        let sum = into.iter().sum::<f64>();
        limits.push((sum, into.into_iter().fold(0.0, f64::max)));
    }
    // A subflow arrives at more than one port where its packets, or it itself, may change their way.
    let spreads = packets_part_ways(plan);
    for table in &output.tables {
        for column in ["goodput_bps", "rate_bps"] {
            let of_rows = match table.name {
                "flows" => flows.integers("id"),
                _ => table.integers("flow"),
            };
            let of_subflows = table.column("subflow").is_some();
            for (rate, &flow) in table.numbers(column).iter().zip(of_rows) {
                let (all, one) = limits[flow as usize];
                let limit = if of_subflows && !spreads { one } else { all };
                hold!(
                    rate.is_nan() || *rate <= most_of_a_line(limit, plan),
                    "a rate is above the line's",
                    "{}.{column}, flow {flow}: {rate} on {limit} bit/s",
                    table.name
                );
            }
        }
    }
    Ok(())
}

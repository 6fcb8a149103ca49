//! Runs one scenario natively and prints what it cost: the bench binary.
//!
//! `pathweave-bench FILE [--until TIME] [--threads N] [--regions N] [--json]`

use pathweave_engine::{Cut, Execution, Progress, peak_rss_mb, run_as};
use pathweave_scenario::Scenario;
use rustix::time::{ClockId, clock_gettime};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str =
    "usage: pathweave-bench FILE [--until TIME] [--threads N] [--regions N] [--json]

Simulates the first variant of a scenario and prints its packet-hops, the CPU
time, the largest memory and a hash of the results.

  --until TIME  end the run at this simulated time, for example \"20 ms\"
  --threads N   run it on this many threads (1)
  --regions N   divide the fabric into this many regions (one for each thread)
  --json        print one line of JSON

example: pathweave-bench benches/permutation-dctcp.toml --until \"20 ms\"";

struct Arguments {
    file: String,
    until: Option<String>,
    threads: u8,
    regions: Option<u8>,
    json: bool,
}

fn number(given: Option<String>) -> Result<u8, String> {
    let given = given.ok_or(USAGE)?;
    match given.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!(
            "expected a number from 1 to 255, got \"{given}\"\n{USAGE}"
        )),
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut given = std::env::args().skip(1);
    let mut arguments = Arguments {
        file: String::new(),
        until: None,
        threads: 1,
        regions: None,
        json: false,
    };
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--until" => arguments.until = Some(given.next().ok_or(USAGE)?),
            "--threads" => arguments.threads = number(given.next())?,
            "--regions" => arguments.regions = Some(number(given.next())?),
            "--json" => arguments.json = true,
            "--help" | "-h" => return Err(USAGE.to_owned()),
            file if arguments.file.is_empty() && !file.starts_with('-') => {
                arguments.file = file.to_owned();
            }
            other => return Err(format!("unexpected argument \"{other}\"\n{USAGE}")),
        }
    }
    if arguments.file.is_empty() {
        Err(USAGE.to_owned())
    } else {
        Ok(arguments)
    }
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn simulate(arguments: &Arguments) -> Result<String, String> {
    let sets: Vec<String> = arguments
        .until
        .iter()
        .map(|until| format!("stop.at=\"{until}\""))
        .collect();
    let scenario = Scenario::load(arguments.file.as_ref(), None, &sets, &[], None)
        .map_err(|errors| errors.render(80, false))?;
    let variant = scenario
        .variants()
        .first()
        .ok_or("the scenario has no variant")?;
    let seed = scenario.seeds().first().copied().unwrap_or(1);
    let plan = variant.plan(seed);
    let threads = arguments.threads;
    let execution = Execution {
        cut: Cut::Into(arguments.regions.unwrap_or(threads)),
        threads: usize::from(threads),
        ..Execution::PLAIN
    };
    let (before, start) = (cpu_seconds(), Instant::now());
    let output = run_as(&plan, &Progress::default(), &execution);
    let output = output.map_err(|error| error.to_string())?;
    let wall = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - before;
    let hops = output.counters.packet_hops;
    let rate = hops as f64 / cpu;
    if arguments.json {
        return Ok(format!(
            "{{\"packet_hops\": {hops}, \"cpu_s\": {cpu:.6}, \"wall_s\": {wall:.6}, \"packet_hops_per_cpu_s\": {rate:.0}, \
             \"peak_rss_mb\": {:.2}, \"goodput_share\": {:.6}, \"results_hash\": \"{}\"}}",
            peak_rss_mb(),
            output.goodput_share,
            output.hash
        ));
    }
    Ok(format!(
        "packet-hops      {hops}\nCPU time         {cpu:.3} s\nwall time        {wall:.3} s\nspeed            {:.2} million \
         packet-hops per CPU-second\npeak memory      {:.1} MB\ngoodput          {:.1} % of the \
         hosts' links\nresults hash     {}",
        rate / 1e6,
        peak_rss_mb(),
        output.goodput_share * 100.0,
        output.hash
    ))
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| simulate(&arguments)) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::from(2)
        }
    }
}

//! Runs scenarios on all cores, watched, and keeps the files of those that fail.

use super::folder;
use super::properties::{self, Broken};
use super::scenario;
use pathweave_engine::{
    Cut, Execution, Output, Prefetching, Progress, RunError, Turns, run, run_as,
    run_with_departure_ports,
};
use pathweave_random::Stream;
use pathweave_scenario::{Plan, Variant};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What a scenario broke.
pub struct Failure {
    pub seed: u64,
    /// Failures of one kind are counted together.
    pub kind: String,
    text: String,
    variant: String,
    run_seed: u64,
    message: String,
    file: PathBuf,
}

impl Failure {
    fn line(&self) -> String {
        let Failure {
            seed,
            variant,
            run_seed,
            kind,
            message,
            ..
        } = self;
        format!("scenario {seed}, variant \"{variant}\", seed {run_seed}: {kind}: {message}")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.line())?;
        writeln!(f, "repeat it with: pathweave run {}", self.file.display())?;
        let seed = self.seed;
        writeln!(
            f,
            "or: PATHWEAVE_FIRST_SCENARIO={seed} PATHWEAVE_SCENARIOS=1"
        )?;
        write!(f, "{}", self.text)
    }
}

/// Processor time allowed for each concurrent scenario. No scenario needs more than a tenth of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a run's processor time is checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs the scenarios of these seeds.
pub fn run_all(seeds: Range<u64>, schema: &Value) -> Vec<Failure> {
    let next = AtomicU64::new(seeds.start);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers() {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    if let Some(failure) = run_one(seed, schema) {
                        failures
                            .lock()
                            .expect("no thread panics with it")
                            .push(failure);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no thread panics with it");
    failures.sort_by_key(|failure| failure.seed);
    if !failures.is_empty() {
        let lines: Vec<String> = failures.iter().map(Failure::line).collect();
        std::fs::write(kept().join("failures.txt"), lines.join("\n"))
            .expect("the target folder can be written to");
    }
    failures
}

/// Number of scenarios that run concurrently.
fn workers() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// One variant of a scenario for one of its seeds, which both follow from the scenario's seed.
fn run_one(seed: u64, schema: &Value) -> Option<Failure> {
    let generated = scenario::generate(seed, schema);
    let variants = generated.scenario.variants();
    let seeds = generated.scenario.seeds();
    let variant = &variants[seed as usize % variants.len()];
    let run_seed = seeds[seed as usize % seeds.len()];
    let Broken { kind, message } = examine(variant, run_seed).err()?;
    let file = keep(seed, &generated.text);
    Some(Failure {
        seed,
        kind,
        message,
        text: generated.text,
        variant: variant.label.clone(),
        run_seed,
        file,
    })
}

fn examine(variant: &Variant, seed: u64) -> Result<(), Broken> {
    let plan = variant.plan(seed);
    let first = simulate(&plan, run)?;
    properties::check(&plan, &first)?;
    let again = simulate(&plan, run)?;
    properties::same(
        &first,
        &again,
        "the same scenario gives other results when run again",
    )?;
    let execution = random_execution(&plan);
    let divided = simulate(&plan, |plan, progress| run_as(plan, progress, &execution))?;
    let what = format!("the results depend on how the plan is carried out: {execution:?}");
    properties::same(&first, &divided, &what)?;
    // A port that acts at every departure is for plain queues alone.
    let has_agents = plan.groups.iter().any(|group| {
        group
            .controllers()
            .any(|(entry, _)| entry.scheme().is_some())
    });
    if !has_agents && plan.shared_buffer.is_none() {
        let other = simulate(&plan, run_with_departure_ports)?;
        properties::same(&first, &other, "two implementations of a port differ")?;
    }
    Ok(())
}

/// Every node in a region drawn at random, or the regions that the engine would choose; nodes that have their turns in
/// windows, mostly; reading ahead or not; and a number of threads.
fn random_execution(plan: &Plan) -> Execution {
    let mut stream = Stream::new(plan.seed, "random cut", 0);
    let regions = stream.between(1, 8) as u8;
    let threads = [1, 2, 3, 8][stream.below(4) as usize];
    let turns = [Turns::ByNode, Turns::ByNode, Turns::ByTime][stream.below(3) as usize];
    let prefetching = [Prefetching::Always, Prefetching::Never][stream.below(2) as usize];
    let cut = if stream.below(3) == 0 {
        Cut::Into(regions)
    } else {
        let nodes = plan.fabric.nodes.iter();
        let drawn = nodes.map(|_| stream.below(u64::from(regions)) as u8);
        Cut::At(drawn.collect())
    };
    Execution {
        cut,
        turns,
        prefetching,
        threads,
    }
}

/// Runs a plan unless it takes too long; a panic is a failure like any other. Time spent waiting for a processor does
/// not count: on a busy machine, threads that hand over regions wait for each other thousands of times.
fn simulate(
    plan: &Plan,
    engine: impl Fn(&Plan, &Progress) -> Result<Output, RunError>,
) -> Result<Output, Broken> {
    let progress = Progress::default();
    let (done, waiting) = mpsc::channel::<()>();
    let result = std::thread::scope(|scope| {
        let progress = &progress;
        scope.spawn(move || {
            let most = processor_time() + PATIENCE * workers();
            while waiting.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if processor_time() > most {
                    return progress.cancel();
                }
            }
        });
        let result = catch_unwind(AssertUnwindSafe(|| engine(plan, progress)));
        drop(done);
        result
    });
    match result {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(RunError::Cancelled)) => Err(Broken::new(
            "it does not end",
            format!(
                "at {} after {} packet-hops",
                progress.time(),
                progress.packet_hops()
            ),
        )),
        Ok(Err(error)) => Err(Broken::alike("the run failed", error.to_string())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(Broken::alike("it panicked", text.unwrap_or_default()))
        }
    }
}

/// Processor time that all threads have used so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Where failures are kept.
fn kept() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("random-scenarios")
}

/// Writes a scenario and the files that it may name.
fn keep(seed: u64, text: &str) -> PathBuf {
    let target = kept();
    std::fs::create_dir_all(&target).expect("the target folder can be written to");
    for file in ["cdf.csv", "packets.csv"] {
        std::fs::copy(folder().join(file), target.join(file)).expect("the file can be copied");
    }
    let file = target.join(format!("{seed}.toml"));
    std::fs::write(&file, text).expect("the target folder can be written to");
    file
}

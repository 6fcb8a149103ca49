//! One run of a testbed, from its scenario to its results.

use super::cleanup::{Machine, clean};
use super::clock::Clock;
use super::congestion::Controllers;
use super::fabric::{Order, Played, Seen, play};
use super::hosts::RealHosts;
use super::namespace::{Home, Namespace};
use super::output::{self, About, Summary};
use super::priority::Cores;
use super::quic::{QuicGroups, QuicSettings};
use super::shared::Shared;
use super::{interruption, refusal, tun};
use crate::Failure;
use clap::Args;
use pathweave_engine::Output;
use pathweave_engine::live::Run;
use pathweave_scenario::{GroupPlan, Plan, Scenario};
use pathweave_transport::{EcnUse, HostPort};
use pathweave_units::{Rate, Time};
use rustix::fd::OwnedFd;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// `testbed`.
#[derive(Args)]
pub struct Command {
    /// The scenario file.
    #[arg(required_unless_present = "clean", value_name = "SCENARIO.toml")]
    scenario: Option<PathBuf>,
    /// A size of the scenario.
    #[arg(long)]
    size: Option<String>,
    /// Sets a key of the scenario.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Chooses among the scenario's variants.
    #[arg(long, value_name = "AXIS=VALUE")]
    only: Vec<String>,
    /// The variant to run, by the name of its folder.
    #[arg(long, value_name = "SLUG", required_unless_present = "clean")]
    variant: Option<String>,
    /// The seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Divides rates and multiplies delays; results are converted back.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    stretch: u32,
    /// Hosts send packet by packet, not in the kernel's bundles (generic segmentation offload).
    #[arg(long)]
    no_gso: bool,
    /// Runs a traffic group with a congestion control that the kernel has.
    #[arg(long = "controller", value_name = "GROUP=NAME")]
    controllers: Vec<String>,
    /// Plays traffic groups over multipath QUIC: `quic` all groups whose flows have several subflows, `GROUP=quic` one group,
    /// `GROUP=tcp` not this one.
    #[arg(long = "transport", value_name = "quic|GROUP=quic")]
    transports: Vec<String>,
    /// Where the results go.
    #[arg(long, value_name = "FILE.json", required_unless_present = "clean")]
    output: Option<PathBuf>,
    /// Only removes what killed runs have left behind, and says what that was.
    #[arg(long)]
    clean: bool,
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// What the machine lacks, or what did not work.
    pub fn run(self) -> Result<(), Failure> {
        if self.clean {
            for removed in clean()? {
                println!("{removed}");
            }
            return Ok(());
        }
        let (Some(path), Some(slug), Some(output)) = (&self.scenario, &self.variant, &self.output)
        else {
            return Err(Failure::refused(
                "a scenario, a variant and an output file are needed",
            ));
        };
        let plan = self.plan(path, slug)?;
        let quic = QuicGroups::of(&plan, &self.transports)?;
        refusal::check_plan(&plan, &quic)?;
        refusal::check_machine(&plan, &quic)?;
        let results = run(&plan, self.stretch, !self.no_gso, &self.controllers, &quic)?;
        output::write(output, &results)
    }

    /// The plan of a variant. The emulated fabric cannot hold back this machine's sockets, so hosts' own ports drop packets.
    fn plan(&self, path: &Path, slug: &str) -> Result<Plan, Failure> {
        let plan = self.plan_with(&self.sets, path, slug)?;
        let holds_back = |group: &&GroupPlan| group.transport.host_port == HostPort::HoldsBack;
        let drop = plan.groups.iter().filter(holds_back);
        let drop = drop.map(|group| format!("traffic.{}.transport.host_port=drops", group.name));
        let sets: Vec<String> = self.sets.iter().cloned().chain(drop).collect();
        if sets.len() == self.sets.len() {
            return Ok(plan);
        }
        self.plan_with(&sets, path, slug)
    }

    fn plan_with(&self, sets: &[String], path: &Path, slug: &str) -> Result<Plan, Failure> {
        let size = self.size.as_deref();
        let scenario = Scenario::load(path, size, sets, &self.only, None)
            .map_err(|mistakes| Failure::refused(mistakes.render(80, false)))?;
        let variants = scenario.variants();
        let variant = variants
            .iter()
            .find(|variant| variant.slug == slug)
            .ok_or_else(|| {
                let names: Vec<&str> = variants
                    .iter()
                    .map(|variant| variant.slug.as_str())
                    .collect();
                Failure::refused(format!("this scenario has no variant \"{slug}\""))
                    .hint(format!("it has {}", names.join(", ")))
            })?;
        Ok(variant.plan(self.seed))
    }
}

/// Hosts' round-trip times are looked at so often, by the machine's clock.
const LOOKS: Duration = Duration::from_millis(5);
/// What a sender may leave unsent with its kernel, as a time at its host's rate.
const UNSENT: Duration = Duration::from_millis(5);

/// Runs a plan and gives its results.
///
/// # Errors
/// What did not work.
fn run(
    plan: &Plan,
    stretch: u32,
    gso: bool,
    overrides: &[String],
    quic: &QuicGroups,
) -> Result<serde_json::Value, Failure> {
    interruption::listen();
    let cores = Cores::divide()?;
    let machine = Machine::take()?;
    let controllers = Controllers::of(plan, overrides, quic)?;
    let home = Home::new()?;
    let settings = settings(plan, quic, stretch, gso);
    let hosts = 0..plan.fabric.hosts.len() as u32;
    let namespaces = hosts.map(Namespace::new).collect::<Result<Vec<_>, _>>()?;
    let devices = (0..)
        .zip(&namespaces)
        .map(|(host, namespace)| namespace.inside(&home, || tun::make(host, &settings)))
        .collect::<Result<Vec<OwnedFd>, _>>()?;

    let (orders, orders_here) = mpsc::channel();
    let seen = Seen::default();
    let begun = Instant::now();
    let clock = Clock::new(begun, stretch);
    std::thread::scope(|scope| {
        let fabric = std::thread::Builder::new()
            .name("fabric".to_owned())
            .spawn_scoped(scope, {
                let (devices, cores, seen) = (&devices, &cores, &seen);
                move || play(plan, devices, &orders_here, clock, cores, seen)
            })
            .map_err(|error| Failure::new(format!("cannot start a thread: {error}")))?;
        cores.take_others();
        let shared = Shared {
            namespaces: &namespaces,
            home: &home,
            controllers: &controllers,
            clock,
            seed: plan.seed,
            segment: settings.mtu - 40,
            quic_groups: quic,
            quic: match quic.is_empty() {
                true => None,
                false => Some(QuicSettings::new()?),
            },
            plan,
        };
        let hosts = RealHosts::new(shared, orders.clone(), refusal::is_multipath(plan, quic))?;
        let course = Course {
            plan,
            clock,
            hosts,
            orders,
            fabric,
            seen: &seen,
        };
        let (mut output, played, base_rtt) = course.run()?;
        output.notes.extend(refusal::notes(plan, stretch, quic));
        output.notes.extend(machine.notes.iter().cloned());
        output.notes.extend(played.1);
        Ok(output::json(
            &output,
            &About {
                clock,
                stretch,
                gso,
                base_rtt,
                controllers: controllers
                    .pairs()
                    .into_iter()
                    .chain(quic.pairs())
                    .collect(),
                quic,
                wall: begun.elapsed(),
                cpu: cpu_time(),
                played: &played.0,
            },
        ))
    })
}

/// A run that is under way.
struct Course<'a, 's> {
    plan: &'a Plan,
    clock: Clock,
    hosts: RealHosts<'a>,
    orders: mpsc::Sender<Order>,
    fabric: ScopedJoinHandle<'s, Result<Played, Failure>>,
    seen: &'a Seen,
}

type Summaries = (Summary, Option<String>);

impl Course<'_, '_> {
    fn run(mut self) -> Result<(Output, Summaries, Option<Time>), Failure> {
        let failed = |error: pathweave_engine::RunError| Failure::new(error.to_string());
        let mut run = Run::new(self.plan, self.clock.plan_time(LOOKS)).map_err(failed)?;
        let done = self.until_it_ends(&mut run);
        let ended = self.clock.now();
        // Without an order the fabric ends when nobody can give one any more.
        let _ = self.orders.send(Order::End);
        let played = self.fabric.join();
        let played =
            played.unwrap_or_else(|_| Err(Failure::new("the fabric's thread panicked")))?;
        done?;
        let (summary, note) = (Summary::of(&played), played.note);
        let base_rtt = run.base_rtt();
        let output = run
            .finish(ended, played.record, &mut self.hosts)
            .map_err(failed)?;
        Ok((output, (summary, note), base_rtt))
    }

    fn until_it_ends(&mut self, run: &mut Run<'_>) -> Result<(), Failure> {
        let mut reported = Instant::now();
        while run.ended().is_none() {
            if interruption::is_wanted() {
                return Err(Failure::interrupted());
            }
            if self.fabric.is_finished() {
                return Ok(()); // it says why
            }
            run.advance(self.clock.now(), &mut self.hosts);
            let now = self.clock.now();
            for (flow, delivered) in self.hosts.take_progressed() {
                run.delivered(flow, pathweave_units::Bytes::new(delivered), now);
            }
            for (flow, delivered) in self.hosts.take_complete() {
                let delivered = pathweave_units::Bytes::new(delivered);
                run.finished(flow, delivered, self.clock.now(), &mut self.hosts);
            }
            if let Some(failure) = self.hosts.take_failure() {
                return Err(failure);
            }
            if run.ended().is_none() {
                self.hosts.serve(run.next_due())?;
            }
            if reported.elapsed() >= Duration::from_millis(200) {
                reported = Instant::now();
                self.report(run)?;
            }
        }
        Ok(())
    }

    /// Says how far the run is. Whoever started it has gone if nobody reads that: then it ends.
    fn report(&self, run: &Run<'_>) -> Result<(), Failure> {
        let now = self.clock.now();
        let (started, finished) = run.started_and_finished();
        let line = serde_json::json!({
            "time_s": now.as_secs_f64(),
            "until_s": self.plan.stop.at.map(Time::as_secs_f64),
            "fraction": run.fraction(now),
            "packet_hops": self.seen.packet_hops.load(Relaxed),
            "flows_started": started,
            "flows_finished": finished,
        });
        writeln!(std::io::stdout(), "{line}").map_err(|_| Failure::interrupted())
    }
}

/// What the hosts of a plan are like.
fn settings(plan: &Plan, quic: &QuicGroups, stretch: u32, gso: bool) -> tun::Settings {
    let transports = || plan.groups.iter().map(|group| &group.transport);
    let over_tcp = || refusal::over_tcp(plan, quic).map(|group| &group.transport);
    let fastest = plan.fabric.links.iter().map(|link| link.rate).max();
    let rate = fastest.unwrap_or(Rate::ZERO).as_bps() / u64::from(stretch);
    let unsent = rate as f64 / 8.0 * UNSENT.as_secs_f64();
    let timeout = refusal::shared(plan, quic, |group| group.transport.minimum_rto);
    tun::Settings {
        minimum_rto: timeout
            .map(|time| Clock::new(Instant::now(), stretch).between(Time::ZERO, time)),
        mtu: transports()
            .map(|config| config.data_packet)
            .max()
            .unwrap_or(1500),
        addresses: refusal::most_subflows(plan),
        initial_window: refusal::shared(plan, quic, |group| refusal::initial_window(group) as u32),
        quick_acks: over_tcp().all(|config| config.ack_every == 1),
        gso,
        ecn: over_tcp().any(|config| config.ecn == EcnUse::On),
        unsent: (unsent as u32).clamp(64 << 10, 4 << 20),
    }
}

/// What the process has used of the processors.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

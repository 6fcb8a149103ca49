//! A traffic group as a program that reacts to time and completions.

use crate::launcher::Launcher;
use crate::patterns::Running;
use crate::{Event, FlowStart, Hosts, Iteration, Job, Pattern, Size, TrafficError};
use pathweave_units::Time;

/// A running traffic group.
#[derive(Debug)]
pub struct Program {
    running: Box<dyn Running>,
    launcher: Launcher,
}

impl Program {
    /// Checks a group's options and gets ready to run it.
    ///
    /// `seed` and `group` name its random streams. With `jitter` every start is put off by a random
    /// time below it (usually one base round-trip time), because flows that start in step stay in step
    /// and then drop-tail losses fall on whom they will. Put off are the starts of permutations,
    /// random flows, many-to-one, many-to-many, bursts and listed flows one by one, and those of an
    /// incast job's requests together; not put off are answers, which are reactions, and Poisson
    /// arrivals, which are random already.
    ///
    /// # Errors
    /// When an option is impossible; the text names it and says what would be accepted.
    pub fn new(
        pattern: Pattern,
        size: Size,
        hosts: &Hosts,
        seed: u64,
        group: u64,
        jitter: Option<Time>,
    ) -> Result<Program, TrafficError> {
        hosts.validate()?;
        size.check()?;
        let launcher = Launcher::new(size, jitter.unwrap_or(Time::ZERO), (seed, group));
        let running = pattern.start(hosts, seed, group, &launcher)?;
        Ok(Program { running, launcher })
    }

    /// Handles an event; pushes the flows to start onto `starts`.
    pub fn on(&mut self, event: Event, now: Time, starts: &mut Vec<FlowStart>) {
        self.running.on(event, now, &mut self.launcher, starts);
    }

    /// When the program next wants [`Event::Wake`].
    pub fn next_wake(&self) -> Option<Time> {
        match (self.launcher.halted, self.launcher.draining) {
            (true, _) => None,
            (false, true) => self.running.wake_while_draining(),
            (false, false) => self.running.next_wake(),
        }
    }

    /// How many flows it will still ask for, where the pattern's options say it.
    pub fn to_come(&self) -> Option<u64> {
        if self.launcher.draining {
            return Some(0);
        }
        self.running.to_come()
    }

    /// Starts nothing new from now on; what is under way goes on, the answers of jobs that have begun
    /// included.
    pub fn drain(&mut self) {
        self.launcher.draining = true;
    }

    /// Starts nothing at all from now on.
    pub fn halt(&mut self) {
        self.launcher.draining = true;
        self.launcher.halted = true;
    }

    /// The iterations begun so far, where jobs repeat: as many as jobs, in the same order. Empty elsewhere.
    pub fn iterations(&self) -> &[Iteration] {
        &self.launcher.iterations
    }

    /// The jobs begun so far.
    pub fn jobs(&self) -> &[Job] {
        &self.launcher.jobs
    }
}

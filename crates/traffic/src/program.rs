//! A traffic group as a program that reacts to time and completions.

use crate::patterns::Running;
use crate::{Hosts, Pattern, Size, TrafficError};
use pathweave_random::Stream;
use pathweave_units::{Bytes, Time};

/// A flow that a program wants started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStart {
    /// The program's own name for it; comes back in [`Event::Finished`]. Counts up from zero.
    pub tag: u64,
    /// Index of the sending host.
    pub source: u32,
    /// Index of the receiving host.
    pub destination: u32,
    /// How much to send; `None` sends until it is stopped.
    pub size: Option<Bytes>,
    /// When to start: now or later.
    pub at: Time,
    /// When to stop sending, if ever.
    pub stop: Option<Time>,
    /// The job it belongs to, an index into [`Program::jobs`].
    pub job: Option<u32>,
    /// For explicitly listed flows, which entry of the list it is: engine and results find its
    /// name, pinned paths and subflow opening times there.
    pub listed: Option<u32>,
    /// It answers on a connection that is open already, so no handshake comes first.
    pub established: bool,
}

/// What a program is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run begins.
    Begin,
    /// The time that [`Program::next_wake`] named has come.
    Wake,
    /// The news of a flow whose last byte was delivered.
    Finished {
        /// The flow's tag.
        tag: u64,
        /// When that was: not after the program hears of it, and usually before.
        at: Time,
    },
}

/// A job: a group of flows that counts as done when its last one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// When its first flow started.
    pub start: Time,
    /// When its last flow finished, if it has.
    pub end: Option<Time>,
    /// Number of flows in it.
    pub flows: u32,
    /// Bytes asked of it in total.
    pub bytes: Bytes,
}

/// An iteration of a job that repeats: one row of [`Program::iterations`] for each of [`Program::jobs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Its index in [`Program::jobs`].
    pub job: u32,
    /// Which of the group's teams of hosts carried it out, from 0.
    pub team: u32,
    /// Its number among the team's iterations, from 0.
    pub number: u64,
    /// When it began: with computing, where there is any.
    pub began: Time,
    /// When all of it was done, computing that follows the last transfer included.
    pub ended: Option<Time>,
}

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
        let launcher = Launcher {
            size,
            sizes: Stream::new(seed, "traffic.size", group),
            jitter: jitter.unwrap_or(Time::ZERO),
            jitters: Stream::new(seed, "traffic.jitter", group),
            next_tag: 0,
            jobs: Vec::new(),
            iterations: Vec::new(),
            draining: false,
            halted: false,
        };
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

/// What all patterns start flows through: it names them, draws their sizes and puts off their starts.
#[derive(Debug)]
pub(crate) struct Launcher {
    size: Size,
    sizes: Stream,
    jitter: Time,
    jitters: Stream,
    next_tag: u64,
    jobs: Vec<Job>,
    iterations: Vec<Iteration>,
    draining: bool,
    halted: bool,
}

impl Launcher {
    /// Whether nothing new may start.
    pub(crate) fn draining(&self) -> bool {
        self.draining
    }

    /// The group's size distribution.
    pub(crate) fn size(&self) -> &Size {
        &self.size
    }

    /// A time put off by the jitter.
    pub(crate) fn put_off(&mut self, time: Time) -> Time {
        if self.jitter == Time::ZERO {
            return time;
        }
        let jitter = self.jitters.below(self.jitter.as_picos());
        time.saturating_add(Time::from_picos(jitter))
    }

    /// Draws the size of a flow, from the group's distribution unless it has its own.
    pub(crate) fn draw_size(&mut self, own: Option<&Size>) -> Option<Bytes> {
        own.unwrap_or(&self.size).draw(&mut self.sizes)
    }

    /// Starts a flow of the group's size at this time or, with jitter, a little later. Gives its tag.
    pub(crate) fn start(
        &mut self,
        source: u32,
        destination: u32,
        time: Time,
        starts: &mut Vec<FlowStart>,
    ) -> u64 {
        let at = self.put_off(time);
        self.start_at(source, destination, at, starts)
    }

    /// Starts a flow of the group's size at exactly this time. Gives its tag.
    pub(crate) fn start_at(
        &mut self,
        source: u32,
        destination: u32,
        at: Time,
        starts: &mut Vec<FlowStart>,
    ) -> u64 {
        let size = self.draw_size(None);
        self.push(starts, source, destination, size, at).tag
    }

    /// Pushes a flow with a fresh tag, for the pattern to complete.
    pub(crate) fn push<'a>(
        &mut self,
        starts: &'a mut Vec<FlowStart>,
        source: u32,
        destination: u32,
        size: Option<Bytes>,
        at: Time,
    ) -> &'a mut FlowStart {
        let tag = self.next_tag;
        self.next_tag += 1;
        starts.push(FlowStart {
            tag,
            source,
            destination,
            size,
            at,
            stop: None,
            job: None,
            listed: None,
            established: false,
        });
        starts.last_mut().expect("it was just pushed")
    }

    /// Adds a job and gives its index.
    pub(crate) fn begin_job(&mut self, job: Job) -> u32 {
        self.jobs.push(job);
        self.jobs.len() as u32 - 1
    }

    /// Notes the end of a job.
    pub(crate) fn end_job(&mut self, job: u32, now: Time) {
        self.jobs[job as usize].end = Some(now);
    }
    /// A job's first flow starts now: it was begun before.
    pub(crate) fn set_job_start(&mut self, job: u32, now: Time) {
        self.jobs[job as usize].start = now;
    }

    /// Adds the iteration of the job that was begun last.
    pub(crate) fn begin_iteration(&mut self, iteration: Iteration) {
        debug_assert_eq!(iteration.job as usize, self.iterations.len());
        self.iterations.push(iteration);
    }

    /// Notes the end of a job's iteration.
    pub(crate) fn end_iteration(&mut self, job: u32, at: Time) {
        self.iterations[job as usize].ended = Some(at);
    }
}

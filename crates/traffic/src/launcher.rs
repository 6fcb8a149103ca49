//! What all patterns start flows through.

use crate::{FlowStart, Iteration, Job, Size};
use pathweave_random::Stream;
use pathweave_units::{Bytes, Time};

/// What all patterns start flows through: it names them, draws their sizes and puts off their starts.
#[derive(Debug)]
pub(crate) struct Launcher {
    size: Size,
    sizes: Stream,
    jitter: Time,
    jitters: Stream,
    next_tag: u64,
    /// Those begun so far.
    pub(crate) jobs: Vec<Job>,
    /// Of each job, where jobs repeat; else none.
    pub(crate) iterations: Vec<Iteration>,
    /// Nothing new starts.
    pub(crate) draining: bool,
    /// Nothing at all starts.
    pub(crate) halted: bool,
}

impl Launcher {
    /// Of a traffic group with flows of this size, whose starts are put off by less than `jitter`.
    pub(crate) fn new(size: Size, jitter: Time, (seed, group): (u64, u64)) -> Launcher {
        Launcher {
            size,
            sizes: Stream::new(seed, "traffic.size", group),
            jitter,
            jitters: Stream::new(seed, "traffic.jitter", group),
            next_tag: 0,
            jobs: Vec::new(),
            iterations: Vec::new(),
            draining: false,
            halted: false,
        }
    }

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

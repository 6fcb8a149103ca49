//! Jobs in which one client asks several servers at once.

use super::active::Active;
use super::{Running, check_count};
use crate::program::Launcher;
use crate::{Event, FlowStart, Hosts, Job, TrafficError};
use pathweave_random::Stream;
use pathweave_units::{Bytes, Time};

/// A number of jobs at all times. A job picks one client and its servers at random; the client
/// sends a request to each server, each server answers when it has the whole request, and the job
/// ends when the client has all answers. Then a new job starts. The group's size is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incast {
    /// The hosts that jobs pick from, more than `servers`.
    pub hosts: Option<Vec<u32>>,
    /// Jobs under way at a time.
    pub jobs: u32,
    /// Servers that a job asks.
    pub servers: u32,
    /// Size of a request.
    pub request: Bytes,
    /// Size of an answer.
    pub response: Bytes,
}

impl Default for Incast {
    fn default() -> Incast {
        Incast {
            hosts: None,
            jobs: 8,
            servers: 8,
            request: Bytes::new(2_000),
            response: Bytes::new(64_000),
        }
    }
}

#[derive(Debug)]
struct Jobs {
    options: Incast,
    /// The hosts in an order of which the next job shuffles the front.
    hosts: Vec<u32>,
    stream: Stream,
    active: Active<Part>,
    /// Answers that each job under way still lacks, by slot.
    missing: Vec<u32>,
}

/// A flow's part in its job.
#[derive(Clone, Copy, Debug)]
enum Part {
    Request {
        slot: u32,
        job: u32,
        client: u32,
        server: u32,
    },
    Response {
        slot: u32,
        job: u32,
    },
}

impl Incast {
    pub(super) fn start(
        self,
        hosts: &Hosts,
        stream: Stream,
    ) -> Result<Box<dyn Running>, TrafficError> {
        check_count("jobs", u64::from(self.jobs))?;
        check_count("servers", u64::from(self.servers))?;
        check_count("request", self.request.get())?;
        check_count("response", self.response.get())?;
        let hosts = hosts.select("hosts", self.hosts.as_deref())?;
        if hosts.len() as u64 <= u64::from(self.servers) {
            return Err(TrafficError(format!(
                "servers is {}, but with the client a job then needs {} hosts and there are {}",
                self.servers,
                u64::from(self.servers) + 1,
                hosts.len()
            )));
        }
        Ok(Box::new(Jobs {
            missing: vec![0; self.jobs as usize],
            options: self,
            hosts,
            stream,
            active: Active::new(),
        }))
    }
}

impl Jobs {
    /// Starts the next job of a slot: all its requests leave the client together.
    fn begin_job(
        &mut self,
        slot: u32,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        let servers = self.options.servers;
        for place in 0..=servers as usize {
            let left = (self.hosts.len() - place) as u64;
            self.hosts
                .swap(place, place + self.stream.below(left) as usize);
        }
        let at = launcher.put_off(now);
        let each = self.options.request + self.options.response;
        let job = launcher.begin_job(Job {
            start: at,
            end: None,
            flows: servers * 2,
            bytes: Bytes::new(each.get() * u64::from(servers)),
        });
        self.missing[slot as usize] = servers;
        let client = self.hosts[0];
        for &server in &self.hosts[1..=servers as usize] {
            let request = Some(self.options.request);
            let flow = launcher.push(starts, client, server, request, at);
            flow.job = Some(job);
            let part = Part::Request {
                slot,
                job,
                client,
                server,
            };
            self.active.insert(flow.tag, part);
        }
    }
}

impl Running for Jobs {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        match event {
            Event::Begin if !launcher.draining() => {
                for slot in 0..self.options.jobs {
                    self.begin_job(slot, now, launcher, starts);
                }
            }
            Event::Begin | Event::Wake => {}
            Event::Finished { tag, at } => match self.active.remove(tag) {
                Some(Part::Request {
                    slot,
                    job,
                    client,
                    server,
                }) => {
                    let response = Some(self.options.response);
                    let flow = launcher.push(starts, server, client, response, now);
                    flow.job = Some(job);
                    flow.established = true;
                    self.active.insert(flow.tag, Part::Response { slot, job });
                }
                Some(Part::Response { slot, job }) => {
                    self.missing[slot as usize] -= 1;
                    if self.missing[slot as usize] == 0 {
                        launcher.end_job(job, at);
                        if !launcher.draining() {
                            self.begin_job(slot, now, launcher, starts);
                        }
                    }
                }
                None => {}
            },
        }
    }
}

//! Progress, and what must hold at the end of every run.

use super::Simulation;
use super::lifetimes::FLOWS_BETWEEN_LOOKS;
use crate::outcome::RunError;
use pathweave_fabric::LinkId;
use pathweave_network::{Conservation, Ports};

impl<P: Ports> Simulation<'_, P> {
    pub(super) fn report_progress(&self) {
        let now = self.regions.now();
        let (started, finished) = self.workload.started_and_finished();
        let done = self.workload.fraction(now);
        let packet_hops = self.regions.iter().map(|region| region.packet_hops).sum();
        self.progress.set(now, packet_hops, started, finished, done);
    }

    pub(super) fn check(&self) -> Result<(), RunError> {
        let now = self.regions.now();
        let mut networks = self.regions.iter().map(|region| &region.network);
        let checked = networks.try_for_each(|network| network.check_conservation(now));
        checked.map_err(|broken| {
            RunError::Check(match broken {
                Conservation::Link {
                    link,
                    offered,
                    accounted,
                } => format!(
                    "link {}: {offered} packets went in, {accounted} are accounted for",
                    self.plan.fabric.link_name(LinkId(link))
                ),
                Conservation::Network { under_way, held } => {
                    format!("{under_way} packets are under way, but links hold {held}")
                }
            })
        })?;
        for (number, flow) in (0u32..).zip(&self.workload.flows) {
            if number % FLOWS_BETWEEN_LOOKS == 0 {
                self.stop_if_cancelled()?;
            }
            let size = flow.size.map_or(u64::MAX, |size| size.get().max(1));
            let delivered = flow.delivered.get();
            // Only a stop ends a flow of which not all was delivered.
            let wrong = flow.end.is_some() && !flow.stopped && delivered != size;
            if wrong || delivered > size {
                return Err(RunError::Check(format!(
                    "flow {number} ended with {} delivered",
                    flow.delivered
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Execution, Progress, Verdict};
    use pathweave_network::FifoPorts;
    use pathweave_scenario::Plan;
    use std::time::{Duration, Instant};

    /// This many flows that all start and that the end of the run cuts off before any byte is delivered.
    fn unfinished(flows: u32) -> Plan {
        let text = format!(
            r#"
            jitter = "none"
            [fabric]
            kind = "dumbbell"
            left = 1
            bottleneck_rate = "1 Gbps"
            bottleneck_delay = "1 s"
            [[traffic]]
            name = "many"
            pattern = "bursts"
            destination = "D1"
            sources = ["S1"]
            flows = {flows}
            period = "1 s"
            bursts = 1
            size = "1 KB"
            controller = "reno"
            transport = {{ handshake = "none" }}
            [stop]
            at = "1 us"
            "#
        );
        let scenario = pathweave_scenario::check(&text)
            .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
        scenario.variants()[0].plan(1)
    }

    /// A run that has come to its end and whose results have not been collected.
    fn at_its_end<'p>(plan: &'p Plan, progress: &'p Progress) -> Simulation<'p, FifoPorts> {
        let mut run = Simulation::new(plan, progress, &Execution::PLAIN).expect("a run");
        run.workload.schedule(&mut run.agenda.traffic);
        assert_eq!(run.run_to_the_end(&mut None), Ok(Verdict::Stopped));
        let unfinished = run.workload.active.iter().count();
        assert!(unfinished >= 10_000, "{unfinished} flows");
        run
    }

    #[test]
    fn the_check_of_many_flows_takes_no_time() {
        let (plan, progress) = (unfinished(100_000), Progress::default());
        let run = at_its_end(&plan, &progress);
        let times = (0..3).map(|_| {
            let start = Instant::now();
            run.check().expect("a run without defects");
            start.elapsed()
        });
        let time = times.min().expect("several times");
        // A tenth of a second on a busy machine; looking through all connections for every flow takes
        // five seconds.
        assert!(time < Duration::from_secs(1), "{time:?}");
    }

    #[test]
    fn a_run_can_be_cancelled_at_its_very_end() {
        let (plan, progress) = (unfinished(10_000), Progress::default());
        let mut run = at_its_end(&plan, &progress);
        progress.cancel();
        assert_eq!(run.check(), Err(RunError::Cancelled));
        assert_eq!(run.conclude(), Err(RunError::Cancelled));
    }
}

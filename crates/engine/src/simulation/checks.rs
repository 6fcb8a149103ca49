//! Progress, and what must hold at the end of every run.

use super::{RunError, Simulation};
use pathweave_fabric::LinkId;
use pathweave_network::Port;
use pathweave_transport::ConnectionId;

impl<P: Port> Simulation<'_, P> {
    pub(super) fn report_progress(&self) {
        let now = self.scheduler.now();
        let (started, finished) = self.workload.started_and_finished();
        let done = self.workload.fraction(now);
        self.progress
            .set(now, self.packet_hops, started, finished, done);
    }

    pub(super) fn check(&self) -> Result<(), RunError> {
        let now = self.scheduler.now();
        self.network.check_conservation(now).map_err(|broken| {
            let link = self.plan.fabric.link_name(LinkId(broken.link));
            RunError::Check(format!(
                "link {link}: {} packets went in, {} are accounted for",
                broken.offered, broken.accounted
            ))
        })?;
        for (number, flow) in self.workload.flows.iter().enumerate() {
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
        for &number in &self.workload.active {
            let connection = self.flow_of.iter().position(|&flow| flow == number);
            if let Some(place) = connection
                && !self.endpoints.is_consistent(ConnectionId(place as u32))
            {
                return Err(RunError::Check(format!(
                    "flow {number}: data was not delivered once and in order"
                )));
            }
        }
        Ok(())
    }
}

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
            let wrong = flow.end.is_some()
                && flow.stop.is_none()
                && flow
                    .size
                    .is_some_and(|size| size.get().max(1) != flow.delivered.get());
            if wrong {
                return Err(RunError::Check(format!(
                    "flow {number} finished with {} delivered",
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

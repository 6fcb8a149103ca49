//! Progress, and what must hold at the end of every run.

use super::{RunError, Simulation};
use pathweave_fabric::LinkId;
use pathweave_network::Port;
use pathweave_transport::ConnectionId;

impl<P: Port> Simulation<'_, P> {
    pub(super) fn report_progress(&self) {
        let now = self.scheduler.now();
        let (started, finished) = self.counts.iter().fold((0, 0), |(s, f), count| {
            (s + count.started, f + count.finished)
        });
        let by_time = self.plan.stop.at.map_or(0.0, |at| {
            now.as_picos() as f64 / at.as_picos().max(1) as f64
        });
        let by_flows = if self.plan.stop.at.is_none() && self.plan.stop.traffic.is_none() {
            finished as f64 / started.max(1) as f64
        } else {
            0.0
        };
        let done = by_time.max(self.amount_done()).max(by_flows);
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
        for (number, flow) in self.flows.iter().enumerate() {
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
        for &number in &self.active {
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

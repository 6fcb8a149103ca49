//! The routes of a run's flows, and how switches that notice a change of links choose new ones.

use crate::flows::flow::Flow;
use crate::flows::paths::SubflowPaths;
use pathweave_fabric::routing::Router;
use pathweave_fabric::{FabricError, LinkId};
use pathweave_scenario::Plan;
use pathweave_units::Time;
use std::collections::VecDeque;

/// The present routing of a run.
pub(crate) struct Routing {
    /// Over all links.
    intact: Router,
    /// Over the links that switches take for usable, since they have first noticed that one is not.
    present: Option<Router>,
    /// None where paths are not sought again.
    detection: Option<Detection>,
}

/// What switches know of the links.
struct Detection {
    delay: Time,
    /// When each link last changed.
    changed: Vec<Time>,
    /// Whether each link is taken for up.
    known: Vec<bool>,
    /// When changes will have lasted long enough to be noticed.
    due: VecDeque<Time>,
}

impl Routing {
    pub fn new(plan: &Plan) -> Result<Routing, FabricError> {
        let intact = Router::new(&plan.fabric, plan.routing.clone(), plan.seed)?;
        let links = plan.fabric.links.len();
        let detection = intact.detection_delay().map(|delay| Detection {
            delay,
            changed: vec![Time::ZERO; links],
            known: (0..links as u32)
                .map(|link| !plan.fabric.is_down(LinkId(link)))
                .collect(),
            due: VecDeque::new(),
        });
        Ok(Routing {
            intact,
            present: None,
            detection,
        })
    }

    /// The routing when all links are up.
    pub fn intact(&self) -> &Router {
        &self.intact
    }

    /// Finds the paths of flow `number`'s subflow, which take the place of those in `paths`; where no link leads on,
    /// those that it would have if all were up.
    pub fn find(
        &self,
        plan: &Plan,
        number: u32,
        flow: &Flow,
        subflow: u32,
        paths: &mut SubflowPaths,
    ) {
        if let Some(present) = &self.present {
            paths.find(plan, present, number, flow, subflow);
            if !paths.forward.is_empty() {
                return;
            }
        }
        paths.find(plan, &self.intact, number, flow, subflow);
    }

    /// A link went down or came back.
    pub fn on_change(&mut self, LinkId(link): LinkId, now: Time) {
        if let Some(detection) = &mut self.detection {
            detection.changed[link as usize] = now;
            let due = now + detection.delay;
            if detection.due.back() != Some(&due) {
                detection.due.push_back(due);
            }
        }
    }

    /// Whether switches take a link for up, and will look again whether it is.
    pub fn takes_for_up(&self, LinkId(link): LinkId) -> bool {
        let detection = self.detection.as_ref();
        detection.is_some_and(|detection| detection.known[link as usize])
    }

    /// When switches next look for new paths; `Time::MAX` if nothing has changed.
    pub fn next_detection(&self) -> Time {
        let detection = self.detection.as_ref();
        let due = detection.and_then(|detection| detection.due.front());
        due.copied().unwrap_or(Time::MAX)
    }

    /// Switches notice what has lasted for the detection delay. Returns whether any path may differ.
    pub fn detect(&mut self, plan: &Plan, now: Time, is_up: impl Fn(u32) -> bool) -> bool {
        let Some(detection) = &mut self.detection else {
            return false;
        };
        while detection.due.front().is_some_and(|&due| due <= now) {
            detection.due.pop_front();
        }
        let mut differs = false;
        for (link, known) in (0u32..).zip(&mut detection.known) {
            let lasted = detection.changed[link as usize] + detection.delay <= now;
            if lasted && *known != is_up(link) {
                *known = !*known;
                differs = true;
            }
        }
        if differs {
            let usable = |LinkId(link): LinkId| detection.known[link as usize];
            self.present = Some(self.intact.over(&plan.fabric, usable));
        }
        differs
    }
}

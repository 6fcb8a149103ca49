//! Marks for a controller that has no answer of its own to them: RFC 3168's, by which a marked round is a loss.

use crate::{Ack, Change, Controller, Feedback, Loss, Path, Paths, PerSubflow, Round, SubflowId};
use alloc::boxed::Box;
use pathweave_units::Time;

/// The last reduction of a window.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    round: Round,
    by_mark: bool,
}

/// A controller whose subflows lose something, as far as it knows, in each round that is marked.
///
/// A window that was reduced, by a mark or by lost packets, is not reduced by a mark in the same round, and neither by
/// lost packets if it was by a mark (RFC 3168, section 6.1.2). A timeout always counts. Whether a marked
/// acknowledgement grows the window is the transport's choice.
#[derive(Debug)]
pub struct MarksAsLosses<C: ?Sized = dyn Controller> {
    controller: Box<C>,
    reduced: PerSubflow<Option<Reduction>>,
}

impl<C: ?Sized> Clone for MarksAsLosses<C>
where
    Box<C>: Clone,
{
    fn clone(&self) -> MarksAsLosses<C> {
        MarksAsLosses {
            controller: self.controller.clone(),
            reduced: self.reduced.clone(),
        }
    }
}

impl<C: Controller + ?Sized> MarksAsLosses<C> {
    /// The same controller, for packets that are ECN-capable.
    pub fn new(controller: Box<C>) -> MarksAsLosses<C> {
        MarksAsLosses {
            controller,
            reduced: PerSubflow::new(None),
        }
    }

    /// The reduction whose round is under way.
    fn recent(&mut self, path: &Path, r: SubflowId) -> Option<Reduction> {
        self.reduced
            .get(r)
            .filter(|reduction| !reduction.round.is_over(path))
    }

    fn reduce(
        &mut self,
        paths: &mut Paths<'_>,
        r: SubflowId,
        loss: Loss,
        by_mark: bool,
        now: Time,
    ) {
        let round = Round::beginning(&paths[r]);
        *self.reduced.get(r) = Some(Reduction { round, by_mark });
        self.controller.on_loss(paths, r, loss, now);
    }
}

impl<C: Controller + ?Sized> Controller for MarksAsLosses<C> {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let grows = ack.ce == 0 || paths[r].growth_by_marked_acks;
        let reduce = ack.ce > 0 && self.recent(&paths[r], r).is_none();
        if reduce && !grows {
            self.reduce(paths, r, Loss::FastRetransmit, true, ack.now);
        }
        let unmarked = Ack {
            ce: 0,
            recovery: ack.recovery || !grows,
            ..*ack
        };
        self.controller.on_ack(paths, r, &unmarked);
        // The code in which marked acknowledgements grow windows lets them do so before it cuts.
        if reduce && grows {
            self.reduce(paths, r, Loss::FastRetransmit, true, ack.now);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, now: Time) {
        let marked = self.recent(&paths[r], r).is_some_and(|last| last.by_mark);
        if loss.restarts() || !marked {
            self.reduce(paths, r, loss, false, now);
        }
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.reduced.restart(r);
        }
        self.controller.on_subflow(paths, r, change);
    }

    fn on_spurious_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId) {
        self.controller.on_spurious_loss(paths, r);
    }

    fn on_idle(&mut self, r: SubflowId, now: Time) {
        self.controller.on_idle(r, now);
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.controller.on_packet_size(r, factor);
    }

    fn on_send(&mut self, paths: &Paths<'_>, r: SubflowId, now: Time) -> Feedback {
        self.controller.on_send(paths, r, now)
    }
}

#[cfg(test)]
mod tests {
    use super::MarksAsLosses;
    use crate::Loss;
    use crate::greedy_sender::GreedySender;
    use pathweave_units::Time;

    fn reno(window: f64) -> GreedySender {
        GreedySender::new("reno", &[], &[(window, 100)])
            .of(|controller| alloc::boxed::Box::new(MarksAsLosses::new(controller)))
    }

    #[test]
    fn a_marked_round_halves_the_window_once() {
        let mut connection = reno(20.0);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (10.0, 10.0));
        // 19 packets are still on their way; marks of their round cost nothing more, and bring nothing.
        for _ in 0..19 {
            connection.ack(0, 1, 1);
        }
        assert_eq!(connection.window(0), 10.0);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 5.0);
    }

    #[test]
    fn without_marks_it_is_the_controller_itself() {
        let mut connection = reno(10.0);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);
        // One loss event after the other, as the transport tells of them.
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 10.1 / 2.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 10.1 / 4.0);
    }

    #[test]
    fn the_controller_learns_of_idle_time() {
        let [with, without] = [true, false].map(|tells| {
            let mut connection = GreedySender::new("cubic", &[], &[(1000.0, 100_000)])
                .of(|controller| alloc::boxed::Box::new(MarksAsLosses::new(controller)));
            connection.loss(0, Loss::FastRetransmit);
            connection.ack(0, 1, 0);
            connection.now += Time::from_secs(10);
            if tells {
                connection.idle(0);
            }
            connection.ack(0, 1, 0);
            connection.window(0)
        });
        assert!(with < without, "{with} and {without}");
    }

    #[test]
    fn a_loss_in_a_marked_round_costs_nothing_more_but_a_timeout_does() {
        let mut connection = reno(20.0);
        connection.ack(0, 1, 1);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 10.0);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 5.0));
    }

    #[test]
    fn a_mark_in_a_round_that_has_lost_costs_nothing_more() {
        let mut connection = reno(20.0);
        connection.ack(0, 1, 0);
        connection.loss(0, Loss::FastRetransmit);
        let window = connection.window(0);
        connection.ack(0, 1, 1);
        assert!(connection.window(0) >= window);
    }
}

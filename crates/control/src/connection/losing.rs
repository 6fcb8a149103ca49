//! Packets that get lost.

use super::path_record::BeforeLoss;
use super::{Connection, PathId};
use crate::{Loss, Paths, SubflowId};
use pathweave_units::{Bytes, Time};

impl Connection {
    /// A packet that counts as in flight is waited for no longer, and says nothing of the path: it was declared lost, which
    /// [`on_loss`](Connection::on_loss) is told of once for all, or it was discarded, such as with its keys.
    #[inline]
    pub fn on_packet_gone(&mut self, id: PathId, bytes: Bytes) {
        if let Some(r) = self.find(id) {
            self.settle(r, bytes);
            self.close_if_drained(r);
        }
    }

    /// Packets were declared lost, the latest of them sent at `sent`.
    ///
    /// To be called each time that packets are declared lost. It is one loss to the controller as long as the latest was sent
    /// before the window was cut last (RFC 9002, section 7.3.2). `persistent` says that all packets over a long time were lost
    /// (section 7.6): the window is then the minimum window and the smallest RTT is measured again.
    pub fn on_loss(&mut self, id: PathId, sent: Time, persistent: bool, now: Time) {
        let Some(r) = self.find(id) else { return };
        let (path, record) = (&mut self.paths[r], &mut self.records[r]);
        let known = record.cut.is_some_and(|cut| sent <= cut);
        if sent < record.began || (known && !persistent) {
            return;
        }
        let (window, ssthresh, cut) = (path.window, path.ssthresh, record.cut);
        path.in_recovery = !persistent;
        record.cut = Some(now);
        let loss = if persistent {
            Loss::PersistentCongestion
        } else {
            Loss::FastRetransmit
        };
        let mut paths = Paths::new(&mut self.paths);
        self.controller
            .on_loss(&mut paths, SubflowId(r as u32), loss, now);
        let (path, record) = (&mut self.paths[r], &mut self.records[r]);
        if persistent {
            // There is no recovery: slow start begins with what is sent now (section 7.6.2).
            record.cut = None;
            record.before_loss = None;
            path.minimum_rtt = if path.has_rtt() {
                path.latest_rtt
            } else {
                Time::MAX
            };
            if known {
                // The same loss has set it already, and counts once.
                path.ssthresh = ssthresh;
            }
        } else {
            record.before_loss = Some(BeforeLoss {
                window,
                ssthresh,
                cut,
                left: path.ssthresh,
            });
        }
    }

    /// All packets of the latest loss have arrived after all: there was none. Window and ssthresh are again what they were before
    /// it, unless something else has cut the window since or the path was silent. Returns whether they are.
    pub fn on_spurious_loss(&mut self, id: PathId) -> bool {
        let Some(r) = self.find(id) else { return false };
        let (path, record) = (&mut self.paths[r], &mut self.records[r]);
        let Some(before) = record.before_loss.take() else {
            return false;
        };
        if path.ssthresh != before.left {
            return false;
        }
        path.window = path.window.max(before.window);
        path.ssthresh = before.ssthresh;
        path.in_recovery = false;
        record.cut = before.cut;
        let mut paths = Paths::new(&mut self.paths);
        self.controller
            .on_spurious_loss(&mut paths, SubflowId(r as u32));
        true
    }
}

//! Paths that open, change and go.

use super::path_record::PathRecord;
use super::{Connection, PathError, PathId};
use crate::{Change, PathState, Paths, SubflowId};
use pathweave_units::{Bytes, Time};

impl Connection {
    /// A path opens, whose full packets have this many bytes. It may send at once, and is coupled from its first
    /// acknowledgement on, or once [`validated`](Connection::validated) is called.
    ///
    /// # Errors
    /// When a path with this id is alive, or the packet size is zero.
    pub fn open(&mut self, id: PathId, packet: Bytes, now: Time) -> Result<(), PathError> {
        if self.find(id).is_some() {
            return Err(PathError::Alive(id));
        }
        if packet == Bytes::ZERO {
            return Err(PathError::NoPacketSize(id));
        }
        let (path, record) = (self.start.path(packet), PathRecord::new(id, now));
        match self.records.iter().position(|record| record.id.is_none()) {
            Some(free) => {
                (self.paths[free], self.records[free]) = (path, record);
                // A loss may come before the first acknowledgement: nothing of the earlier path may be left by then. The
                // path counts as opening all the same, and as open later.
                let mut paths = Paths::new(&mut self.paths);
                self.controller
                    .on_subflow(&mut paths, SubflowId(free as u32), Change::Opened);
            }
            None => {
                self.paths.push(path);
                self.records.push(record);
            }
        }
        Ok(())
    }

    /// The peer has answered on a path that was opening.
    pub fn validated(&mut self, id: PathId) {
        self.change(id, Change::Opened, |state| state == PathState::Opening);
    }

    /// A path is to take data only when no active one can.
    pub fn stand_by(&mut self, id: PathId) {
        self.change(id, Change::StoodBy, |state| {
            matches!(state, PathState::Active | PathState::Failed)
        });
    }

    /// Probe timeouts in a row have brought no acknowledgement. The next one takes the path back.
    pub fn fail(&mut self, id: PathId) {
        self.change(id, Change::Failed, |state| {
            matches!(state, PathState::Active | PathState::Standby)
        });
    }

    /// A path on standby, or one that has failed, takes data again.
    pub fn resume(&mut self, id: PathId) {
        self.change(id, Change::Recovered, |state| {
            matches!(state, PathState::Standby | PathState::Failed)
        });
    }

    /// A path takes no new data and never will. What is in flight may still be acknowledged; with nothing in flight the path
    /// is gone.
    pub fn abandon(&mut self, id: PathId) {
        self.change(id, Change::Abandoned, |state| state != PathState::Abandoned);
        if let Some(r) = self.find(id) {
            self.close_if_drained(r);
        }
    }

    /// A path goes on over another network path. RTT, window and ssthresh start again, as does the validation of ECN, and
    /// packets sent before `now` count for nothing any more (RFC 9000, section 9.4). A path that changes only the peer's
    /// port may keep what it has: the transport then does not call this.
    pub fn migrate(&mut self, id: PathId, now: Time) {
        let Some(r) = self.find(id) else { return };
        if self.paths[r].state == PathState::Abandoned {
            return;
        }
        let packet = self.paths[r].packet;
        self.paths[r] = self.start.path(packet);
        self.records[r] = PathRecord::new(id, now);
        self.tell(r, Change::Migrated);
    }

    /// A path is gone, whatever is in flight. Its place is free.
    pub fn close(&mut self, id: PathId) {
        if let Some(r) = self.find(id) {
            self.free(r);
        }
    }

    /// Full packets of a path have another size, as when its MTU was found to be larger. The window stays what it is in bytes,
    /// or rises to the minimum window. A size of zero is ignored.
    pub fn set_packet_size(&mut self, id: PathId, packet: Bytes) {
        let Some(r) = self.find(id) else { return };
        let path = &mut self.paths[r];
        if packet == path.packet || packet == Bytes::ZERO {
            return;
        }
        let factor = path.packet.get() as f64 / packet.get() as f64;
        path.packet = packet;
        let floor = path.minimum_window.min(path.window);
        path.window = (path.window * factor).max(floor);
        path.ssthresh *= factor;
        if let Some(before) = &mut self.records[r].before_loss {
            before.window = (before.window * factor).max(floor);
            before.ssthresh *= factor;
            before.left *= factor;
        }
        self.controller.on_packet_size(SubflowId(r as u32), factor);
    }

    /// Makes a change that is possible only `from` some states.
    fn change(&mut self, id: PathId, change: Change, from: impl FnOnce(PathState) -> bool) {
        if let Some(r) = self.find(id)
            && from(self.paths[r].state)
        {
            self.tell(r, change);
        }
    }

    /// Frees the place of a path that was abandoned and has nothing in flight.
    pub(super) fn close_if_drained(&mut self, r: usize) {
        let path = &self.paths[r];
        if path.state == PathState::Abandoned && path.in_flight == 0 {
            self.free(r);
        }
    }

    fn free(&mut self, r: usize) {
        self.tell(r, Change::Closed);
        self.records[r].id = None;
    }
}

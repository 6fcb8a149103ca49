//! What noq tells its user of a path, and not the path's controller.

use crate::path::CoupledPath;
use crate::shared::Shared;
use noq_proto::PathStatus;
use noq_proto::congestion::Controller;
use pathweave_control::{PathId, PathState};
use std::sync::Arc;

/// A path of a coupled connection, for noq's user to pass on what noq tells: that it stands by, has failed or was abandoned.
///
/// It does not keep the path: calls after noq has dropped the path do nothing.
#[derive(Clone, Debug)]
pub struct PathHandle {
    shared: Arc<Shared>,
    id: PathId,
}

impl PathHandle {
    /// The path of this controller, which `Connection::congestion_state` of noq and of noq-proto give. None where the
    /// controller is not one of this crate.
    pub fn of(controller: &dyn Controller) -> Option<PathHandle> {
        let path = controller.clone_box().into_any();
        let path = path.downcast::<CoupledPath>().ok()?;
        Some(PathHandle {
            shared: path.seat.shared.clone(),
            id: path.id(),
        })
    }

    /// Its number: how many paths the connection had before it.
    pub fn id(&self) -> PathId {
        self.id
    }

    /// The path has this status at the sender: the one that `open_path` or `set_path_status` was given. What the peer says
    /// of a path ([`PathEvent::RemoteStatus`](noq_proto::PathEvent::RemoteStatus)) changes nothing until the user gives the
    /// path that status.
    ///
    /// A backup does not count for the other paths, unless all paths are backups.
    pub fn set_status(&self, status: PathStatus) {
        self.shared.lock().set_status(self.id, status);
    }

    /// The path has failed, by whatever the user knows of it: it does not count for the other paths until an acknowledgement
    /// comes for what was sent on it.
    pub fn fail(&self) {
        let mut state = self.shared.lock();
        state.connection.fail(self.id);
        state.let_backups_stand_by();
    }

    /// noq has abandoned the path ([`PathEvent::Abandoned`](noq_proto::PathEvent::Abandoned)): it does not count for the
    /// other paths any more, though noq keeps it for three more probe timeouts.
    pub fn abandon(&self) {
        self.shared.lock().abandon(self.id);
    }

    /// Where the path is between opening and closing. None once it is gone.
    pub fn state(&self) -> Option<PathState> {
        self.shared.lock().connection.state(self.id)
    }
}

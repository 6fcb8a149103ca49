//! What happens to the window when a subflow begins to send again.

use super::connection::Connection;
use super::subflow::Sender;
use super::window_use::Limits;
use pathweave_units::Time;

fn limits(sender: &Sender, connection: &Connection) -> Limits {
    Limits {
        timeout: sender.timeout.current(connection.maximum_rto),
        initial_window: connection.config.initial_window_of(connection.count()),
    }
}

impl Sender {
    /// A subflow is about to send `count` new packets, which fit its window. Returns how many it may send: fewer if it was idle.
    #[inline(never)]
    pub(super) fn begin_burst(
        &mut self,
        connection: &mut Connection,
        count: u32,
        now: Time,
    ) -> u32 {
        let number = self.number;
        let (una, next) = (self.board.una(), self.board.next());
        if una == next && connection.config.idle_restart {
            connection.controller.on_idle(number, now);
            let limits = limits(self, connection);
            let path = &mut connection.paths[number.0 as usize];
            if let Some(window_use) = &mut self.window_use {
                window_use.restart(path, limits, now);
            }
        }
        let path = &connection.paths[number.0 as usize];
        let room = self.room(path);
        // A probe may exceed the window by one packet.
        let count = count.min(room.max(1));
        if let Some(window_use) = &mut self.window_use {
            window_use.note_sent((una, next + count), count >= room, now);
        }
        count
    }
}

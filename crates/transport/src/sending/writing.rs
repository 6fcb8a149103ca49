//! A source that writes at a rate: a flow has data only as its application produces it.
//!
//! What has not been written is kept back by the receive window, which ends where writing does. Connections of such sources are not
//! plain: each of their ACKs moves the window before anything is sent, and other connections do nothing for this.

use super::Sending;
use super::connection::Connection;
use crate::Source;
use crate::output::{Output, TimerKind};
use crate::segment::UNLIMITED;
use pathweave_units::{Bytes, Rate, Time};

/// What a connection's application writes, and what it has written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    rate: Rate,
    /// Bytes of each write.
    write: u64,
    /// When the first was.
    since: Time,
    /// Writes so far.
    writes: u64,
    /// Segments that they have filled, and the last one of the flow if it is not full.
    written: u32,
    /// The receiver's window, from what has been acknowledged on.
    window: u32,
}

impl Writer {
    pub fn new(source: Source, segment: u16, window: u32) -> Writer {
        Writer {
            rate: source.rate,
            write: source.write.map_or(u64::from(segment), Bytes::get),
            since: Time::ZERO,
            writes: 0,
            written: 0,
            window,
        }
    }

    /// Bytes that so many writes have.
    fn bytes(&self, writes: u64) -> u64 {
        writes.saturating_mul(self.write)
    }

    /// When a write comes, the first of which has the number 1.
    fn time_of(&self, write: u64) -> Time {
        let before = Bytes::new(self.bytes(write - 1));
        self.since.saturating_add(self.rate.time_for(before))
    }
}

impl Connection {
    /// The application makes the next writes that fill a segment. Gives the time of those after them, unless these were the last.
    fn write_on(&mut self) -> Option<Time> {
        let (total, segment) = (self.total, u64::from(self.maximum_segment));
        let left_out = segment - u64::from(self.last_payload);
        let writer = self.writer.as_mut()?;
        // A flow without a size never comes to its end.
        let size = match total {
            UNLIMITED => u64::MAX,
            total => u64::from(total) * segment - left_out,
        };
        let needed = |written: u32| ((u64::from(written) + 1) * segment).min(size);
        writer.writes = needed(writer.written).div_ceil(writer.write);
        let bytes = writer.bytes(writer.writes);
        writer.written = match bytes >= size {
            true => total,
            false => u32::try_from(bytes / segment)
                .unwrap_or(u32::MAX)
                .min(total),
        };
        let next = needed(writer.written).div_ceil(writer.write);
        let time = (writer.written < total).then(|| writer.time_of(next));
        self.limit_to_what_is_written();
        time
    }

    /// The receive window ends where the application has stopped writing.
    pub fn limit_to_what_is_written(&mut self) {
        if let Some(writer) = &self.writer {
            let ahead = writer.written.saturating_sub(self.data_acked);
            self.receive_window = writer.window.min(ahead);
        }
    }

    /// The receiver has announced another window.
    pub fn note_receive_window(&mut self) {
        let window = self.receive_window;
        if let Some(writer) = &mut self.writer {
            writer.window = window;
        }
    }

    /// Whether all that the application has written so far has been sent.
    pub fn has_sent_all_written(&self) -> bool {
        let writer = self.writer.as_ref();
        writer.is_some_and(|writer| self.next_data >= writer.written)
    }

    /// Whether the application has more to write.
    pub fn awaits_writing(&self) -> bool {
        let writer = self.writer.as_ref();
        writer.is_some_and(|writer| writer.written < self.total)
    }
}

impl Sending {
    /// A connection's application begins to write.
    pub(super) fn start_writing(&mut self, place: u32, now: Time, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        let Some(writer) = &mut connection.writer else {
            return;
        };
        writer.since = now;
        // Small writes fill the first segment later.
        let first = u64::from(connection.maximum_segment).div_ceil(writer.write);
        let at = match first {
            1 => connection.write_on(),
            _ => Some(writer.time_of(first)),
        };
        self.wait_for_write(place, at, out);
    }

    fn wait_for_write(&mut self, place: u32, at: Option<Time>, out: &mut impl Output) {
        let index = self.connections[place as usize].first;
        if let Some(at) = at.filter(|&at| at < Time::MAX) {
            let timer = self.senders[index as usize].timer(TimerKind::Write, index);
            out.wake(timer, at);
        }
    }

    /// The application writes: what it has written may be sent.
    #[cold]
    #[inline(never)]
    pub(super) fn on_write_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let place = self.senders[index as usize].connection;
        let connection = &mut self.connections[place as usize];
        if connection.closed || !connection.awaits_writing() {
            return; // it was stopped
        }
        let at = connection.write_on();
        self.wait_for_write(place, at, out);
        self.send_what_may_be_sent(place, now, out);
    }
}

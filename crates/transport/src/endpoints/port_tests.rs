//! What a sender does while its packets wait in its host's port.

use super::*;
use crate::{Config, HostPort, PacketShape, SackBlocks};
use std::sync::Arc;

/// How long the port takes for a packet: longer than the timeout.
const A_PACKET: Time = Time::from_millis(300);

/// A slow port, and what has been handed to it.
#[derive(Default)]
struct SlowPort {
    now: Time,
    free_at: Time,
    /// Data numbers, and when each packet leaves.
    sent: Vec<(u32, Time)>,
    timers: Vec<(Timer, Time)>,
}

impl Output for SlowPort {
    type Lent<'a> = &'a mut SlowPort;

    fn send(&mut self, _: End, _: PacketShape, segment: Segment, _: &SackBlocks) {
        let data = segment.data_number;
        let is_here = |&(one, leaves): &(u32, Time)| one == data && leaves > self.now;
        assert!(!self.sent.iter().any(is_here), "{data} is in the port");
        self.free_at = self.free_at.max(self.now) + A_PACKET;
        self.sent.push((data, self.free_at));
    }
    fn lend(&mut self) -> &mut SlowPort {
        self
    }
    fn leaves_at(&self, _: End) -> Time {
        self.free_at
    }
    fn wake(&mut self, timer: Timer, at: Time) {
        self.timers.push((timer, at));
    }
    fn finished(&mut self, _: ReceivingId) {}
    fn failed(&mut self, _: SendingId) {}
    fn closed(&mut self, _: SendingId) {}
}

impl SlowPort {
    /// Lets all timers fire until a time.
    fn run(&mut self, endpoints: &mut Endpoints, until: Time) {
        while let Some(first) = (0..self.timers.len()).min_by_key(|&one| self.timers[one].1) {
            if self.timers[first].1 > until {
                break;
            }
            let (timer, at) = self.timers.swap_remove(first);
            self.now = at;
            endpoints.on_timer(timer, at, self);
        }
        self.now = until;
    }
}

#[test]
fn what_has_not_left_the_host_is_not_sent_again() {
    let config = Config {
        host_port: HostPort::HoldsBack,
        handshake: crate::Handshake::None,
        initial_rto: Time::from_millis(200),
        ..Config::textbook()
    };
    let entry = pathweave_control::find("reno").expect("a controller");
    let controller = (entry.build)(&entry.defaults());
    let mut endpoints = Endpoints::default();
    let id = endpoints.add(Opening {
        size: Some(Bytes::new(100 * u64::from(config.maximum_segment))),
        ..Opening::new(0, Arc::new(config), controller)
    });
    let mut port = SlowPort::default();
    endpoints.start(id, Time::ZERO, &mut port);
    assert_eq!(port.sent.len(), 10);
    let timeouts = |endpoints: &Endpoints| {
        let subflow = endpoints.subflows(id).next().expect("a subflow");
        endpoints.subflow(subflow).timeouts
    };

    // The timeout expires while the first segment is in the port: new data may follow, but no copy of it.
    port.run(&mut endpoints, A_PACKET - Time::from_millis(1));
    assert_eq!(timeouts(&endpoints), 1);
    let copies = |port: &SlowPort| port.sent.iter().filter(|(data, _)| *data == 0).count();
    assert_eq!(copies(&port), 1);
    // The next one finds that it has left.
    port.run(&mut endpoints, Time::from_millis(200 + 400));
    assert_eq!((timeouts(&endpoints), copies(&port)), (2, 2));
    // No acknowledgement arrives, and the timer expires again and again.
    port.run(&mut endpoints, Time::from_secs(60));
    assert!(timeouts(&endpoints) > 4);
    assert!(copies(&port) > 2);
}

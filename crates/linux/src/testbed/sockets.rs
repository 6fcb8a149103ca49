//! What the hosts' thread waits for: sockets of flows, and a time.

use crate::Failure;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

pub use rustix::event::epoll::EventFlags;

/// Which of a flow's sockets something happened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Listener,
    Sender,
    Receiver,
    QuicClient,
    QuicServer,
}

const ENDS: [End; 5] = [
    End::Listener,
    End::Sender,
    End::Receiver,
    End::QuicClient,
    End::QuicServer,
];
/// The timer has this number in place of an end.
const TIMER: u64 = ENDS.len() as u64;
const END_BITS: u32 = 3;

fn key(flow: u32, end: End) -> epoll::EventData {
    epoll::EventData::new_u64(u64::from(flow) << END_BITS | end as u64)
}

/// The sockets that are waited for.
pub struct Sockets {
    epoll: OwnedFd,
    timer: OwnedFd,
    /// What has happened to which sockets since it was waited last.
    happened: VecDeque<(u32, End)>,
}

impl Sockets {
    /// None yet.
    ///
    /// # Errors
    /// When the kernel lacks something.
    pub fn new() -> Result<Sockets, Failure> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(cannot_wait)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(cannot_wait)?;
        let event = EventFlags::IN | EventFlags::ET;
        let data = epoll::EventData::new_u64(TIMER);
        epoll::add(&epoll, &timer, data, event).map_err(cannot_wait)?;
        Ok(Sockets {
            epoll,
            timer,
            happened: VecDeque::new(),
        })
    }

    /// A flow's socket is waited for.
    ///
    /// # Errors
    /// The kernel's.
    pub fn watch(
        &self,
        socket: impl AsFd,
        flow: u32,
        end: End,
        event: EventFlags,
    ) -> Result<(), Failure> {
        epoll::add(&self.epoll, socket, key(flow, end), event)
            .map_err(|error| Failure::new(format!("cannot watch a socket: {error}")))
    }

    /// Something else of a flow's socket is waited for.
    ///
    /// # Errors
    /// The kernel's.
    pub fn change(
        &self,
        socket: impl AsFd,
        flow: u32,
        end: End,
        event: EventFlags,
    ) -> io::Result<()> {
        epoll::modify(&self.epoll, socket, key(flow, end), event).map_err(io::Error::from)
    }

    /// Waits for `left` at most. [`take_happened`](Sockets::take_happened) then says which sockets something has happened to.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, left: Duration) -> Result<(), Failure> {
        // An armed timer with no time left would never ring.
        let left = left.max(Duration::from_nanos(1));
        let time = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: i64::from(left.subsec_nanos()),
            },
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &time).map_err(cannot_wait)?;
        let mut events = [epoll::Event {
            flags: EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        }; 64];
        let number = match epoll::wait(&self.epoll, &mut events, None) {
            Ok(number) => number,
            Err(Errno::INTR) => 0,
            Err(error) => return Err(cannot_wait(error)),
        };
        let happened = events[..number].iter().filter_map(|event| {
            let data = event.data;
            let end = data.u64() & ((1 << END_BITS) - 1);
            let flow = (data.u64() >> END_BITS) as u32;
            ENDS.get(end as usize).map(|&end| (flow, end))
        });
        self.happened.extend(happened);
        Ok(())
    }

    /// A socket that something has happened to, once.
    pub fn take_happened(&mut self) -> Option<(u32, End)> {
        self.happened.pop_front()
    }
}

fn cannot_wait(error: Errno) -> Failure {
    Failure::new(format!("cannot wait for sockets: {error}"))
}

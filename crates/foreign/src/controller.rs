//! A controller of one connection whose functions are behind the C interface.

use crate::abi::{CAck, CConnection, CPath, change_number, loss_number};
use crate::functions::Functions;
use pathweave_control::{Ack, Change, Controller, Fault, Loss, Paths, Seat, SubflowId};
use pathweave_units::Time;
use std::sync::Arc;

/// A controller of one connection.
pub(crate) struct ForeignController {
    functions: Arc<Functions>,
    parameters: Arc<[f64]>,
    seat: Seat,
    /// The latest time that it has been told.
    now: Time,
    /// What functions are lent; empty before the first call.
    paths: Vec<CPath>,
    /// The connection's and the subflows' memory, aligned as the header promises.
    state: Vec<u128>,
    subflows: Vec<u128>,
    /// `open` has been called.
    open: bool,
    /// It has failed: nothing is called any more.
    over: bool,
}

/// Why a call was of no use.
enum Failure {
    /// It returned this number.
    Returned(i32),
    /// It left this subflow this window.
    Window(u32, f64),
    /// It left this subflow this ssthresh.
    Ssthresh(u32, f64),
}

impl ForeignController {
    /// A controller for a new connection.
    pub fn new(functions: Arc<Functions>, parameters: Arc<[f64]>, seat: Seat) -> ForeignController {
        ForeignController {
            functions,
            parameters,
            now: seat.start,
            seat,
            paths: Vec::new(),
            state: Vec::new(),
            subflows: Vec::new(),
            open: false,
            over: false,
        }
    }

    /// The connection as functions get it.
    fn connection(&mut self) -> CConnection {
        CConnection {
            paths: self.paths.as_mut_ptr(),
            count: self.paths.len() as u32,
            flow: self.seat.flow,
            parameters: self.parameters.as_ptr(),
            state: self.state.as_mut_ptr().cast(),
            subflows: self.subflows.as_mut_ptr().cast(),
        }
    }

    /// Lends the paths to a function, and takes over what it has written.
    #[inline]
    fn call(
        &mut self,
        paths: &mut Paths<'_>,
        name: &str,
        function: impl FnOnce(&Functions, &CConnection) -> i32,
    ) {
        if self.over || self.seat.faults.any() {
            return;
        }
        if !self.open && !self.begin(paths) {
            return;
        }
        for (own, path) in self.paths.iter_mut().zip(paths.iter()) {
            *own = CPath::of(path);
        }
        let connection = self.connection();
        let returned = function(&self.functions, &connection);
        let done = if returned == 0 {
            take_back(&self.paths, paths)
        } else {
            Err(Failure::Returned(returned))
        };
        if let Err(failure) = done {
            self.fail(name, &failure);
        }
    }

    /// Makes room for the state, and calls `open`. Whether it can go on.
    #[cold]
    fn begin(&mut self, paths: &Paths<'_>) -> bool {
        let words = |bytes: usize| bytes.div_ceil(size_of::<u128>());
        self.paths = paths.iter().map(CPath::of).collect();
        self.state = vec![0; words(self.functions.state_size)];
        self.subflows = vec![0; words(self.functions.subflow_size * self.paths.len())];
        self.open = true;
        let Some(open) = self.functions.open else {
            return true;
        };
        let connection = self.connection();
        // SAFETY: as in `on_ack`.
        let returned = unsafe { open(&raw const connection) };
        if returned != 0 {
            self.fail("open", &Failure::Returned(returned));
        }
        returned == 0
    }

    #[cold]
    fn fail(&mut self, name: &str, failure: &Failure) {
        self.over = true;
        let shown = &self.functions.shown;
        let message = match failure {
            Failure::Returned(number) => {
                format!("{shown}: {name} returned {number}; 0 is returned when all is well")
            }
            Failure::Window(r, window) => format!(
                "{shown}: {name} left subflow {r} a window of {window} packets; a window is a number of at least 1 packet"
            ),
            Failure::Ssthresh(r, ssthresh) => format!(
                "{shown}: {name} left subflow {r} an ssthresh of {ssthresh} packets; ssthresh is a number from 0, or infinite"
            ),
        };
        self.seat.faults.report(Fault {
            flow: self.seat.flow,
            at: self.now,
            message,
        });
    }
}

/// Takes over what was written, once all of it is sound.
#[inline]
fn take_back(lent: &[CPath], paths: &mut Paths<'_>) -> Result<(), Failure> {
    for (r, own) in (0..).zip(lent) {
        if !(own.window >= 1.0 && own.window.is_finite()) {
            // A window that was there before is not the function's doing: the transport's are sound.
            return Err(Failure::Window(r, own.window));
        }
        if own.ssthresh.is_nan() || own.ssthresh < 0.0 {
            return Err(Failure::Ssthresh(r, own.ssthresh));
        }
    }
    for (r, own) in (0..).map(SubflowId).zip(lent) {
        let path = &paths[r];
        let may_send = own.may_send != 0;
        let same = own.window.to_bits() == path.window.to_bits()
            && own.ssthresh.to_bits() == path.ssthresh.to_bits()
            && may_send == path.may_send;
        if !same {
            let path = &mut paths[r];
            path.window = own.window;
            path.ssthresh = own.ssthresh;
            path.may_send = may_send;
        }
    }
    Ok(())
}

impl Controller for ForeignController {
    #[inline]
    fn on_ack(&mut self, paths: &mut Paths<'_>, SubflowId(r): SubflowId, ack: &Ack) {
        self.now = ack.now;
        let ack = CAck::of(ack);
        self.call(paths, "on_ack", |functions, connection| {
            // SAFETY: whoever made the functions has promised that they are what the header says and touch nothing but
            // what they are lent. The connection, the paths, parameters and state that it points to, as many and as large
            // as it and the functions say, and the acknowledgement live until the call is over, nobody else touches them
            // meanwhile, and `functions` keeps the code alive.
            unsafe { (functions.on_ack)(connection, r, &raw const ack) }
        });
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, SubflowId(r): SubflowId, loss: Loss, now: Time) {
        self.now = now;
        self.call(paths, "on_loss", |functions, connection| {
            // SAFETY: as in `on_ack`.
            unsafe { (functions.on_loss)(connection, r, loss_number(loss), now.as_picos()) }
        });
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, SubflowId(r): SubflowId, change: Change) {
        self.call(paths, "on_subflow", |functions, connection| {
            // SAFETY: as in `on_ack`.
            unsafe { (functions.on_subflow)(connection, r, change_number(change)) }
        });
    }
}

impl Drop for ForeignController {
    fn drop(&mut self) {
        if let (true, Some(close)) = (self.open, self.functions.close) {
            let connection = CConnection {
                paths: std::ptr::null_mut(),
                count: 0,
                ..self.connection()
            };
            // SAFETY: as in `on_ack`, and with no paths there is none to touch.
            unsafe { close(&raw const connection) };
        }
    }
}

//! A controller of one connection whose functions are behind the C interface.

use crate::abi::{CAck, CConnection, CPath, change_number, loss_number};
use crate::functions::Functions;
use pathweave_control::{
    Ack, Change, Controller, Fault, LARGEST_WINDOW, Loss, Paths, Seat, SubflowId,
};
use pathweave_units::Time;
use std::fmt;
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

impl fmt::Debug for ForeignController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ForeignController")
            .field(&self.functions.shown)
            .field(&self.seat.flow)
            .finish_non_exhaustive()
    }
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
                "{shown}: {name} left subflow {r} a window of {window} packets; a window is a number of at least 1 packet and at most {LARGEST_WINDOW:e}"
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
        if !(1.0..=LARGEST_WINDOW).contains(&own.window) {
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

#[cfg(test)]
mod tests {
    use super::ForeignController;
    use crate::abi::{CAck, CConnection};
    use crate::functions::Functions;
    use pathweave_control::{
        Ack, Change, Controller, Fault, Faults, Feedback, Loss, Path, Paths, Seat, SubflowId,
    };
    use pathweave_units::Time;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    #[derive(Default)]
    struct Told(Mutex<Vec<Fault>>);

    impl Faults for Told {
        fn report(&self, fault: Fault) {
            self.0.lock().unwrap().push(fault);
        }
        fn any(&self) -> bool {
            !self.0.lock().unwrap().is_empty()
        }
    }

    /// Sets the window to the first parameter, and counts in both kinds of state.
    unsafe extern "C" fn on_ack(connection: *const CConnection, r: u32, ack: *const CAck) -> i32 {
        // SAFETY: the controller lends these.
        unsafe {
            let connection = &*connection;
            assert!(r < connection.count);
            *connection.state.cast::<u64>() += 1;
            *connection.subflows.cast::<u64>().add(r as usize) += u64::from((*ack).packets);
            (*connection.paths.add(r as usize)).window = *connection.parameters;
        }
        0
    }

    /// Gives what was counted: the state's count, and ten times the subflow's.
    unsafe extern "C" fn on_loss(connection: *const CConnection, r: u32, _: u32, _: u64) -> i32 {
        // SAFETY: as above.
        unsafe {
            let connection = &*connection;
            let own = *connection.subflows.cast::<u64>().add(r as usize);
            (*connection.state.cast::<u64>() + 10 * own) as i32
        }
    }

    unsafe extern "C" fn on_subflow(connection: *const CConnection, r: u32, change: u32) -> i32 {
        // SAFETY: as above.
        unsafe { (*(*connection).paths.add(r as usize)).may_send = u8::from(change != 2) };
        0
    }

    static CLOSED: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn close(connection: *const CConnection) {
        // SAFETY: as above.
        let connection = unsafe { &*connection };
        assert!(connection.paths.is_null() && connection.count == 0);
        CLOSED.fetch_add(1, Relaxed);
    }

    fn controller(window: f64) -> (ForeignController, Arc<Told>) {
        let told = Arc::new(Told::default());
        let functions = Functions {
            shown: "test.so: it".to_owned(),
            state_size: 8,
            subflow_size: 8,
            open: None,
            close: Some(close),
            on_ack,
            on_loss,
            on_subflow,
            _code: Arc::new(()),
        };
        let faults = Arc::clone(&told) as Arc<dyn Faults>;
        let seat = Seat {
            flow: 3,
            start: Time::from_micros(1),
            faults,
        };
        let controller = ForeignController::new(Arc::new(functions), Arc::new([window]), seat);
        (controller, told)
    }

    fn ack(packets: u32) -> Ack {
        Ack {
            now: Time::from_micros(7),
            packets,
            ce: 0,
            rtt: None,
            recovery: false,
            window_limited: true,
            feedback: Feedback::None,
        }
    }

    fn two_paths() -> Vec<Path> {
        vec![Path::new(10.0, 2.0, f64::INFINITY); 2]
    }

    #[test]
    fn what_is_written_becomes_the_transports() {
        let (mut controller, told) = controller(4.5);
        let mut own = two_paths();
        let mut paths = Paths::new(&mut own);
        controller.on_subflow(&mut paths, SubflowId(0), Change::Opened);
        controller.on_ack(&mut paths, SubflowId(1), &ack(2));
        assert!(!paths.changed_beyond(SubflowId(1)));
        assert_eq!(
            (paths[SubflowId(0)].window, paths[SubflowId(1)].window),
            (10.0, 4.5)
        );
        controller.on_subflow(&mut paths, SubflowId(0), Change::Failed);
        assert!(!paths[SubflowId(0)].may_send && paths[SubflowId(1)].may_send);
        assert!(!told.any());
    }

    #[test]
    fn state_is_a_connections_own_and_a_number_ends_it() {
        let (mut controller, told) = controller(4.5);
        let (mut own, before) = (two_paths(), CLOSED.load(Relaxed));
        let mut paths = Paths::new(&mut own);
        controller.on_ack(&mut paths, SubflowId(1), &ack(2));
        controller.on_ack(&mut paths, SubflowId(1), &ack(1));
        controller.on_ack(&mut paths, SubflowId(0), &ack(9));
        controller.on_loss(
            &mut paths,
            SubflowId(1),
            Loss::Timeout,
            Time::from_micros(8),
        );
        let faults = told.0.lock().unwrap().clone();
        let [fault] = &faults[..] else {
            panic!("{faults:?}")
        };
        assert_eq!((fault.flow, fault.at), (3, Time::from_micros(8)));
        assert_eq!(
            fault.message,
            "test.so: it: on_loss returned 33; 0 is returned when all is well"
        );
        // Nothing is called any more.
        controller.on_loss(
            &mut paths,
            SubflowId(1),
            Loss::Timeout,
            Time::from_micros(9),
        );
        assert_eq!(told.0.lock().unwrap().len(), 1);
        drop(controller);
        assert!(CLOSED.load(Relaxed) > before);
    }

    #[test]
    fn windows_that_are_none_are_refused_and_not_taken_over() {
        for window in [f64::NAN, f64::INFINITY, 0.5, -3.0, 0.0] {
            let (mut controller, told) = controller(window);
            let mut own = two_paths();
            let mut paths = Paths::new(&mut own);
            controller.on_ack(&mut paths, SubflowId(1), &ack(1));
            assert_eq!(paths[SubflowId(1)].window, 10.0);
            let message = told.0.lock().unwrap()[0].message.clone();
            let expected =
                format!("test.so: it: on_ack left subflow 1 a window of {window} packets");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}

//! What a flow's controller is made by: an entry of the registry, or something that was loaded while the program runs.

use crate::{
    Controller, Ecn, Entry, LoadedParameter, ParameterError, Parameters, Scheme, Value, find,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use pathweave_units::{Bytes, Time};

/// A congestion control algorithm that flows can have.
#[derive(Clone)]
pub enum Algorithm {
    /// One of the [`registry`](crate::registry()).
    Registered(&'static Entry),
    /// One that is not Pathweave's own. It lives as long as those who have it.
    Loaded(Arc<Loaded>),
}

/// An algorithm that was loaded while the program runs: what an [`Entry`] is for those of the registry.
pub struct Loaded {
    /// What results call it.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// Paper section or RFC.
    pub source: String,
    /// Formulas and rulings.
    pub explanation: String,
    /// As [`Entry::coupled`].
    pub coupled: bool,
    /// What it does with marks.
    pub ecn: Box<dyn Fn(&Parameters) -> Ecn + Send + Sync>,
    /// What can be set.
    pub parameters: Vec<LoadedParameter>,
    /// Whether threads that run it wait for each other all the time, so that several are slower than one.
    pub one_thread: bool,
    /// Builds a controller for a new connection, from checked parameters.
    #[allow(clippy::type_complexity)] // a function that is called in one place
    pub build: Box<dyn Fn(&Parameters, Seat) -> Box<dyn Controller> + Send + Sync>,
}

/// The connection that a loaded controller is built for.
pub struct Seat {
    /// The flow's number in its run.
    pub flow: u32,
    /// When it starts, in simulated time.
    pub start: Time,
    /// Where the controller says that it cannot go on.
    pub faults: Arc<dyn Faults>,
}

/// Why a loaded controller cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The flow whose controller it is.
    pub flow: u32,
    /// Simulated time.
    pub at: Time,
    /// What went wrong, and where in the controller's file.
    pub message: String,
}

/// Takes the faults of a run's controllers: the first ends the run.
pub trait Faults: Send + Sync {
    /// A controller cannot go on. Whatever it is told from now on, it does nothing.
    fn report(&self, fault: Fault);

    /// Whether a controller of the run has reported one: others need not go on then.
    fn any(&self) -> bool;
}

impl Algorithm {
    /// The controller of this name in the registry.
    pub fn find(name: &str) -> Option<Algorithm> {
        find(name).map(Algorithm::Registered)
    }

    /// Its entry, if it is of the registry.
    pub fn registered(&self) -> Option<&'static Entry> {
        match self {
            Algorithm::Registered(entry) => Some(entry),
            Algorithm::Loaded(_) => None,
        }
    }

    /// What results call it.
    pub fn name(&self) -> &str {
        match self {
            Algorithm::Registered(entry) => entry.name,
            Algorithm::Loaded(loaded) => &loaded.name,
        }
    }

    /// Whether it takes the subflows of a connection together: see [`Entry::coupled`].
    pub fn coupled(&self) -> bool {
        match self {
            Algorithm::Registered(entry) => entry.coupled,
            Algorithm::Loaded(loaded) => loaded.coupled,
        }
    }

    /// The scheme that switches take part in for it, if any: a loaded one has none.
    pub fn scheme(&self) -> Option<Scheme> {
        self.registered().and_then(|entry| entry.scheme)
    }

    /// Whether it runs on one thread as fast as on several: see [`Loaded::one_thread`].
    pub fn one_thread(&self) -> bool {
        match self {
            Algorithm::Registered(_) => false,
            Algorithm::Loaded(loaded) => loaded.one_thread,
        }
    }

    /// Whether a connection's first subflow is scattered, and after how many bytes the others open: see
    /// [`Entry::scatter`]. A loaded one does not scatter.
    pub fn scatter(&self) -> Option<fn(&Parameters) -> Bytes> {
        self.registered().and_then(|entry| entry.scatter)
    }

    /// What it does with marks, given its parameters.
    pub fn ecn(&self, parameters: &Parameters) -> Ecn {
        match self {
            Algorithm::Registered(entry) => (entry.ecn)(parameters),
            Algorithm::Loaded(loaded) => (loaded.ecn)(parameters),
        }
    }

    /// The names of what can be set.
    pub fn parameter_names(&self) -> Vec<&str> {
        match self {
            Algorithm::Registered(entry) => entry.parameters.iter().map(|p| p.name).collect(),
            Algorithm::Loaded(loaded) => loaded.parameters.iter().map(|p| &*p.name).collect(),
        }
    }

    /// Checks the given values and fills in the defaults.
    ///
    /// # Errors
    /// For a name that is not known or is given twice, and for a value that is out of range.
    pub fn parameters(&self, given: &[(String, Value)]) -> Result<Parameters, ParameterError> {
        match self {
            Algorithm::Registered(entry) => entry.parameters(given),
            Algorithm::Loaded(loaded) => {
                Parameters::checked(&loaded.name, &loaded.parameters, given)
            }
        }
    }

    /// A controller for a new connection, from checked parameters.
    pub fn build(
        &self,
        parameters: &Parameters,
        seat: impl FnOnce() -> Seat,
    ) -> Box<dyn Controller> {
        match self {
            Algorithm::Registered(entry) => (entry.build)(parameters),
            Algorithm::Loaded(loaded) => (loaded.build)(parameters, seat()),
        }
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Algorithm").field(&self.name()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, Loaded, Seat};
    use crate::greedy_sender::{number, text};
    use crate::{Ecn, Fault, Faults, LoadedParameter, ParameterKind, find};
    use alloc::boxed::Box;
    use alloc::string::ToString;
    use alloc::sync::Arc;
    use alloc::vec;
    use pathweave_units::Time;

    struct NoFaults;
    impl Faults for NoFaults {
        fn report(&self, fault: Fault) {
            panic!("{fault:?}");
        }
        fn any(&self) -> bool {
            false
        }
    }

    fn seat() -> Seat {
        Seat {
            flow: 7,
            start: Time::ZERO,
            faults: Arc::new(NoFaults),
        }
    }

    /// Reno under another name, with parameters that it does not use.
    fn loaded() -> Algorithm {
        let reno = find("reno").unwrap();
        Algorithm::Loaded(Arc::new(Loaded {
            name: "mine".to_string(),
            summary: "Reno.".to_string(),
            source: "a test".to_string(),
            explanation: "None.".to_string(),
            coupled: false,
            ecn: Box::new(|parameters| Ecn::Count {
                limit: parameters.number("gain") as u8,
            }),
            parameters: vec![
                LoadedParameter {
                    name: "gain".to_string(),
                    kind: ParameterKind::Number {
                        default: 3.0,
                        minimum: 1.0,
                        maximum: 9.0,
                        integer: true,
                    },
                    help: "A gain.".to_string(),
                },
                LoadedParameter {
                    name: "mode".to_string(),
                    kind: ParameterKind::Choice(vec!["fast".to_string(), "slow".to_string()]),
                    help: "A mode.".to_string(),
                },
            ],
            one_thread: false,
            build: Box::new(move |parameters, seat| {
                assert_eq!(seat.flow, 7);
                (reno.build)(parameters)
            }),
        }))
    }

    #[test]
    fn a_loaded_algorithm_is_checked_as_a_registered_one_is() {
        let mine = loaded();
        assert_eq!((mine.name(), mine.coupled()), ("mine", false));
        assert!(!mine.one_thread());
        assert_eq!(mine.parameter_names(), ["gain", "mode"]);
        let parameters = mine.parameters(&[text("mode", "slow")]).unwrap();
        assert_eq!(parameters.number("gain"), 3.0);
        assert_eq!(parameters.choice("mode"), "slow");
        assert_eq!(mine.ecn(&parameters), Ecn::Count { limit: 3 });
        let refused = |given| mine.parameters(&[given]).unwrap_err().message;
        assert_eq!(
            refused(number("gain", 10.0)),
            "mine cannot have gain = 10: gain takes an integer from 1 to 9"
        );
        assert_eq!(
            refused(text("mode", "medium")),
            r#"mine cannot have mode = "medium": mode takes one of "fast", "slow""#
        );
        assert_eq!(
            refused(number("gian", 1.0)),
            r#"mine has no parameter "gian"; it has "gain", "mode""#
        );
        mine.build(&parameters, seat);
        assert!(mine.scheme().is_none() && mine.scatter().is_none());
    }

    #[test]
    fn a_registered_algorithm_is_its_entry() {
        let xmp = Algorithm::find("xmp").unwrap();
        let entry = find("xmp").unwrap();
        let defaults = xmp.parameters(&[]).unwrap();
        assert_eq!(defaults, entry.defaults());
        assert_eq!((xmp.name(), xmp.coupled()), ("xmp", true));
        assert!(!xmp.one_thread());
        assert_eq!(xmp.ecn(&defaults), (entry.ecn)(&defaults));
        assert_eq!(xmp.parameter_names(), ["beta", "variant"]);
        xmp.build(&defaults, || panic!("a registered one needs no seat"));
        assert!(Algorithm::find("mine").is_none());
        assert!(Algorithm::find("xcp").unwrap().scheme().is_some());
        assert!(Algorithm::find("mmptcp").unwrap().scatter().is_some());
    }
}

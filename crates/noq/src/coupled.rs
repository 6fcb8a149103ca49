//! Which controller, and how connections get one each.

use crate::shared::Shared;
use core::fmt;
use noq_proto::{ServerConfig, TransportConfig};
use pathweave_control::{Connection, Ecn, ParameterError, Start, Value, find};
use std::sync::Arc;

/// A number that a parameter takes.
pub trait Number: Copy {
    /// The number as parameters have it.
    fn number(self) -> f64;
}

impl Number for i32 {
    fn number(self) -> f64 {
        self.into()
    }
}

impl Number for f64 {
    fn number(self) -> f64 {
        self
    }
}

/// Why a controller cannot run under noq.
#[derive(Clone, Debug, PartialEq)]
pub enum CoupledError {
    /// The name or a parameter is wrong.
    Parameter(ParameterError),
    /// The controller needs what noq does not have.
    Unsupported(String),
}

impl fmt::Display for CoupledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CoupledError::Parameter(error) => error.fmt(f),
            CoupledError::Unsupported(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for CoupledError {}

/// A controller with its parameters, for any number of connections, which share nothing.
#[derive(Clone, Debug)]
pub struct Coupled {
    /// A connection without paths, which every connection gets a copy of.
    fresh: Connection,
    ecn: Ecn,
}

impl Coupled {
    /// The controller of this name with these parameters, and the defaults of the others.
    ///
    /// # Errors
    /// For a name that is not in the registry, a parameter that is refused, and a controller that needs switches that take
    /// part or packets that are scattered.
    pub fn new(name: &str, parameters: &[(&str, impl Number)]) -> Result<Coupled, CoupledError> {
        let given: Vec<_> = parameters
            .iter()
            .map(|(name, value)| ((*name).to_string(), Value::Number(value.number())))
            .collect();
        Coupled::of_values(name, &given, Start::default())
    }

    /// The controller of this name with its defaults.
    ///
    /// # Errors
    /// Those of [`Coupled::new`].
    pub fn with_defaults(name: &str) -> Result<Coupled, CoupledError> {
        Coupled::of_values(name, &[], Start::default())
    }

    /// [`Coupled::new`] with parameters that need not be numbers, for paths that start like this.
    ///
    /// # Errors
    /// Those of [`Coupled::new`].
    pub fn of_values(
        name: &str,
        given: &[(String, Value)],
        start: Start,
    ) -> Result<Coupled, CoupledError> {
        let fresh = Connection::named(name, given, start).map_err(CoupledError::Parameter)?;
        let entry = find(name).expect("a connection has been made of it");
        let parameters = entry.parameters(given).map_err(CoupledError::Parameter)?;
        if entry.scheme.is_some() {
            let message = format!(
                "{name} needs switches that take part, and QUIC packets have no field for them"
            );
            return Err(CoupledError::Unsupported(message));
        }
        if entry.scatter.is_some() {
            let message = format!("{name} scatters packets over all paths, and noq cannot");
            return Err(CoupledError::Unsupported(message));
        }
        let ecn = (entry.ecn)(&parameters);
        Ok(Coupled { fresh, ecn })
    }

    /// Whether the controller has an answer to marks of its own. To others marks are losses.
    pub fn answers_marks(&self) -> bool {
        self.ecn != Ecn::Off
    }

    /// A factory for the paths of one connection: for `TransportConfig::congestion_controller_factory`.
    ///
    /// Two connections that are given the same one have their paths coupled to each other.
    pub fn connection(&self) -> Arc<Shared> {
        Arc::new(Shared::new(self.fresh.clone(), self.ecn))
    }

    /// A copy of a transport configuration for one connection: for `ClientConfig::transport_config`.
    pub fn transport(&self, transport: &TransportConfig) -> Arc<TransportConfig> {
        let mut transport = transport.clone();
        transport.congestion_controller_factory(self.connection());
        Arc::new(transport)
    }

    /// A copy of a server's configuration for one connection: for `Incoming::accept_with`.
    pub fn server(&self, config: &ServerConfig) -> Arc<ServerConfig> {
        let mut config = config.clone();
        config.transport = self.transport(&config.transport);
        Arc::new(config)
    }
}

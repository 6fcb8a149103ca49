//! Flows over multipath QUIC: noq's endpoints in user space, with this project's controllers.

mod agenda;
mod flow;
mod groups;
mod hosts;
mod settings;
mod side;
mod subflow;

pub use groups::QuicGroups;
pub use hosts::QuicHosts;
pub use settings::QuicSettings;

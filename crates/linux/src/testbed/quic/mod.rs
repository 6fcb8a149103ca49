//! Flows over multipath QUIC: noq's endpoints in user space, with this project's controllers.

mod flow;
mod groups;
mod settings;
mod side;

pub use flow::{QuicFlow, QuicSetup};
pub use groups::{QuicGroups, coupled};
pub use settings::QuicSettings;
pub use side::Side;

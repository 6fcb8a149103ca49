//! Controllers from files: classes in Python, and functions behind the C interface.

mod ack;
mod blocks;
mod class;
mod controller;
mod loader;
mod path;

pub use ack::Ack;
pub use blocks::{
    OncePerRound, Round, cut_to, cut_within, respond_to_loss, slow_start, slow_start_by,
};
pub use loader::Loader;
pub use path::Path;

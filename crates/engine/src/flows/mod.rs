//! The flows of a run: what they are, where they go, and what they leave behind.

pub(crate) mod ended;
pub(crate) mod events;
pub(crate) mod flow;
pub(crate) mod ideal;
pub(crate) mod list;
pub(crate) mod paths;
pub(crate) mod routing;
pub(crate) mod rows;
pub(crate) mod set;
pub(crate) mod start_rates;

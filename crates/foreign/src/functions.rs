//! The functions of a controller behind the C interface.

use crate::abi::{Close, OnAck, OnLoss, OnSubflow, Open};
use std::any::Any;
use std::sync::Arc;

/// The functions of a controller, and how much memory its state takes.
#[derive(Clone)]
pub struct Functions {
    /// What messages call them: the file, and the controller in it.
    pub(crate) shown: String,
    pub(crate) state_size: usize,
    pub(crate) subflow_size: usize,
    pub(crate) open: Option<Open>,
    pub(crate) close: Option<Close>,
    pub(crate) on_ack: OnAck,
    pub(crate) on_loss: OnLoss,
    pub(crate) on_subflow: OnSubflow,
    /// What has the functions' code. It goes when the last controller has gone.
    pub(crate) _code: Arc<dyn Any + Send + Sync>,
}

/// Addresses of functions that something else has compiled.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// `on_ack` of `pathweave_controller.h`.
    pub on_ack: usize,
    /// `on_loss`.
    pub on_loss: usize,
    /// `on_subflow`.
    pub on_subflow: usize,
}

impl Functions {
    /// Functions at these addresses; `code` keeps them alive. `None` for an address that is zero.
    ///
    /// # Safety
    /// Each address must be that of a function with the C signature that `pathweave_controller.h` has for it, for as long
    /// as `code` lives. The functions may touch nothing but what they are lent, each connection's own memory of the given
    /// sizes (in bytes) included, and must be callable by any thread.
    pub unsafe fn at(
        addresses: Addresses,
        shown: String,
        (state_size, subflow_size): (usize, usize),
        code: Arc<dyn Any + Send + Sync>,
    ) -> Option<Functions> {
        // SAFETY: a pointer to a function has the size of an address, `Option` of it is `None` at zero, and the caller
        // promises that there is such a function at every other address.
        let (on_ack, on_loss, on_subflow) = unsafe {
            (
                std::mem::transmute::<usize, Option<OnAck>>(addresses.on_ack)?,
                std::mem::transmute::<usize, Option<OnLoss>>(addresses.on_loss)?,
                std::mem::transmute::<usize, Option<OnSubflow>>(addresses.on_subflow)?,
            )
        };
        Some(Functions {
            shown,
            state_size,
            subflow_size,
            open: None,
            close: None,
            on_ack,
            on_loss,
            on_subflow,
            _code: code,
        })
    }
}

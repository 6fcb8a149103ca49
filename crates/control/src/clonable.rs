//! Controllers that can be cloned with all that they have seen.

use crate::Controller;
use alloc::boxed::Box;

/// A [`Controller`] that can be cloned: every one of the [`registry()`](crate::registry()).
///
/// Nobody implements it: it comes with `Clone`. A controller that lives outside of the program's own memory, such as one
/// in Python or in a shared library, is a [`Controller`] alone. A box of one is a box of the other wherever that is asked for.
pub trait ClonableController: Controller {
    /// A copy that from now on is told of its own connection.
    fn clone_box(&self) -> Box<dyn ClonableController>;
}

impl<C: Controller + Clone + 'static> ClonableController for C {
    fn clone_box(&self) -> Box<dyn ClonableController> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn ClonableController> {
    fn clone(&self) -> Box<dyn ClonableController> {
        // Of what is in the box: a box of a box would come out otherwise.
        (**self).clone_box()
    }
}

//! A class of controllers in a Python file.

use pathweave_control::{Change, Loss, Parameters, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// A class of controllers, and what is needed to call its objects.
pub struct Class {
    /// The class itself.
    pub class: Py<PyAny>,
    /// `pathweave.controller.Paths`.
    pub paths: Py<PyAny>,
    /// A function that says in words where in the file an exception came from.
    pub describe: Py<PyAny>,
    /// What losses are called.
    losses: [Py<PyString>; 2],
    /// What changes are called.
    changes: [Py<PyString>; 5],
    /// The file and the class, as messages shall have them: "mine.py: MyController".
    pub shown: String,
}

impl Class {
    /// The class, with the module `pathweave.controller`'s own of `paths` and `describe`.
    pub fn new(
        class: &Bound<'_, PyAny>,
        paths: Bound<'_, PyAny>,
        describe: Bound<'_, PyAny>,
        shown: String,
    ) -> Class {
        let py = class.py();
        let word = |word| PyString::intern(py, word).unbind();
        Class {
            class: class.clone().unbind(),
            paths: paths.unbind(),
            describe: describe.unbind(),
            losses: ["fast-retransmit", "timeout"].map(word),
            changes: ["opened", "stood-by", "failed", "recovered", "closed"].map(word),
            shown,
        }
    }

    /// What a loss is called.
    pub fn loss(&self, loss: Loss) -> &Py<PyString> {
        &self.losses[match loss {
            Loss::FastRetransmit => 0,
            // Only a transport without timeouts tells of the latter, and the window starts again in either case.
            Loss::Timeout | Loss::PersistentCongestion => 1,
        }]
    }

    /// What a change is called.
    pub fn change(&self, change: Change) -> &Py<PyString> {
        &self.changes[match change {
            // To the controller a subflow begins in either case.
            Change::Opened | Change::Migrated => 0,
            Change::StoodBy => 1,
            Change::Failed => 2,
            Change::Recovered => 3,
            _ => 4,
        }]
    }

    /// An object for a new connection.
    pub fn object<'py>(
        &self,
        py: Python<'py>,
        parameters: &Parameters,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = PyDict::new(py);
        for (name, value) in parameters.iter() {
            match value {
                Value::Number(number) => values.set_item(name, number)?,
                Value::Numbers(numbers) => values.set_item(name, numbers)?,
                Value::Text(word) => values.set_item(name, word)?,
            }
        }
        self.class.bind(py).call((), Some(&values))
    }

    /// What went wrong in the file, and where.
    pub fn described(&self, py: Python<'_>, error: &PyErr) -> String {
        // With its traceback, which says where in the file it came from.
        let exception = error.clone_ref(py).into_value(py);
        let told = self.describe.bind(py).call1((exception,));
        told.and_then(|text| text.extract::<String>())
            .unwrap_or_else(|_| format!("{}: {error}", self.shown))
    }
}

//! Where problems of a variant go.

use crate::controller_file::ControllerFiles;
use crate::diagnostics::Problem;
use crate::tree::{Node, Place, Value, position};
use std::path::Path;

/// Gives what stands in a file as comma-separated values, or says why not.
pub type Convert = fn(&Path) -> Result<String, String>;

/// Where problems of one variant go, and what tells their places.
pub(crate) struct Problems<'a> {
    /// The variant as a tree.
    pub tree: &'a Node,
    /// The folder of the scenario file, when it comes from one.
    pub folder: Option<&'a Path>,
    /// Of how many cables or nodes a fabric may be, if that is bounded.
    pub largest_fabric: Option<u64>,
    /// What makes comma-separated values of files in other formats, if anything does.
    pub other_formats: Option<Convert>,
    /// Files with controllers.
    pub controllers: &'a ControllerFiles,
    pub found: Vec<Problem>,
}

impl Problems<'_> {
    /// Notes a mistake in the value at the end of these steps. What would be accepted follows a
    /// semicolon.
    pub fn wrong(&mut self, steps: &[&str], text: impl AsRef<str>) {
        let place = self.tree.place_of(steps);
        self.found.push(Problem::with_remedy(place, text.as_ref()));
    }

    /// Notes a mistake at a key itself.
    pub fn wrong_key(&mut self, steps: &[&str], text: impl AsRef<str>) {
        let place = self
            .tree
            .key_place(steps)
            .unwrap_or_else(|| self.tree.place_of(steps));
        self.found.push(Problem::with_remedy(place, text.as_ref()));
    }

    /// Where in the file's list a group stands, as a step of a path.
    pub fn group_index(&self, name: &str) -> String {
        let index = match self.tree.child("traffic").map(|node| &node.value) {
            Some(Value::List(groups)) => position(groups, name),
            _ => None,
        };
        index.unwrap_or(0).to_string()
    }

    /// Notes what another crate refused in a table: its texts begin with the option's name.
    pub fn refused(&mut self, table: &[&str], text: &str) {
        let place = self.option_place(table, text);
        self.found.push(Problem::with_remedy(place, text));
    }

    /// The place of the option that a text begins with, such as `rates[2]`, or of the table.
    fn option_place(&self, table: &[&str], text: &str) -> Place {
        let option = text.split([' ', ';', ':']).next().unwrap_or("");
        let option = option.replace('[', ".").replace(']', "");
        let mut steps = table.to_vec();
        let known = option.split('.').next().unwrap_or("");
        let named = self.tree.key_place(&[table, &[known]].concat()).is_some();
        if named {
            steps.extend(option.split('.'));
        }
        self.tree.place_of(&steps)
    }
}

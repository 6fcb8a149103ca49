//! Controllers from files: where a scenario's are, and who loads them.

use crate::regular;
use crate::sha256::sha256;
use pathweave_control::{Algorithm, Loaded};
use serde_json::Value as Json;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What kind of file a controller is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControllerForm {
    /// A class in a Python file.
    Python,
    /// A shared library with the C interface.
    Library,
}

impl ControllerForm {
    /// The key that says so in a scenario.
    pub fn key(self) -> &'static str {
        match self {
            ControllerForm::Python => "python",
            ControllerForm::Library => "library",
        }
    }

    /// The form whose key this is.
    pub fn of_key(key: &str) -> Option<ControllerForm> {
        [ControllerForm::Python, ControllerForm::Library]
            .into_iter()
            .find(|form| form.key() == key)
    }
}

/// A controller in a file.
#[derive(Clone, Copy, Debug)]
pub struct ControllerFile<'a> {
    /// What kind of file it is.
    pub form: ControllerForm,
    /// Where the file is.
    pub path: &'a Path,
    /// The file's name as messages shall have it.
    pub shown: &'a str,
    /// What is in the file.
    pub content: &'a [u8],
    /// What the controller is called in the file, if the scenario says so.
    pub item: Option<&'a str>,
}

/// Loads controllers from files.
pub trait ControllerLoader: fmt::Debug + Send + Sync {
    /// Loads a controller, or says why it cannot: what is wrong, where in the file, and, behind a semicolon, what would
    /// be right.
    ///
    /// # Errors
    /// For a file that has no such controller, or one that declares itself wrongly.
    fn load(&self, file: &ControllerFile<'_>) -> Result<Arc<Loaded>, String>;
}

/// A loaded controller with its file's content and the SHA-256 of that.
#[derive(Clone, Debug)]
pub(crate) struct LoadedFile {
    pub loaded: Algorithm,
    pub content: Arc<[u8]>,
    pub sha256: String,
}

/// The same, or why there is none.
type Found = Result<LoadedFile, String>;

/// The files with controllers that a scenario names. Each is loaded once, however many variants name it.
#[derive(Default)]
pub(crate) struct ControllerFiles {
    folder: Option<PathBuf>,
    /// Files that need not be looked for, by the names that the scenario has for them.
    contents: BTreeMap<String, Arc<[u8]>>,
    loader: Option<Arc<dyn ControllerLoader>>,
    known: RefCell<HashMap<(ControllerForm, String), Found>>,
}

impl ControllerFiles {
    /// Those beside a scenario in this folder, but for those whose contents are at hand.
    pub fn new(
        folder: Option<&Path>,
        contents: BTreeMap<String, Arc<[u8]>>,
        loader: Option<Arc<dyn ControllerLoader>>,
    ) -> ControllerFiles {
        ControllerFiles {
            folder: folder.map(Path::to_owned),
            contents,
            loader,
            known: RefCell::default(),
        }
    }

    /// What `text` names: a file, and behind a colon what the controller is called in it.
    pub fn load(&self, form: ControllerForm, text: &str) -> Found {
        let key = (form, text.to_owned());
        if let Some(found) = self.known.borrow().get(&key) {
            return found.clone();
        }
        let found = self.read(form, text);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    fn read(&self, form: ControllerForm, text: &str) -> Found {
        let Some(loader) = &self.loader else {
            return Err(match form {
                ControllerForm::Python => "controllers in Python need the Python package; run the scenario with `pathweave run` or `pathweave.run`".to_owned(),
                ControllerForm::Library => "nothing here loads shared libraries; run the scenario with `pathweave run` or `pathweave.run`".to_owned(),
            });
        };
        let (file, item) = parts(text);
        let (path, content) = match (self.contents.get(file), &self.folder) {
            (Some(content), _) => (PathBuf::from(file), Arc::clone(content)),
            (None, Some(folder)) => {
                let path = folder.join(file);
                let content = regular::read(&path, regular::CONTROLLER)
                    .map_err(|problem| format!("\"{file}\" {}", regular::with_place(problem)))?;
                (path, content.into())
            }
            (None, None) => {
                return Err(format!(
                    "this scenario has no folder, so \"{text}\" cannot be found; load it from a file, or give its folder"
                ));
            }
        };
        let loaded = Algorithm::Loaded(loader.load(&ControllerFile {
            form,
            path: &path,
            shown: file,
            content: &content,
            item,
        })?);
        let sha256 = sha256(&[&content]);
        Ok(LoadedFile {
            loaded,
            content,
            sha256,
        })
    }
}

/// The file that `text` names, and what the controller is called in it.
pub(crate) fn parts(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((file, item)) => (file, Some(item)),
        None => (text, None),
    }
}

/// Leaves the folders out of all files with controllers of a scenario: results depend on what is in a file, whose hash
/// stays, and on what the controller is called in it.
pub(crate) fn without_folders(scenario: &mut serde_json::Map<String, Json>) {
    let groups = scenario.get_mut("traffic").and_then(Json::as_array_mut);
    for group in groups.into_iter().flatten() {
        without_folder(group);
        let flows = group.get_mut("flows").and_then(Json::as_array_mut);
        flows.into_iter().flatten().for_each(without_folder);
    }
}

/// The same of a group or a flow.
fn without_folder(of: &mut Json) {
    for form in [ControllerForm::Python, ControllerForm::Library] {
        let file = of.get_mut("controller").and_then(|c| c.get_mut(form.key()));
        if let Some(Json::String(text)) = file
            && let Some((_, name)) = text.rsplit_once(['/', '\\'])
        {
            *text = name.to_owned();
        }
    }
}

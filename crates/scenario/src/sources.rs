//! Where a scenario comes from: a file, a text, or one of its variants as it was resolved.

use crate::controller_file::{ControllerFiles, ControllerLoader};
use crate::diagnostics::{Diagnostics, Problem, Source};
use crate::document::Given;
use crate::loading::Loading;
use crate::resolve::Convert;
use crate::scenario::Scenario;
use crate::tree::{Place, SourceId};
use crate::variants::Only;
use crate::{parse, regular};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What of a scenario is wanted, beyond the file.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The size; `None` is "quick".
    pub size: Option<String>,
    /// Overrides `key=value`, applied last.
    pub sets: Vec<String>,
    /// Sweeps `key=values`, beside those of the file or in their place.
    pub sweeps: Vec<String>,
    /// Choices `axis=name`.
    pub only: Vec<String>,
    /// Number of seeds, instead of the file's.
    pub seeds: Option<u32>,
    /// Refuses fabrics with more cables or nodes than this before they are built. It bounds the time and memory that
    /// a text from anywhere can cost; `None` for those of a user, who may want to wait.
    pub largest_fabric: Option<u64>,
    /// What loads controllers from files; without it a scenario can only have those of the registry.
    pub loader: Option<Arc<dyn ControllerLoader>>,
    /// Makes comma-separated values of files in formats that this crate does not read (Parquet); `None` refuses them.
    pub other_formats: Option<Convert>,
}

impl Scenario {
    /// Reads and checks a scenario file.
    ///
    /// # Errors
    /// Everything that is wrong with it, in all variants.
    pub fn load(
        path: &Path,
        size: Option<&str>,
        sets: &[String],
        only: &[String],
        seeds: Option<u32>,
    ) -> Result<Scenario, Diagnostics> {
        let selection = Selection {
            size: size.map(str::to_owned),
            sets: sets.to_vec(),
            only: only.to_vec(),
            seeds,
            ..Selection::default()
        };
        Scenario::load_selected(path, &selection)
    }

    /// Reads and checks a scenario file, of which this is wanted.
    ///
    /// # Errors
    /// Everything that is wrong with it, in all variants.
    pub fn load_selected(path: &Path, selection: &Selection) -> Result<Scenario, Diagnostics> {
        let name = path.display().to_string();
        let text = match regular::read(path, regular::SCENARIO) {
            Ok(bytes) => text(bytes, &name)?,
            Err(problem) => {
                let problem = Problem::new(Place::default(), format!("{name} {problem}"));
                return Err(Diagnostics::new(
                    vec![Source {
                        name,
                        text: String::new(),
                    }],
                    vec![problem],
                ));
            }
        };
        Scenario::from_text(&name, &text, path.parent(), selection)
    }

    /// Checks a scenario that is at hand as text. `name` stands for the file in messages; files that
    /// it names are looked for in `folder`.
    ///
    /// # Errors
    /// Everything that is wrong with it, in all variants.
    pub fn from_text(
        name: &str,
        text: &str,
        folder: Option<&Path>,
        selection: &Selection,
    ) -> Result<Scenario, Diagnostics> {
        let mut sources = vec![Source {
            name: name.to_owned(),
            text: text.to_owned(),
        }];
        let mut add = |name: &str, text: &str| {
            sources.push(Source {
                name: name.to_owned(),
                text: text.to_owned(),
            });
            Place {
                source: SourceId(sources.len() - 1),
                start: 0,
                end: text.len(),
            }
        };
        let size = selection.size.as_deref();
        let sets = selection.sets.iter();
        let sweeps = selection.sweeps.iter();
        let given = Given {
            size: size.map(|size| (size, add("--size", size))),
            sets: sets.map(|set| (&**set, add("--set", set))).collect(),
            sweeps: sweeps.map(|text| (&**text, add("--sweep", text))).collect(),
            only: (selection.only.iter())
                .map(|text| Only {
                    text,
                    place: add("--only", text),
                })
                .collect(),
            seeds: (selection.seeds).map(|seeds| (seeds, add("--seeds", &seeds.to_string()))),
        };
        let loading = Loading {
            folder: folder.map(Path::to_owned),
            largest_fabric: selection.largest_fabric,
            controllers: ControllerFiles::new(folder, BTreeMap::new(), selection.loader.clone()),
            other_formats: selection.other_formats,
        };
        let root = parse::document(text, SourceId(0));
        let loaded = root.and_then(|root| loading.load(root, &given));
        loaded.map_err(|problems| Diagnostics::new(sources, problems))
    }

    /// Reads a variant back from [`Variant::resolved`].
    ///
    /// # Errors
    /// When it is no resolved scenario, or one of another version.
    pub fn from_resolved(resolved: &serde_json::Value) -> Result<Scenario, Diagnostics> {
        Scenario::from_resolved_with(resolved, None, BTreeMap::new(), None)
    }

    /// The same where controllers may be in files: their contents are in `contents`, by the names that the scenario has for
    /// the files, or are looked for in `folder`, the one of the scenario that was resolved. They must be what they were
    /// then.
    ///
    /// # Errors
    /// As [`Scenario::from_resolved`], and when a file with a controller is gone or has changed.
    pub fn from_resolved_with(
        resolved: &serde_json::Value,
        folder: Option<&Path>,
        contents: BTreeMap<String, Arc<[u8]>>,
        loader: Option<Arc<dyn ControllerLoader>>,
    ) -> Result<Scenario, Diagnostics> {
        let loading = Loading {
            controllers: ControllerFiles::new(folder, contents, loader),
            ..Loading::default()
        };
        let loaded = loading.load(parse::json(resolved), &Given::default());
        loaded.map_err(|problems| {
            let source = Source {
                name: "resolved scenario".to_owned(),
                text: String::new(),
            };
            Diagnostics::new(vec![source], problems)
        })
    }
}

/// Reads a scenario from any text, for its mistakes only.
///
/// # Errors
/// Everything that is wrong with it.
pub fn check(text: &str) -> Result<Scenario, Diagnostics> {
    Scenario::from_text("scenario.toml", text, None, &Selection::default())
}

/// The text of a file, or where it is not UTF-8.
fn text(bytes: Vec<u8>, name: &str) -> Result<String, Diagnostics> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let place = Place {
            source: SourceId(0),
            start: valid,
            end: valid,
        };
        // The file's name is said here as well: where nothing is text no line of it is shown.
        let message = format!("{name} is not text in UTF-8 (byte {})", valid + 1);
        let problem = Problem::new(place, message).help("a scenario is a TOML file");
        Diagnostics::new(
            vec![Source {
                name: name.to_owned(),
                text,
            }],
            vec![problem],
        )
    })
}

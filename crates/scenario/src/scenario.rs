//! A scenario with all of its variants, checked.

use crate::checked::Checked;
use crate::controller_file::{ControllerFiles, ControllerLoader};
use crate::diagnostics::{Diagnostics, Problem, Source};
use crate::document::Given;
use crate::identity::{hash_of_resolved, hash_of_settings, without_names};
use crate::loading::Loading;
use crate::plan::Plan;
use crate::resolve::Convert;
use crate::sweep::Sweep;
use crate::tree::{Place, SourceId};
use crate::variants::Only;
use crate::{parse, regular};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A scenario, every variant of which is known to be sound.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) title: String,
    pub(crate) seeds: Vec<u64>,
    pub(crate) settings: serde_json::Value,
    pub(crate) variants: Vec<Variant>,
    pub(crate) sweeps: Vec<Sweep>,
}

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

/// One combination of a scenario's variants.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name on each axis, in the file's order: (axis, name).
    pub axes: Vec<(String, String)>,
    /// What reports call it.
    pub label: String,
    /// What its folder is called.
    pub slug: String,
    /// The scenario of this variant alone, with every default written out. Reading it again, with
    /// [`Scenario::from_resolved`], gives the same plans.
    pub resolved: serde_json::Value,
    pub(crate) controller_files: BTreeMap<String, Arc<[u8]>>,
    pub(crate) checked: Arc<Checked>,
    pub(crate) timeouts_are_chosen: bool,
    pub(crate) matched_bursts: Vec<f64>,
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

    /// What reports call the scenario.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What all variants are variants of: the scenario with its size and the command line's values but without its
    /// variants. Every default is written out where it is a scenario by itself; where only variants complete it, it
    /// is as the file has it. What no result depends on is left out: title, seeds, report and the names of phases.
    pub fn settings(&self) -> &serde_json::Value {
        &self.settings
    }

    /// Identifies the settings that results share: a SHA-256 of [`Scenario::settings`] and of
    /// [`RESULTS_VERSION`](crate::RESULTS_VERSION).
    pub fn settings_hash(&self) -> String {
        hash_of_settings(&self.settings)
    }

    /// The seeds to run.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Which axes are sweeps, and over what.
    pub fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }

    /// The variants, in the file's order, the first axis changing slowest.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }
}

/// Reads a scenario from any text, for its mistakes only.
///
/// # Errors
/// Everything that is wrong with it.
pub fn check(text: &str) -> Result<Scenario, Diagnostics> {
    Scenario::from_text("scenario.toml", text, None, &Selection::default())
}

impl Variant {
    /// Identifies the results of this variant with this seed: a SHA-256 of [`Variant::settings_hash`]'s parts and
    /// of the seed.
    pub fn hash(&self, seed: u64) -> String {
        hash_of_resolved(&self.resolved, seed)
    }

    /// Identifies what this variant's results depend on but for the seed: a SHA-256 of the resolved scenario, without
    /// its title, its report and the names of its phases, and of [`RESULTS_VERSION`](crate::RESULTS_VERSION).
    pub fn settings_hash(&self) -> String {
        hash_of_settings(&without_names(&self.resolved))
    }

    /// The files with controllers that it was loaded with, by the names that the scenario has for them.
    pub fn controller_files(&self) -> &BTreeMap<String, Arc<[u8]>> {
        &self.controller_files
    }

    /// What a backend runs.
    pub fn plan(&self, seed: u64) -> Plan {
        Plan {
            timeouts_are_chosen: self.timeouts_are_chosen,
            matched_bursts: self.matched_bursts.clone(),
            ..self.checked.plan(seed)
        }
    }
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

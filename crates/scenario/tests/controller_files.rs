//! Controllers from files: how scenarios name them, what is refused, and what results depend on.

use pathweave_control::{Algorithm, Ecn, Loaded, LoadedParameter, ParameterKind, find};
use pathweave_scenario::{ControllerFile, ControllerForm, ControllerLoader, Scenario, Selection};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Loads whatever file there is as Reno with a parameter, unless it says "broken".
#[derive(Debug, Default)]
struct Renos {
    loaded: AtomicUsize,
}

impl ControllerLoader for Renos {
    fn load(&self, file: &ControllerFile<'_>) -> Result<Arc<Loaded>, String> {
        self.loaded.fetch_add(1, Relaxed);
        if file.content.starts_with(b"broken") {
            return Err(format!(
                "{}, line 1: SyntaxError: broken; mend it",
                file.shown
            ));
        }
        let entry = find("reno").unwrap();
        let form = match file.form {
            ControllerForm::Python => "python",
            ControllerForm::Library => "library",
        };
        Ok(Arc::new(Loaded {
            name: file.item.unwrap_or("whole").to_owned(),
            summary: form.to_owned(),
            source: file.shown.to_owned(),
            explanation: String::new(),
            coupled: false,
            ecn: Box::new(|_| Ecn::Off),
            parameters: vec![LoadedParameter {
                name: "gain".to_owned(),
                kind: ParameterKind::Number {
                    default: 0.5,
                    minimum: 0.0,
                    maximum: 1.0,
                    integer: false,
                },
                help: "A gain.".to_owned(),
            }],
            one_thread: true,
            build: Box::new(|parameters, _| (entry.build)(parameters)),
        }))
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(folder.join("mine")).unwrap();
    std::fs::write(folder.join("mine.py"), "a file").unwrap();
    std::fs::write(folder.join("mine/mine.py"), "a file").unwrap();
    std::fs::write(folder.join("broken.py"), "broken").unwrap();
    folder
}

fn text(controller: &str) -> String {
    format!(
        r#"
        [fabric]
        kind = "dumbbell"
        left = 1
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "25 us"

        [[traffic]]
        name = "flows"
        pattern = "flows"
        size = "10 MB"
        controller = {controller}
        flows = [{{ from = "S1", to = "D1" }}]
        "#
    )
}

fn load(folder: &Path, controller: &str) -> Result<Scenario, String> {
    load_with(folder, &text(controller), Arc::new(Renos::default()))
}

fn load_with(folder: &Path, text: &str, loader: Arc<Renos>) -> Result<Scenario, String> {
    let selection = Selection {
        loader: Some(loader),
        ..Selection::default()
    };
    Scenario::from_text("test.toml", text, Some(folder), &selection)
        .map_err(|diagnostics| messages(&diagnostics))
}

fn messages(diagnostics: &pathweave_scenario::Diagnostics) -> String {
    let each = diagnostics.iter().map(|mistake| {
        let help = mistake.help.unwrap_or("no help");
        format!(
            "{}:{} {} | {help}",
            mistake.line, mistake.column, mistake.message
        )
    });
    each.collect::<Vec<_>>().join("\n")
}

fn hash(scenario: &Scenario) -> String {
    scenario.variants()[0].settings_hash()
}

#[test]
fn a_controller_from_a_file_has_its_defaults_and_hash_written_out() {
    let folder = folder("written-out");
    let scenario = load(&folder, r#"{ python = "mine.py:Mine" }"#).unwrap();
    let resolved = &scenario.variants()[0].resolved["traffic"][0]["controller"];
    // printf 'a file' | sha256sum
    let expected = serde_json::json!({
        "python": "mine.py:Mine",
        "sha256": "7365d029861e32c521f8089b00a6fb32daf0615025b69b599d1ce53501b845c2",
        "gain": 0.5,
    });
    assert_eq!(*resolved, expected);
    let plan = scenario.variants()[0].plan(1);
    assert_eq!(plan.groups[0].controller.name(), "Mine");
    assert_eq!(plan.groups[0].parameters.number("gain"), 0.5);
    assert!(matches!(plan.groups[0].controller, Algorithm::Loaded(_)));
}

#[test]
fn each_file_is_loaded_once_for_all_variants() {
    let folder = folder("once");
    let loader = Arc::new(Renos::default());
    let mut whole = text(r#"{ python = "mine.py:Mine" }"#);
    whole.push_str("\n[variants.gain]\n");
    for gain in 0..5 {
        whole.push_str(&format!(
            "\"{gain}\" = {{ \"traffic.flows.controller.gain\" = 0.{gain} }}\n"
        ));
    }
    let scenario = load_with(&folder, &whole, Arc::clone(&loader)).unwrap();
    assert_eq!(scenario.variants().len(), 5);
    assert_eq!(loader.loaded.load(Relaxed), 1);
    let hashes: std::collections::HashSet<_> = scenario
        .variants()
        .iter()
        .map(|variant| variant.settings_hash())
        .collect();
    assert_eq!(hashes.len(), 5);
}

#[test]
fn results_depend_on_the_content_of_the_file_and_not_on_its_folder() {
    let folder = folder("content");
    let first = load(&folder, r#"{ python = "mine.py:Mine" }"#).unwrap();
    let elsewhere = load(&folder, r#"{ python = "mine/mine.py:Mine" }"#).unwrap();
    assert_eq!(hash(&first), hash(&elsewhere));
    let other = load(&folder, r#"{ python = "mine.py:Other" }"#).unwrap();
    assert_ne!(hash(&first), hash(&other));
    let library = load(&folder, r#"{ library = "mine.py:Mine" }"#).unwrap();
    assert_ne!(hash(&first), hash(&library));
    std::fs::write(folder.join("mine.py"), "another file").unwrap();
    let changed = load(&folder, r#"{ python = "mine.py:Mine" }"#).unwrap();
    assert_ne!(hash(&first), hash(&changed));
    assert_ne!(first.settings_hash(), changed.settings_hash());
}

#[test]
fn a_resolved_scenario_finds_the_same_file_again_or_says_that_it_has_changed() {
    let folder = folder("again");
    let scenario = load(&folder, r#"{ python = "mine.py:Mine", gain = 0.25 }"#).unwrap();
    let resolved = &scenario.variants()[0].resolved;
    let read =
        |loader| Scenario::from_resolved_with(resolved, Some(&folder), BTreeMap::new(), loader);
    let again = read(Some(Arc::new(Renos::default()))).unwrap();
    assert_eq!(hash(&scenario), hash(&again));
    assert_eq!(
        again.variants()[0].plan(1).groups[0]
            .parameters
            .number("gain"),
        0.25
    );
    // Where there is no such folder the contents take its place.
    let files = scenario.variants()[0].controller_files();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["mine.py"]);
    let elsewhere = Scenario::from_resolved_with(
        resolved,
        None,
        files.clone(),
        Some(Arc::new(Renos::default())),
    );
    assert_eq!(hash(&scenario), hash(&elsewhere.unwrap()));
    std::fs::write(folder.join("mine.py"), "another file").unwrap();
    let error = messages(&read(Some(Arc::new(Renos::default()))).unwrap_err());
    assert!(
        error.contains("\"mine.py:Mine\" is not the file that was meant: its SHA-256 is "),
        "{error}"
    );
    let error = messages(&read(None).unwrap_err());
    assert!(
        error.contains("controllers in Python need the Python package"),
        "{error}"
    );
    std::fs::remove_file(folder.join("mine.py")).unwrap();
    let error = messages(&read(Some(Arc::new(Renos::default()))).unwrap_err());
    assert!(error.contains("\"mine.py\" cannot be read: "), "{error}");
}

#[test]
fn mistakes_are_told_where_the_scenario_has_them() {
    let folder = folder("mistakes");
    let refused = |controller: &str| load(&folder, controller).err().unwrap();
    let cases = [
        (
            r#"{ python = "mine.py:Mine", gain = 2 }"#,
            "12:56 Mine cannot have gain = 2: gain takes a number from 0 to 1 | no help",
        ),
        (
            r#"{ python = "mine.py:Mine", gian = 0.5 }"#,
            "12:49 Mine has no parameter \"gian\" | did you mean \"gain\"? Accepted: gain",
        ),
        (
            r#"{ python = "broken.py" }"#,
            "12:33 broken.py, line 1: SyntaxError: broken | mend it",
        ),
        (
            r#"{ python = "mine.py", name = "lia" }"#,
            "a controller has one of name, python and library",
        ),
        (
            r#"{ python = "mine.py", library = "mine.so" }"#,
            "a controller has one of python and library",
        ),
        (
            r#"{ name = "lia", sha256 = "00" }"#,
            "sha256 is of a controller's file",
        ),
        (
            r#""mine.py:Mine""#,
            "no controller is called \"mine.py:Mine\" | a controller in a file is written controller = { python = \"mine.py:Mine\" }",
        ),
        (
            r#"{ python = "mine.py", sha256 = "00" }"#,
            "\"mine.py\" is not the file that was meant: its SHA-256 is ",
        ),
        (r#"{ python = "none.py" }"#, "\"none.py\" cannot be read: "),
    ];
    for (controller, expected) in cases {
        let told = refused(controller);
        assert!(told.contains(expected), "{controller}: {told}");
    }
}

#[test]
fn without_a_loader_or_a_folder_there_are_only_those_of_the_registry() {
    let alone =
        |controller: &str| messages(&pathweave_scenario::check(&text(controller)).unwrap_err());
    assert!(alone(r#"{ python = "a.py" }"#).contains("need the Python package"));
    assert!(alone(r#"{ library = "a.so" }"#).contains("nothing here loads shared libraries"));
    let selection = Selection {
        loader: Some(Arc::new(Renos::default())),
        ..Selection::default()
    };
    let loaded = Scenario::from_text("x", &text(r#"{ python = "a.py" }"#), None, &selection);
    assert!(messages(&loaded.unwrap_err()).contains("this scenario has no folder"));
}

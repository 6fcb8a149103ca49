//! The message of every broken scenario in `tests/broken`, as a snapshot.

use crate::files::scenarios;
use pathweave_scenario::{Scenario, Selection};
use std::path::Path;

/// What a comment on the first lines asks for: `# --set key=value` and so on.
fn selection(text: &str) -> Selection {
    let mut selection = Selection::default();
    for line in text.lines().take_while(|line| line.starts_with("# --")) {
        let (option, value) = line[4..].split_once(' ').expect("an option and its value");
        match option {
            "set" => selection.sets.push(value.to_owned()),
            "sweep" => selection.sweeps.push(value.to_owned()),
            "only" => selection.only.push(value.to_owned()),
            "size" => selection.size = Some(value.to_owned()),
            "seeds" => selection.seeds = Some(value.parse().expect("a number")),
            other => panic!("no option {other}"),
        }
    }
    selection
}

#[test]
fn every_broken_scenario_gives_its_message() {
    let files = scenarios("broken");
    assert!(files.len() >= 40, "{}", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let name = file
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let result = Scenario::from_text(
            &format!("{name}.toml"),
            &text,
            file.parent(),
            &selection(&text),
        );
        let Err(diagnostics) = result else {
            panic!("{name} was accepted");
        };
        for mistake in diagnostics.iter() {
            assert!(mistake.line >= 1 && mistake.column >= 1);
            assert!(!mistake.message.is_empty());
        }
        insta::with_settings!({
            snapshot_path => "broken",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, diagnostics.render(80, false));
        });
    }
}

#[test]
fn a_missing_file_is_a_message_too() {
    let error = Scenario::load(Path::new("no/such/file.toml"), None, &[], &[], None).unwrap_err();
    assert_eq!(error.len(), 1);
    assert!(error.to_string().contains("no/such/file.toml"), "{error}");
}

#[test]
fn bytes_that_are_no_text_are_a_message_too() {
    let path = std::env::temp_dir().join(format!("pathweave-{}.toml", std::process::id()));
    std::fs::write(&path, b"title = \"\xff\"\n").expect("writable");
    let error = Scenario::load(&path, None, &[], &[], None).unwrap_err();
    std::fs::remove_file(&path).expect("it was just written");
    let mistake = error.iter().next().expect("one mistake");
    assert_eq!((mistake.line, mistake.column), (1, 10));
}

#[test]
fn colours_are_used_only_when_asked_for() {
    let error = pathweave_scenario::check("fabric = 1").unwrap_err();
    assert!(!error.render(80, false).contains('\u{1b}'));
    assert!(error.render(80, true).contains('\u{1b}'));
    assert!(
        error.render(0, false).lines().count() > 2,
        "narrow widths are possible"
    );
}

#[test]
fn a_file_that_is_not_text_is_named() {
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images/goodput.png");
    let refused = Scenario::load(&picture, None, &[], &[], None);
    let said = refused.expect_err("it is a picture").render(200, false);
    assert!(
        said.contains("goodput.png is not text in UTF-8 (byte 1)"),
        "{said}"
    );
    assert!(said.contains("a scenario is a TOML file"), "{said}");
}

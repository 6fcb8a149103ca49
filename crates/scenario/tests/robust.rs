//! Whatever the bytes: a scenario or a message, never a panic.

use pathweave_scenario::{Scenario, Selection};
use proptest::prelude::*;
use std::path::Path;

/// Sound scenarios to start from, none with more than a few hundred hosts.
fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/valid");
    let files = std::fs::read_dir(folder).expect("the folder exists");
    let mut texts: Vec<(std::path::PathBuf, String)> = files
        .map(|file| file.expect("readable").path())
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .map(|file| {
            let text = std::fs::read_to_string(&file).expect("readable");
            // A small fabric keeps each case short.
            (file, text.replace("k = 8", "k = 4"))
        })
        .collect();
    texts.sort();
    texts.into_iter().map(|(_, text)| text).collect()
}

/// Checks a text, but for fabrics that take seconds to build: the panics of interest need none.
fn survives(text: &str) {
    let selection = Selection {
        largest_fabric: Some(10_000),
        ..Selection::default()
    };
    if let Err(error) = Scenario::from_text("scenario.toml", text, None, &selection) {
        assert!(error.len() > 0);
        for mistake in error.iter() {
            assert!(!mistake.message.is_empty());
        }
        assert!(!error.render(60, false).is_empty());
    }
}

/// A change of a text at a random place.
#[derive(Clone, Debug)]
enum Mutation {
    Cut(prop::sample::Index, usize),
    Insert(prop::sample::Index, String),
    Swap(prop::sample::Index, prop::sample::Index),
    DeleteLine(prop::sample::Index),
    RepeatLine(prop::sample::Index, prop::sample::Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let piece = prop_oneof![
        Just("\"".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just(".".to_owned()),
        Just("=".to_owned()),
        Just("-".to_owned()),
        Just("0".to_owned()),
        Just("\n".to_owned()),
        Just("..".to_owned()),
        Just("->".to_owned()),
        Just("\u{e9}\u{1f980}".to_owned()),
        Just("nan".to_owned()),
        Just("= [[]]\n".to_owned()),
        Just(" = 1e300\n".to_owned()),
        Just("18446744073709551615".to_owned()),
        Just("\"99999999 s\"".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    prop_oneof![
        (any::<prop::sample::Index>(), 1usize..12).prop_map(|(at, count)| Mutation::Cut(at, count)),
        (any::<prop::sample::Index>(), piece).prop_map(|(at, text)| Mutation::Insert(at, text)),
        (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(a, b)| Mutation::Swap(a, b)),
        any::<prop::sample::Index>().prop_map(Mutation::DeleteLine),
        (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(a, b)| Mutation::RepeatLine(a, b)),
    ]
}

fn mutate(text: &str, mutation: &Mutation) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let mut lines: Vec<&str> = text.lines().collect();
    if characters.is_empty() || lines.is_empty() {
        return text.to_owned();
    }
    match mutation {
        Mutation::Cut(at, count) => {
            let at = at.index(characters.len());
            let end = (at + count).min(characters.len());
            characters.drain(at..end);
            characters.into_iter().collect()
        }
        Mutation::Insert(at, piece) => {
            let at = at.index(characters.len());
            characters.splice(at..at, piece.chars());
            characters.into_iter().collect()
        }
        Mutation::Swap(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
            lines.join("\n")
        }
        Mutation::DeleteLine(at) => {
            lines.remove(at.index(lines.len()));
            lines.join("\n")
        }
        Mutation::RepeatLine(from, to) => {
            let line = lines[from.index(lines.len())];
            lines.insert(to.index(lines.len()), line);
            lines.join("\n")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn mutated_scenarios(
        start in any::<prop::sample::Index>(),
        mutations in prop::collection::vec(mutation(), 1..5),
    ) {
        let seeds = seeds();
        let mut text = seeds[start.index(seeds.len())].clone();
        for mutation in &mutations {
            text = mutate(&text, mutation);
        }
        survives(&text);
    }

    #[test]
    fn arbitrary_text(text in "\\PC{0,200}") {
        survives(&text);
    }

    #[test]
    fn arbitrary_assignments(
        lines in prop::collection::vec(
            ("(fabric|traffic|stop|variants|sweep|transport|record|events|sizes|seed|measure|routing)(\\.[a-z_]{1,10}){0,3}",
             "(\"[a-zA-Z0-9 .>-]{0,12}\"|-?[0-9]{1,6}|[0-9]{1,3}\\.[0-9]|true|\\[\\]|\\{\\}|\\[\\{\\}\\]|nan|inf|1979-05-27)"),
            0..8,
        )
    ) {
        let text: Vec<String> = lines.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        survives(&text.join("\n"));
    }

    #[test]
    fn arbitrary_command_lines(
        sets in prop::collection::vec(
            prop_oneof!["\\PC{0,30}", "(traffic|fabric|stop)(\\.[a-z0-9]{0,8}){0,4}=\\PC{0,12}"], 0..3,
        ),
        only in prop::collection::vec("[a-z=. -]{0,12}", 0..2),
        sweeps in prop::collection::vec(
            prop_oneof!["\\PC{0,30}", "(traffic.flows|fabric|together)(\\.[a-z]{0,8}){0,3}=[0-9., :xus{}=]{0,16}"], 0..3,
        ),
        size in prop::option::of("\\PC{0,6}"),
        seeds in prop::option::of(0u32..10),
    ) {
        let text = include_str!("valid/dumbbell.toml");
        let selection = Selection { size, sets, sweeps, only, seeds, ..Selection::default() };
        if let Err(error) = Scenario::from_text("dumbbell.toml", text, None, &selection) {
            prop_assert!(!error.render(80, false).is_empty());
        }
    }
}

#[test]
fn deep_and_wide_texts() {
    survives(&"a.".repeat(100_000));
    survives(&format!("[{}]", vec!["a"; 50_000].join(".")));
    survives(&format!("a = {}", "[".repeat(100_000)));
    survives(&format!("a = {}{}", "{b=".repeat(70), "}".repeat(70)));
    survives(&format!("a = {}1{}", "[".repeat(70), "]".repeat(70)));
    let deep = "a.".repeat(100_000);
    survives(&format!("[sweep]\n\"{deep}a\" = [1]"));
    survives(&format!("[sweep.together.x]\n\"{deep}a\" = [1]"));
    let many: String = (0..5_000).map(|i| format!("key{i} = {i}\n")).collect();
    survives(&many);
    let axes: String = (0..40)
        .flat_map(|axis| (0..9).map(move |name| format!("[variants.a{axis}.n{name}]\n")))
        .collect();
    survives(&format!("{}{axes}", include_str!("valid/xmp-fig4.toml")));
    survives("\u{feff}title = \"x\"\r\n[fabric]\r\nkind = \"ring\"\r\n");
    survives("title = \"a\0b\"\nfabric = \"\u{7}\u{1b}[31m\"\n");
}

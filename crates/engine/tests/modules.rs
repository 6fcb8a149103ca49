//! Arrows between the engine's modules point one way: none of them needs itself through others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Which modules each module of the crate's root names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The source files below a folder, the binaries' left out.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.ends_with("bin") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// A file's text without comments and without the module of its tests.
fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    let lines = text[..tests].lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The names behind each `path` in some code: one, or those of a list in braces.
fn named<'a>(code: &'a str, path: &str) -> Vec<&'a str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    for (at, _) in code.match_indices(path) {
        if code[..at].ends_with(|c| is_name(c) || c == ':') {
            continue; // the end of a longer path
        }
        let rest = &code[at + path.len()..];
        let Some(list) = rest.strip_prefix('{') else {
            names.push(rest.split(|c| !is_name(c)).next().unwrap_or_default());
            continue;
        };
        // The first name of each entry, lists in it left out.
        let (mut depth, mut begins) = (0, true);
        for (place, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                _ if begins && is_name(c) => {
                    let name = list[place..].split(|c| !is_name(c)).next();
                    names.push(name.unwrap_or_default());
                    begins = false;
                }
                _ => {}
            }
        }
    }
    names
}

/// The arrows between the modules of the engine's root.
fn arrows() -> Arrows {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut arrows = Arrows::new();
    let mut codes = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).expect("a file below the root");
        let mut parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
        let last = parts.pop().unwrap_or_default().trim_end_matches(".rs");
        if last != "mod" {
            parts.push(last);
        }
        if parts == ["lib"] {
            continue;
        }
        // This many steps up lead to the root.
        let up = "super::".repeat(parts.len());
        let text = std::fs::read_to_string(&file).expect("a source file");
        arrows.entry(parts[0].to_owned()).or_default();
        codes.push((parts[0].to_owned(), up, code(&text)));
    }
    let modules: BTreeSet<String> = arrows.keys().cloned().collect();
    for (module, up, code) in codes {
        let paths = ["crate::".to_owned(), up];
        let others = paths.iter().flat_map(|path| named(&code, path));
        let others = others.filter(|name| *name != module && modules.contains(*name));
        let own = arrows.entry(module.clone()).or_default();
        own.extend(others.map(str::to_owned));
    }
    arrows
}

/// A way from a module back to itself, if there is one.
fn cycle(arrows: &Arrows) -> Option<Vec<String>> {
    /// Goes on from the last module of `way`. Modules in `done` lead to no cycle.
    fn follow(
        arrows: &Arrows,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        let here = way.last()?.clone();
        for next in arrows.get(&here).into_iter().flatten() {
            if let Some(begin) = way.iter().position(|module| module == next) {
                let mut found = way[begin..].to_vec();
                found.push(next.clone());
                return Some(found);
            }
            if !done.contains(next) {
                way.push(next.clone());
                let found = follow(arrows, way, done);
                if found.is_some() {
                    return found;
                }
                way.pop();
            }
        }
        done.insert(here);
        None
    }
    let mut done = BTreeSet::new();
    arrows
        .keys()
        .find_map(|module| follow(arrows, &mut vec![module.clone()], &mut done))
}

#[test]
fn no_module_needs_itself_through_others() {
    let arrows = arrows();
    assert!(arrows["run"].contains("simulation") && arrows["simulation"].contains("regions"));
    if let Some(cycle) = cycle(&arrows) {
        panic!("these modules need each other: {}", cycle.join(" -> "));
    }
}

/// What results are made from is one record: nobody but who hands it over knows of the tables.
#[test]
fn results_are_made_from_a_record_alone() {
    let arrows = arrows();
    let users = arrows.iter().filter(|(_, used)| used.contains("results"));
    let users: Vec<&str> = users.map(|(module, _)| module.as_str()).collect();
    assert_eq!(users, ["live", "run"]);
    for backend in ["simulation", "fluid", "live", "regions", "workload"] {
        assert!(!arrows["results"].contains(backend), "{backend}");
    }
}

#[test]
fn a_cycle_is_found_and_named() {
    let of = |arrows: &[(&str, &str)]| {
        let mut all = Arrows::new();
        for (from, to) in arrows {
            let own = all.entry((*from).to_owned()).or_default();
            own.insert((*to).to_owned());
        }
        all
    };
    assert_eq!(cycle(&of(&[("a", "b"), ("a", "c"), ("b", "c")])), None);
    let found = cycle(&of(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")]));
    let found = found.expect("a cycle");
    assert_eq!(found, ["b", "c", "d", "b"]);
}

#[test]
fn names_are_found_in_all_their_forms() {
    let text = "use crate::one::Thing;\nuse crate::{two::{A, b}, three, four::C};\n\
        fn of(x: crate::five::D) {} // crate::six::E\nuse other_crate::seven;\n\
        #[cfg(test)]\nmod tests { use crate::eight; }";
    let expected = ["one", "two", "three", "four", "five"];
    assert_eq!(named(&code(text), "crate::"), expected);
    assert_eq!(named("use super::super::nine;", "super::super::"), ["nine"]);
    assert_eq!(named("use super::super::nine;", "super::"), ["super"]);
}

//! Administrators who do the same thing at one time.

use super::inventory::Inventory;
use super::lifecycle::request;
use super::program::{Ended, PROGRAM};
use crate::this_machine;
use pathweave_linux::kernel;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often they race.
const RACES: usize = 10;
/// Longer than a command waits for what nobody is changing, which is 2 s.
const HELD_UP: Duration = Duration::from_secs(3);
/// How often a controller is loaded and unloaded while `status` looks.
const CHANGES: usize = 30;

fn start(arguments: &[&str]) -> Child {
    Command::new(PROGRAM)
        .arg("kernel")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built")
}

fn end(child: Child) -> Ended {
    child.wait_with_output().expect("it ends").into()
}

#[test]
fn of_simultaneous_unloads_one_does_it_and_the_others_say_the_same() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    for race in 0..RACES {
        kernel::load(&request("xmp")).unwrap().pin().unwrap();
        let force: &[&str] = if race % 2 == 0 { &[] } else { &["--force"] };
        let arguments = [&["unload", "xmp"], force].concat();
        let children: Vec<Child> = (0..3).map(|_| start(&arguments)).collect();
        let ended: Vec<Ended> = children.into_iter().map(end).collect();
        let done = ended.iter().filter(|one| one.code == Some(0)).count();
        assert_eq!(done, 1, "race {race}: {ended:?}");
        for one in ended.iter().filter(|one| one.code != Some(0)) {
            let seen = (one.code, one.out.as_str(), one.said.as_str());
            assert_eq!(seen, (Some(2), "", "pw_xmp is not loaded\n"), "race {race}");
        }
    }
    before.assert_is_again();
}

#[test]
fn loads_and_unloads_at_one_time_end_with_all_or_nothing() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    for race in 0..RACES {
        let children = [&["load", "xmp"], &["unload", "xmp"], &["load", "xmp"]].map(|a| start(a));
        let ended = children.map(end);
        let [load, unload, other_load] = &ended;
        for one in [load, other_load] {
            assert_eq!(one.code, Some(0), "race {race}: {ended:?}");
        }
        let known = ["is not loaded", "is registered without a pin by process"];
        let is_known = known.iter().any(|text| unload.said.contains(text));
        assert!(unload.code == Some(0) || is_known, "race {race}: {ended:?}");
        let status = super::program::kernel("status --json").json();
        for one in status["controllers"].as_array().unwrap() {
            assert_eq!(one["state"], "loaded", "race {race}: {status} {ended:?}");
            let unload = super::program::kernel("unload xmp");
            assert_eq!(unload.code, Some(0), "race {race}: {unload:?}");
        }
    }
    before.assert_is_again();
}

#[test]
fn changes_at_one_time_come_one_after_another() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    kernel::load(&request("xmp")).unwrap().pin().unwrap();
    let sets = ["beta=6", "minimum_window=3", "failed_after=4"];
    let children = sets.map(|set| start(&["set", "xmp", set]));
    for one in children.map(end) {
        assert_eq!(one.code, Some(0), "{one:?}");
    }
    let status = super::program::kernel("status --json").json();
    let one = &status["controllers"][0];
    assert_eq!(one["state"], "loaded", "{status}");
    assert_eq!(one["generation"], 4, "{status}");
    for set in sets {
        let (key, value) = set.split_once('=').expect("a key and a value");
        assert_eq!(one["parameters"][key], value, "{status}");
    }
    assert_eq!(one["replacement_unfinished"], false, "{status}");
    let unload = super::program::kernel("unload xmp");
    assert_eq!(unload.code, Some(0), "{unload:?}");
    before.assert_is_again();
}

#[test]
fn what_is_changed_while_it_is_unloaded_is_gone() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    for race in 0..RACES {
        kernel::load(&request("xmp")).unwrap().pin().unwrap();
        let [set, unload] = [&["set", "xmp", "beta=5"][..], &["unload", "xmp"]].map(start);
        let [set, unload] = [set, unload].map(end);
        assert_eq!(unload.code, Some(0), "race {race}: {unload:?}");
        let seen = (set.code, set.said.as_str());
        let known = [(Some(0), ""), (Some(2), "pw_xmp is not loaded\n")];
        assert!(known.contains(&seen), "race {race}: {set:?}");
        before.assert_is_again();
    }
}

/// As `unload --force` while its sockets do not let go: the link's pin has gone, the others are left, and it has the claim.
#[test]
fn those_who_come_while_an_unload_is_held_up_wait_for_its_end() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let folder = Path::new("/sys/fs/bpf/pathweave/pw_xmp");
    for (arguments, code, said) in [
        (&["load", "xmp"][..], 0, ""),
        (&["set", "xmp", "beta=5"], 2, "pw_xmp is not loaded\n"),
    ] {
        kernel::load(&request("xmp")).unwrap().pin().unwrap();
        let claim = File::open(folder).unwrap();
        flock(&claim, FlockOperation::NonBlockingLockExclusive).unwrap();
        fs::remove_file(folder.join("link")).unwrap();
        let begin = Instant::now();
        let mut child = start(arguments);
        while begin.elapsed() < HELD_UP {
            let ended = child.try_wait().expect("it can be waited for");
            assert_eq!(ended, None, "{arguments:?}: {:?}", end(child));
            thread::yield_now();
        }
        for pin in fs::read_dir(folder).unwrap().flatten() {
            fs::remove_file(pin.path()).unwrap();
        }
        fs::remove_dir(folder).unwrap();
        // The folder of all goes with the last one.
        let _ = fs::remove_dir(folder.parent().expect("it has one"));
        drop(claim);
        let ended = end(child);
        let seen = (ended.code, ended.said.as_str());
        assert_eq!(seen, (Some(code), said), "{arguments:?}: {ended:?}");
        if code == 0 {
            let status = super::program::kernel("status --json").json();
            assert_eq!(status["controllers"][0]["state"], "loaded", "{status}");
            let unload = super::program::kernel("unload xmp");
            assert_eq!(unload.code, Some(0), "{unload:?}");
        }
    }
    before.assert_is_again();
}

/// What is seen while a change goes on, or has just ended, is not what a killed loader left.
#[test]
fn status_says_nothing_of_remains_while_controllers_come_and_go() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let is_over = AtomicBool::new(false);
    let (codes, seen) = thread::scope(|scope| {
        let changes = scope.spawn(|| {
            let commands = ["load xmp", "unload xmp"].into_iter().cycle();
            let ended = commands.take(2 * CHANGES).map(super::program::kernel);
            let codes: Vec<Option<i32>> = ended.map(|one| one.code).collect();
            is_over.store(true, Ordering::Relaxed);
            codes
        });
        let mut seen = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            seen.push(super::program::kernel("status --json"));
        }
        (changes.join().expect("they are made"), seen)
    });
    assert_eq!(codes, [Some(0); 2 * CHANGES]);
    assert!(seen.len() > CHANGES, "{} looks", seen.len());
    for look in &seen {
        assert_eq!(look.code, Some(0), "{look:?}");
        for one in look.json()["controllers"].as_array().expect("a list") {
            let state = one["state"].as_str().expect("a text");
            let known = ["loaded", "changing", "unpinned"];
            assert!(known.contains(&state), "{look:?}");
        }
    }
    before.assert_is_again();
}

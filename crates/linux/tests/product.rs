//! The binary on its own: in a root that has nothing but the libraries it is linked to, its unit, its manual pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pathweave-linux");

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pathweave-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn run(program: &str, arguments: &[&str]) -> String {
    text(&Command::new(program).args(arguments).output().unwrap())
}

#[test]
fn a_root_with_the_stated_libraries_is_enough() {
    let stated = [
        "ld-linux",
        "libc.so",
        "libelf.so",
        "libgcc_s.so",
        "libm.so",
        "libz.so",
    ];
    let listed = run("ldd", &[PROGRAM]);
    let libraries: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')))
        .collect();
    assert!(!libraries.is_empty(), "{listed}");
    // What libelf itself needs is its distribution's choice.
    let beyond = |name: &str| {
        !stated.iter().any(|known| name.starts_with(known)) && !name.starts_with("libzstd")
    };
    for library in &libraries {
        let name = Path::new(library).file_name().unwrap().to_string_lossy();
        assert!(
            !beyond(&name),
            "{name} is not among those that docs/administrators.md names"
        );
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("left out: only root can change the root");
        return;
    }
    let root = Folder::new("root");
    let at = |path: &str| root.0.join(path.trim_start_matches('/'));
    for library in libraries {
        fs::create_dir_all(at(library).parent().unwrap()).unwrap();
        fs::copy(library, at(library)).unwrap();
    }
    run(
        "strip",
        &["-o", at("/pathweave-linux").to_str().unwrap(), PROGRAM],
    );
    let inside = run(
        "chroot",
        &[
            root.0.to_str().unwrap(),
            "/pathweave-linux",
            "kernel",
            "load",
            "--help",
        ],
    );
    assert!(
        inside.contains("pathweave kernel load xmp --set beta=4"),
        "{inside}"
    );
}

#[test]
fn systemd_takes_the_unit() {
    let folder = Folder::new("unit");
    let path = folder.0.join("pathweave@.service");
    let unit = run(PROGRAM, &["unit"]);
    assert!(
        unit.contains(&format!("ExecStart={PROGRAM} kernel load %i $OPTIONS\n")),
        "{unit}"
    );
    fs::write(&path, unit).unwrap();
    let instance = folder.0.join("pathweave@xmp.service");
    std::os::unix::fs::symlink(&path, &instance).unwrap();
    match Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&instance)
        .output()
    {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                output.status.success() && !said.contains("pathweave"),
                "{said}"
            );
        }
        Err(_) => eprintln!("left out: systemd is not installed"),
    }
    let refused = Command::new(PROGRAM)
        .args(["unit", "--program", "pathweave-linux"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new("manual");
    run(PROGRAM, &["manual", folder.0.to_str().unwrap()]);
    for page in [
        "pathweave-linux",
        "pathweave-linux-metrics",
        "pathweave-linux-kernel-load",
        "pathweave-linux-kernel-use",
    ] {
        let text = fs::read_to_string(folder.0.join(format!("{page}.1"))).unwrap();
        assert!(text.contains(&format!(".TH {page} 1")), "{page}: {text}");
    }
}

#[test]
fn the_python_wrapper_names_every_option() {
    let wrapper = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../python/pathweave/cli/kernel.py"
    );
    let wrapper = fs::read_to_string(wrapper).unwrap();
    for verb in ["load", "unload", "status", "use", "watch", "check"] {
        let begin = wrapper
            .find(&format!("def {verb}("))
            .expect("a function for the verb");
        let text = wrapper[begin..].split("_hand_over").next().unwrap();
        let help = run(PROGRAM, &["kernel", verb, "--help"]);
        let words = help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        for option in words.filter(|word| word.starts_with("--") && *word != "--help") {
            assert!(text.contains(option), "{verb}: {option} is not in {text}");
        }
    }
}

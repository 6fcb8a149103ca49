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
    let at_root = root.0.to_str().unwrap();
    let inside = |arguments: &[&str]| {
        let command = [&[at_root, "/pathweave-linux"], arguments].concat();
        run("chroot", &command)
    };
    assert!(inside(&["--version"]).contains(env!("CARGO_PKG_VERSION")));
    let help = inside(&["kernel", "load", "--help"]);
    assert!(
        help.contains("pathweave-linux kernel load xmp --set beta=4"),
        "{help}"
    );
    let unit = inside(&["unit", "--program", "/pathweave-linux"]);
    assert!(
        unit.contains("ExecStart=/pathweave-linux kernel load"),
        "{unit}"
    );
    fs::create_dir(at("/manual")).unwrap();
    inside(&["manual", "/manual"]);
    assert!(at("/manual/pathweave-linux-kernel-load.1").exists());
    // Without /proc and /sys it cannot see the kernel: it says so, and ends by itself.
    let check = Command::new("chroot")
        .args([at_root, "/pathweave-linux", "kernel", "check"])
        .output()
        .unwrap();
    assert_eq!(check.status.code(), Some(1), "{check:?}");
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(
        said.contains("no   type information (BTF) of the kernel"),
        "{said}"
    );
    // With them it comes to the same judgement as outside.
    fs::create_dir(at("/proc")).unwrap();
    fs::create_dir(at("/sys")).unwrap();
    let script = "mount -t proc proc \"$0/proc\" && mount -t sysfs sysfs \"$0/sys\" && exec chroot \"$0\" /pathweave-linux kernel check";
    let mounted = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script])
        .arg(at_root)
        .output()
        .unwrap();
    let outside = Command::new(PROGRAM)
        .args(["kernel", "check"])
        .output()
        .unwrap();
    let judged = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = text.lines().filter(|line| {
            // The control groups' file system is not mounted there.
            !line.starts_with(' ') && !line.contains("control groups of version 2")
        });
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(judged(&mounted), judged(&outside), "{mounted:?}");
    assert!(judged(&mounted).len() > 10, "{mounted:?}");
    assert_eq!(mounted.status.code(), outside.status.code(), "{mounted:?}");
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

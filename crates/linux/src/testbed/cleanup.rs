//! What a run changes on the machine outside its namespaces, and how it is put back: at its end, or by its supervisor if
//! it was killed. If that was killed as well, the next start does it.

use super::interruption;
use super::namespace::{is_alive, remove_orphans};
use super::supervisor::Supervisor;
use crate::{Failure, run_folder};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A kernel parameter that lets no real-time thread run for more than 95 % of a second, by default:
/// a fabric that stands still for 50 ms.
const THROTTLING: &str = "/proc/sys/kernel/sched_rt_runtime_us";
const OFF: &str = "-1";
/// A core that sleeps takes long to wake: a virtual machine's has been given away meanwhile, and with it,
/// as measured, goes time of those that did not sleep. This file says how long waking may take, in us, for as
/// long as it is open; with none of it an idle core keeps polling.
const LATENCY: &str = "/dev/cpu_dma_latency";
/// How often a run that waits looks whether it is its turn, or no longer wanted.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The right to change the machine, which one process has at a time.
struct Turn {
    _lock: File,
}

impl Turn {
    /// Waits for it.
    ///
    /// # Errors
    /// When nothing can be written under /run, and when the user ends the wait.
    fn wait() -> Result<Turn, Failure> {
        let lock = File::create(run_folder::make()?.join("lock")).map_err(cannot_write)?;
        let mut told = false;
        while let Err(error) = flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            if !matches!(error, Errno::WOULDBLOCK | Errno::INTR) {
                return Err(cannot_write(error.into()));
            }
            if interruption::is_wanted() {
                return Err(Failure::interrupted());
            }
            if !told {
                eprintln!("another testbed is running: waiting for its end");
                told = true;
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        Ok(Turn { _lock: lock })
    }
}

fn cannot_write(error: std::io::Error) -> Failure {
    Failure::new(format!("cannot write to {}: {error}", run_folder::PATH))
}

/// What a run has changed: values to put back, by file.
#[derive(Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
struct State {
    process: u32,
    files: BTreeMap<PathBuf, String>,
}

/// The machine, for one run at a time; gives it back when it goes.
pub struct Machine {
    state: State,
    path: PathBuf,
    /// Remarks on what could not be changed.
    pub notes: Vec<String>,
    /// Goes before the machine is free for others.
    _supervisor: Option<Supervisor>,
    _turn: Turn,
    /// Nothing where the system does not know of sleep: then packets may be late, which is measured.
    _awake: Option<File>,
}

impl Machine {
    /// Waits until no other run is under way, removes what killed ones left, turns real-time throttling
    /// off, and keeps the cores awake.
    ///
    /// # Errors
    /// When nothing can be written down under /run, and when the user ends the wait.
    pub fn take() -> Result<Machine, Failure> {
        let turn = Turn::wait()?;
        remove_leftovers(&turn);
        let mut notes = Vec::new();
        let supervisor = Supervisor::start()
            .map_err(|error| {
                notes.push(format!(
                    "nothing would have put the machine back if the run had been killed ({error})"
                ));
            })
            .ok();
        let process = std::process::id();
        let mut machine = Machine {
            state: State {
                process,
                files: BTreeMap::new(),
            },
            path: Path::new(run_folder::PATH).join(format!("{process}.json")),
            notes,
            _supervisor: supervisor,
            _turn: turn,
            _awake: stay_awake().ok(),
        };
        machine
            .change(Path::new(THROTTLING), OFF)
            .map_err(cannot_write)?;
        Ok(machine)
    }

    /// Writes down what a file said, then changes it.
    fn change(&mut self, file: &Path, value: &str) -> std::io::Result<()> {
        let Ok(before) = fs::read_to_string(file) else {
            return Ok(()); // this kernel does not throttle
        };
        let before = before.trim().to_owned();
        if before == value {
            return Ok(());
        }
        self.state.files.insert(file.to_owned(), before);
        fs::write(&self.path, serde_json::to_string(&self.state)?)?;
        if let Err(error) = fs::write(file, value) {
            self.state.files.remove(file);
            let _ = fs::remove_file(&self.path); // nothing else has been changed
            self.notes.push(format!(
                "real-time throttling stayed on ({error}): the fabric may stand still for 50 ms a second"
            ));
        }
        Ok(())
    }
}

fn stay_awake() -> std::io::Result<File> {
    let mut file = File::options().write(true).open(LATENCY)?;
    file.write_all(&0i32.to_ne_bytes())?;
    Ok(file)
}

impl Drop for Machine {
    fn drop(&mut self) {
        put_back(&self.state, &self.path);
    }
}

/// Puts everything back; what cannot be stays written down for the next start. Whether all could.
fn put_back(state: &State, written: &Path) -> bool {
    let mut all = true;
    for (file, value) in &state.files {
        if let Err(error) = fs::write(file, value) {
            eprintln!("cannot set {} back to {value}: {error}", file.display());
            all = false;
        }
    }
    if all {
        let _ = fs::remove_file(written); // there is none if nothing was changed, or somebody else has done it
    }
    all
}

/// Removes what killed runs left behind once no run is under way, and says what that was.
///
/// # Errors
/// When nothing can be written under /run.
pub fn clean() -> Result<Vec<String>, Failure> {
    Turn::wait().map(|turn| remove_leftovers(&turn))
}

/// Asks for the turn because another process that has it might change a setting while it is put back here.
fn remove_leftovers(_turn: &Turn) -> Vec<String> {
    let mut removed: Vec<String> = remove_orphans();
    let entries = fs::read_dir(run_folder::PATH)
        .into_iter()
        .flatten()
        .flatten();
    for path in entries.map(|entry| entry.path()) {
        let state = fs::read_to_string(&path)
            .ok()
            .and_then(|text| serde_json::from_str::<State>(&text).ok());
        if let Some(state) = state.filter(|state| !is_alive(state.process))
            && put_back(&state, &path)
        {
            let files = state.files.keys().map(|file| file.display().to_string());
            removed.extend(files);
        }
    }
    removed
}

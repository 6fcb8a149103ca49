//! One loaded controller: its settings, its pins, and what unloads it.

use super::given::parse;
use super::kernel_names::{PREFIX, kernel_name};
use super::libbpf::{map_of, quiet_libbpf};
use super::rows::{self, About, Connection};
use super::settings::Settings;
use super::{defaults, fingerprint, layout, object, pins, requirements};
use crate::Failure;
use libbpf_rs::{Link, MapCore, MapHandle, MapMut, Object, ObjectBuilder, OpenMapMut, OpenObject};
use pathweave_control::{Entry, Parameters, Value};
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::SystemTime;

/// Longest name of a congestion control, without the zero at its end (TCP_CA_NAME_MAX).
pub const LONGEST_NAME: usize = 15;

/// Where `name` and `flags` stand in the `struct tcp_congestion_ops` of bpf/kernel.h.
const NAME_AT: usize = 40;
const FLAGS_AT: usize = 56;
const NEEDS_ECN: u32 = 2;
/// Where members stand in `about` of bpf/hooks.h.
const ABOUT_LAYOUT_AT: usize = 8;
const ABOUT_PROGRAM_AT: usize = 16;
const ABOUT_SINCE_AT: usize = 24;
const ABOUT_GENERATION_AT: usize = 32;
const ABOUT_TEXT_AT: usize = 36;

/// What to load.
#[derive(Clone, Debug)]
pub struct Request {
    /// The controller's name in the registry.
    pub controller: String,
    /// Its settings.
    pub settings: Settings,
    /// The kernel's name for it: `pw_<controller>`, with a suffix where one is loaded several times.
    pub kernel_name: String,
    /// Most connections that have rows at one time.
    pub connections: u32,
    /// Retransmission timeouts in a row without progress after which a subflow counts as failed.
    pub failed_after: u32,
    /// Whether acknowledgements that echo marks grow the windows of `dctcp` and `dcm`. RFC 3168, section 6.1.2, forbids
    /// it.
    pub growth_by_marked_acks: bool,
    /// The parameters, for people.
    pub text: String,
}

impl Request {
    /// A controller under its usual name, with room for [`Request::CONNECTIONS`].
    ///
    /// `minimum_window` is in packets.
    ///
    /// # Errors
    /// When the kernel's version has no counterpart of a parameter's value.
    pub fn new(
        entry: &Entry,
        parameters: &Parameters,
        minimum_window: u32,
    ) -> Result<Request, Failure> {
        let mut text: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("{name}={}", shown(value)))
            .collect();
        text.push(format!("minimum_window={minimum_window}"));
        Ok(Request {
            controller: entry.name.to_owned(),
            settings: Settings::of(entry, parameters, minimum_window)?,
            kernel_name: kernel_name(entry.name),
            connections: Request::CONNECTIONS,
            failed_after: Request::FAILED_AFTER,
            growth_by_marked_acks: false,
            text: text.join(" "),
        })
    }

    /// What [`Request::text`] says, with other values of some settings.
    ///
    /// # Errors
    /// For a setting that is not known, and a value that it cannot have.
    pub fn of_text(
        entry: &Entry,
        text: &str,
        sets: &[(String, Value)],
    ) -> Result<Request, Failure> {
        let mut given = Vec::new();
        let (mut minimum_window, mut failed_after) = (2, Request::FAILED_AFTER);
        let before = text.split_whitespace().map(parse);
        let before = before.collect::<Result<Vec<_>, _>>()?;
        let is_set = |name: &str| sets.iter().any(|(set, _)| set == name);
        let kept = before.iter().filter(|(name, _)| !is_set(name));
        for (name, value) in kept.chain(sets) {
            match name.as_str() {
                "minimum_window" => minimum_window = integer(name, value, 1024)?,
                "failed_after" => failed_after = integer(name, value, 255)?,
                _ => given.push((name.clone(), value.clone())),
            }
        }
        let parameters = entry.parameters(&given).map_err(|error| {
            Failure::refused(error.message)
                .hint("minimum_window (1 to 1024) and failed_after (1 to 255) can be set as well")
        })?;
        Ok(Request {
            failed_after,
            ..Request::new(entry, &parameters, minimum_window)?
        })
    }

    /// Connections that have rows at one time unless something else is said.
    pub const CONNECTIONS: u32 = 4096;
    /// Timeouts in a row unless something else is said.
    pub const FAILED_AFTER: u32 = 2;

    /// All that it is loaded with, for people.
    pub fn text(&self) -> String {
        let growth = match self.growth_by_marked_acks {
            true => " growth_by_marked_acks=true",
            false => "",
        };
        format!("{} failed_after={}{growth}", self.text, self.failed_after)
    }
}

/// From 1.
fn integer(name: &str, value: &Value, most: u32) -> Result<u32, Failure> {
    match value {
        Value::Number(number)
            if number.fract() == 0.0 && (1.0..=f64::from(most)).contains(number) =>
        {
            Ok(*number as u32)
        }
        other => Err(Failure::refused(format!(
            "{name} takes an integer from 1 to {most}, got {}",
            shown(other)
        ))),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Numbers(numbers) => {
            let texts: Vec<String> = numbers.iter().map(f64::to_string).collect();
            texts.join(",")
        }
    }
}

/// A controller that is in the kernel for as long as this lives, or longer if it is pinned.
pub struct Loaded {
    link: Link,
    connections: MapHandle,
    about: MapHandle,
    totals: MapHandle,
    kernel_name: String,
}

impl Loaded {
    /// The name that TCP_CONGESTION takes.
    pub fn kernel_name(&self) -> &str {
        &self.kernel_name
    }

    /// The connections that have rows now.
    ///
    /// # Errors
    /// When the kernel does not show them.
    pub fn connections(&self) -> Result<Vec<Connection>, Failure> {
        let about = About::read(&self.about)?;
        Ok(rows::connections(&self.connections, &about))
    }

    /// Lets it outlive this process, under the folder of its name.
    ///
    /// # Errors
    /// When the file system of pins cannot be written.
    pub fn pin(mut self) -> Result<PathBuf, Failure> {
        let control = map_of(&self.link)
            .ok_or_else(|| Failure::new("the kernel does not tell what the link registers"))?;
        let (folder, _claim) = pins::make_folder(&self.kernel_name)?;
        defaults::record(&self.kernel_name);
        let pinned = self
            .connections
            .pin(folder.join(pins::CONNECTIONS))
            .and_then(|()| self.about.pin(folder.join(pins::about(control))))
            .and_then(|()| self.totals.pin(folder.join(pins::TOTALS)))
            .and_then(|()| self.link.pin(folder.join(pins::LINK)));
        if let Err(error) = pinned {
            pins::remove(&self.kernel_name)?;
            let place = folder.display();
            return Err(Failure::new(format!("cannot pin in {place}: {error}")));
        }
        Ok(folder)
    }
}

/// Loads a controller and registers it with the kernel.
///
/// # Errors
/// What the machine lacks, or what the kernel says.
pub fn load(request: &Request) -> Result<Loaded, Failure> {
    requirements::check()?;
    let name = &request.kernel_name;
    let bytes = object_of(request)?;
    let (mut loaded, _) = verified(bytes, request, None)?;
    let mut control: MapMut<'_> = loaded
        .maps_mut()
        .find(|map| map.name() == OsStr::new("control"))
        .ok_or_else(|| Failure::new("the object has no control"))?;
    let link = control
        .attach_struct_ops()
        .map_err(|error| refused(name, "it cannot be registered", &error))?;
    Ok(Loaded {
        link,
        connections: held(&loaded, "connections")?,
        about: held(&loaded, ".rodata.about")?,
        totals: held(&loaded, "totals")?,
        kernel_name: name.clone(),
    })
}

/// The object that a request is for.
pub(super) fn object_of(request: &Request) -> Result<&'static [u8], Failure> {
    let name = &request.kernel_name;
    let bytes = object::of(&request.controller).ok_or_else(|| {
        Failure::refused(format!(
            "\"{}\" is not a controller for the kernel",
            request.controller
        ))
        .hint(format!(
            "there are {}",
            object::names().collect::<Vec<_>>().join(", ")
        ))
    })?;
    if name.len() > LONGEST_NAME {
        return Err(Failure::refused(format!(
            "\"{name}\" is longer than the {LONGEST_NAME} characters that the kernel takes"
        )));
    }
    Ok(bytes)
}

fn refused(name: &str, what: &str, error: &libbpf_rs::Error) -> Failure {
    Failure::new(format!("the kernel does not take {name}: {what}: {error}"))
        .hint(requirements::hint_for(error))
}

/// A handle to one of an object's maps.
pub(super) fn held(object: &Object, name: &str) -> Result<MapHandle, Failure> {
    let map = object
        .maps()
        .find(|map| map.name() == OsStr::new(name))
        .ok_or_else(|| Failure::new(format!("the object has no map {name}")))?;
    MapHandle::try_from(&map)
        .map_err(|error| Failure::new(format!("the map {name} cannot be held: {error}")))
}

/// What a program goes on with that replaces another one.
pub(super) struct Inheritance<'a> {
    pub connections: &'a MapHandle,
    pub totals: &'a MapHandle,
    pub generation: u32,
}

/// An object that the verifier has taken and that is not registered yet, and the flags of its control.
pub(super) fn verified(
    bytes: &[u8],
    request: &Request,
    inheritance: Option<&Inheritance<'_>>,
) -> Result<(Object, u32), Failure> {
    let name = &request.kernel_name;
    quiet_libbpf();
    let mut open = ObjectBuilder::default()
        .open_memory(bytes)
        .map_err(|error| refused(name, "its object cannot be read", &error))?;
    let layout = layout_of(bytes)?;
    prepare(&mut open, request)
        .map_err(|error| refused(name, "its settings do not fit", &error))?;
    let mut flags = 0;
    for mut map in open.maps_mut() {
        let of = map.name().to_string_lossy().into_owned();
        match (of.as_str(), inheritance) {
            (".rodata.about", _) => {
                let generation = inheritance.map_or(1, |inherited| inherited.generation);
                let since = SystemTime::UNIX_EPOCH
                    .elapsed()
                    .map_or(0, |since| since.as_secs());
                let value = map.initial_value_mut().unwrap_or(&mut []);
                let mut put = |at: usize, bytes: &[u8]| {
                    value[at..at + bytes.len()].copy_from_slice(bytes);
                };
                put(ABOUT_LAYOUT_AT, &layout.to_ne_bytes());
                put(ABOUT_PROGRAM_AT, &fingerprint::of(bytes).to_ne_bytes());
                put(ABOUT_SINCE_AT, &since.to_ne_bytes());
                put(ABOUT_GENERATION_AT, &generation.to_ne_bytes());
            }
            ("control", _) => {
                let value = map.initial_value().unwrap_or(&[]);
                let four = value[FLAGS_AT..FLAGS_AT + 4].try_into();
                flags = u32::from_ne_bytes(four.expect("four bytes"));
            }
            ("connections", Some(inherited)) => map
                .reuse_fd(inherited.connections.as_fd())
                .map_err(|error| refused(name, "its rows cannot be taken over", &error))?,
            ("totals", Some(inherited)) => map
                .reuse_fd(inherited.totals.as_fd())
                .map_err(|error| refused(name, "its counts cannot be taken over", &error))?,
            _ => {}
        }
    }
    let loaded = open
        .load()
        .map_err(|error| refused(name, "the verifier refuses it", &error))?;
    Ok((loaded, flags))
}

/// How an object lays its maps out.
pub(super) fn layout_of(bytes: &[u8]) -> Result<u64, Failure> {
    let open = ObjectBuilder::default()
        .open_memory(bytes)
        .map_err(|error| Failure::new(format!("a controller's object cannot be read: {error}")))?;
    let about = open.maps().find(|map| map.name() == ".rodata.about");
    let value = about.as_ref().and_then(|map| map.initial_value());
    let meaning = value
        .and_then(|value| value[ABOUT_LAYOUT_AT..ABOUT_LAYOUT_AT + 8].try_into().ok())
        .map_or(0, u64::from_ne_bytes);
    layout::of(bytes, meaning)
}

/// Writes settings, name and size into an object that is not loaded yet.
fn prepare(open: &mut OpenObject, request: &Request) -> Result<(), libbpf_rs::Error> {
    for mut map in open.maps_mut() {
        match map.name().to_string_lossy().as_ref() {
            "connections" => map.set_max_entries(request.connections)?,
            "control" => write_control(&mut map, request),
            ".rodata.about" => {
                let text = request.text();
                let text = text.as_bytes();
                let value = map.initial_value_mut().unwrap_or(&mut []);
                let room = value.len() - ABOUT_TEXT_AT - 1;
                let text = &text[..text.len().min(room)];
                value[ABOUT_TEXT_AT..ABOUT_TEXT_AT + text.len()].copy_from_slice(text);
            }
            ".rodata.failed_after" => {
                map.set_initial_value(&request.failed_after.to_ne_bytes())?;
            }
            ".rodata.growth_by_marked_acks" => {
                map.set_initial_value(&[u8::from(request.growth_by_marked_acks)])?;
            }
            ".rodata.settings" => {
                let bytes: Vec<u8> = request
                    .settings
                    .values
                    .iter()
                    .flat_map(|value| value.to_ne_bytes())
                    .collect();
                map.set_initial_value(&bytes)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn write_control(map: &mut OpenMapMut<'_>, request: &Request) {
    let Some(control) = map.initial_value_mut() else {
        return;
    };
    debug_assert!(control[NAME_AT..].starts_with(PREFIX.as_bytes()));
    let name = &mut control[NAME_AT..=NAME_AT + LONGEST_NAME];
    name.fill(0);
    name[..request.kernel_name.len()].copy_from_slice(request.kernel_name.as_bytes());
    let flags = &mut control[FLAGS_AT..FLAGS_AT + 4];
    let mut value = u32::from_ne_bytes([flags[0], flags[1], flags[2], flags[3]]);
    if request.settings.needs_ecn {
        value |= NEEDS_ECN;
    } else {
        value &= !NEEDS_ECN;
    }
    flags.copy_from_slice(&value.to_ne_bytes());
}

//! Controllers in shared libraries.

use crate::abi::{ABI, CController, CParameter};
use crate::declaration::{Declaration, loaded};
use crate::functions::Functions;
use libloading::Library;
use pathweave_control::{Loaded, LoadedParameter, ParameterKind};
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// What the constant is called when the scenario does not say.
const CONSTANT: &str = "controller";

/// Most bytes of state that a controller may ask for: more are a mistake in its declaration.
const MOST_STATE: u64 = 1 << 20;

/// Keys of a controller in a scenario that are not its parameters.
const RESERVED: [&str; 4] = ["name", "python", "library", "sha256"];

/// A library's code. The system knows it by the number of the file, which must not go to another one before.
struct Code {
    _library: Library,
    _file: File,
}

/// Loads the controller `item` of a shared library with this content; `shown` is what messages call the file.
///
/// What is loaded is a copy in memory: it is what the content's hash says, and whoever builds the file again does not
/// change the code of a run under way.
///
/// Loading runs the library's own code: whoever names it in a scenario trusts it as a program that they start.
///
/// # Errors
/// Why it cannot be used, and behind a semicolon what would be right.
pub fn library(content: &[u8], shown: &str, item: Option<&str>) -> Result<Loaded, String> {
    let name = item.unwrap_or(CONSTANT);
    let file = in_memory(content).map_err(|error| format!("{shown} cannot be loaded: {error}"))?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: its initialisers are run, which the user asks for by naming it.
    let library = unsafe { Library::new(&path) }.map_err(|error| {
        let cause = cause(&error).replace(&format!("{path}: "), "");
        format!("{shown} cannot be loaded: {cause}; a library is built with cc -shared -fPIC")
    })?;
    // SAFETY: the type is what the header says that a constant of this name has; its version is looked at first.
    let constant = unsafe { library.get::<*const CController>(name.as_bytes()) }.map_err(|_| {
        format!("{shown} exports no \"{name}\"; a controller is a PATHWEAVE_EXPORT const pathweave_controller of that name")
    })?;
    let place: *const CController = *constant;
    if place.is_null() || !place.is_aligned() {
        return Err(format!("{shown}: \"{name}\" is not a controller"));
    }
    // SAFETY: it is the address of an exported object, not zero and aligned; all versions begin with this number.
    let abi = unsafe { *place.cast::<u32>() };
    if abi != ABI {
        return Err(format!(
            "{shown}: \"{name}\" is of version {abi} of the C interface, and this is version {ABI}; build it with this version's pathweave_controller.h"
        ));
    }
    // SAFETY: an object of this version has this type, lives as long as the library, and is constant.
    let controller = unsafe { &*place };
    let wrong = |text: String| format!("{shown}: {name}: {text}");
    // SAFETY: the header says that these are texts and lists that end with a null.
    let declaration = unsafe { declaration(controller, shown, name) }.map_err(wrong)?;
    let functions = functions(controller, shown, name, Arc::new(()));
    let functions = functions.map_err(wrong)?;
    let functions = Functions {
        _code: Arc::new(Code {
            _library: library,
            _file: file,
        }),
        ..functions
    };
    Ok(loaded(declaration, functions))
}

/// A file with this content that has no name.
fn in_memory(content: &[u8]) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("pathweave-controller", MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    Ok(file)
}

/// What the system says, without what this library puts in front of it.
fn cause(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}

fn functions(
    controller: &CController,
    shown: &str,
    name: &str,
    code: Arc<()>,
) -> Result<Functions, String> {
    let missing = |function: &str| format!("has no {function}; set .{function}");
    let size = |of: &str, bytes: u64| {
        if bytes <= MOST_STATE {
            return Ok(bytes as usize);
        }
        Err(format!(
            "has {of} = {bytes}; state takes at most {MOST_STATE} bytes"
        ))
    };
    Ok(Functions {
        shown: format!("{shown}: {name}"),
        state_size: size("state_size", controller.state_size)?,
        subflow_size: size("subflow_size", controller.subflow_size)?,
        open: controller.open,
        close: controller.close,
        on_ack: controller.on_ack.ok_or_else(|| missing("on_ack"))?,
        on_loss: controller.on_loss.ok_or_else(|| missing("on_loss"))?,
        on_subflow: controller.on_subflow.ok_or_else(|| missing("on_subflow"))?,
        _code: code,
    })
}

/// What a controller says of itself, copied.
///
/// # Safety
/// Every pointer in it must be null or what the header says.
unsafe fn declaration(
    controller: &CController,
    shown: &str,
    item: &str,
) -> Result<Declaration, String> {
    let marks = match u8::try_from(controller.marks) {
        Ok(0) => None,
        Ok(limit) => Some(limit),
        Err(_) => {
            return Err(format!(
                "has marks = {}; an acknowledgement echoes 1 to 255, or 0 without ECN",
                controller.marks
            ));
        }
    };
    let mut parameters: Vec<LoadedParameter> = Vec::new();
    let count = controller.parameter_count as usize;
    if count > 0 && controller.parameters.is_null() {
        return Err(format!("says that it has {count} parameters, and has none"));
    }
    for place in 0..count {
        // SAFETY: the header says that there are this many.
        let declared = unsafe { &*controller.parameters.add(place) };
        // SAFETY: the caller's promise.
        let parameter = unsafe { parameter(declared) }?;
        if parameters.iter().any(|known| known.name == parameter.name) {
            return Err(format!("has two parameters \"{}\"", parameter.name));
        }
        parameters.push(parameter);
    }
    // SAFETY: the caller's promise.
    let (name, summary, source, explanation) = unsafe {
        (
            text(controller.name),
            text(controller.summary),
            text(controller.source),
            text(controller.explanation),
        )
    };
    let summary = summary.unwrap_or_else(|| format!("A controller in {shown}."));
    Ok(Declaration {
        name: name.unwrap_or_else(|| item.to_owned()),
        explanation: explanation.unwrap_or_else(|| summary.clone()),
        summary,
        source: source.unwrap_or_else(|| shown.to_owned()),
        coupled: controller.coupled != 0,
        marks,
        parameters,
    })
}

/// # Safety
/// As [`declaration`].
unsafe fn parameter(declared: &CParameter) -> Result<LoadedParameter, String> {
    // SAFETY: the caller's promise.
    let (name, help) = unsafe { (text(declared.name), text(declared.help)) };
    let name = name.ok_or("has a parameter without a name")?;
    let wrong = |text: &str| format!("has a parameter \"{name}\" that {text}");
    if RESERVED.contains(&name.as_str()) {
        return Err(wrong("is a key of its own; use another name"));
    }
    let help = help.ok_or_else(|| wrong("needs a help text: one sentence, with the unit"))?;
    let mut words = Vec::new();
    if !declared.choices.is_null() {
        for place in 0.. {
            // SAFETY: the header says that there is a null behind the last.
            match unsafe { text(*declared.choices.add(place)) } {
                Some(word) => words.push(word),
                None => break,
            }
        }
        if words.is_empty() {
            return Err(wrong("needs a choice"));
        }
    }
    let (minimum, maximum) = (declared.minimum, declared.maximum);
    let default = declared.default_value;
    let kind = if words.is_empty() {
        if !((minimum..=maximum).contains(&default) && default.is_finite()) {
            return Err(wrong(&format!(
                "needs a default between its minimum and maximum, got {default}, {minimum} and {maximum}"
            )));
        }
        ParameterKind::Number {
            default,
            minimum,
            maximum,
            integer: declared.integer != 0,
        }
    } else {
        ParameterKind::Choice(words)
    };
    Ok(LoadedParameter { name, kind, help })
}

/// A text, or `None` for a null and an empty one.
///
/// # Safety
/// It must be null, or a text with a null byte behind it.
unsafe fn text(place: *const c_char) -> Option<String> {
    if place.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(place) }.to_string_lossy();
    (!text.is_empty()).then(|| text.into_owned())
}

//! The controllers that the kernel has, each with what `bpf/native.h` exports of it and its tests.

use super::native::Functions;
use std::sync::Mutex;

macro_rules! controllers {
    ($($controller:ident)*) => {
        $(mod $controller {
            use crate::conformance::native::{Row, Seen};
            use std::ffi::c_void;

            unsafe extern "C" {
                #[link_name = concat!("pathweave_", stringify!($controller), "_sizes")]
                pub static SIZES: [u64; 3];
                #[link_name = concat!("pathweave_", stringify!($controller), "_settings")]
                pub static mut SETTINGS: u64;
                #[link_name = concat!("pathweave_", stringify!($controller), "_subflow")]
                pub fn subflow(connection: *mut c_void, place: u32) -> *mut Row;
                #[link_name = concat!("pathweave_", stringify!($controller), "_open")]
                pub fn open(connection: *mut c_void, place: u32);
                #[link_name = concat!("pathweave_", stringify!($controller), "_change")]
                pub fn change(connection: *mut c_void, place: u32, change: u32);
                #[link_name = concat!("pathweave_", stringify!($controller), "_acknowledge")]
                pub fn acknowledge(connection: *mut c_void, place: u32, ack: *const Seen);
                #[link_name = concat!("pathweave_", stringify!($controller), "_lose")]
                pub fn lose(connection: *mut c_void, place: u32, loss: u32);
            }

            #[test]
            fn does_the_same_at_every_event() {
                crate::conformance::does_the_same_at_every_event(stringify!($controller));
            }

            #[test]
            fn does_the_same_on_recorded_traces() {
                crate::conformance::does_the_same_on_recorded_traces(stringify!($controller));
            }

            #[test]
            fn has_the_same_windows_by_itself() {
                crate::conformance::has_the_same_windows_by_itself(stringify!($controller));
            }

            #[test]
            fn grows_the_same_at_large_windows() {
                crate::conformance::grows_the_same_at_large_windows(stringify!($controller));
            }

            #[test]
            fn other_settings_are_noticed() {
                crate::conformance::other_settings_are_noticed(stringify!($controller));
            }
        })*

        static CONTROLLERS: [Functions; [$(stringify!($controller)),*].len()] = [$(Functions {
            name: stringify!($controller),
            sizes: &raw const $controller::SIZES,
            settings: &raw mut $controller::SETTINGS,
            subflow: $controller::subflow,
            open: $controller::open,
            change: $controller::change,
            acknowledge: $controller::acknowledge,
            lose: $controller::lose,
            in_use: Mutex::new(()),
        }),*];
    };
}

controllers! {
    amp
    balia
    dcm
    dctcp
    eutcp
    ewtcp
    fcc
    lia
    olia
    semicoupled
    wutcp
    xmp
}

/// The controller of this name.
pub fn find(name: &str) -> &'static Functions {
    CONTROLLERS
        .iter()
        .find(|functions| functions.name == name)
        .unwrap_or_else(|| panic!("controllers.rs does not list \"{name}\""))
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    CONTROLLERS.iter().map(|functions| functions.name)
}

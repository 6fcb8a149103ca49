//! Integration tests of scenario files.

mod bursts;
mod controller_files;
mod diagnostics;
mod documentation;
mod files;
mod hostile;
mod load;
mod offered_load;
mod presets;
mod robust;
mod sweeps;
mod switches;

//! Jobs through the program: what they do to files, to time and to the machine.

#[path = "../support/mod.rs"]
mod support;

mod bare_system;
mod buffers;
mod durability;
mod e4defrag;
mod errors;
mod external;
#[cfg(target_os = "linux")]
mod fault_bench;
mod faults;
mod figures;
mod filesystems;
mod hosts;
mod jobs;
mod limits;
mod modes;
mod mpi;
mod mpi_failures;
mod not_text;
mod pace;
mod profiles;
mod safety;
mod safety_locks;
mod safety_names;
mod servers;
mod servers_refused;
mod signals;
mod slurm;
mod sprandom;
mod trigger;
mod unasked;
mod users_files;
mod verify;
mod verify_defects;
mod verify_ledger;
mod verify_passes;
mod verify_replay;
mod verify_signals;
mod verify_state;
mod zoned_device;
mod zones;

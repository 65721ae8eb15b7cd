//! What must hold before anything is touched: leave to write, files that are long
//! enough, room for open files, state files that can be read.

pub mod open_files;
pub mod unasked;
pub mod verify_state;
pub mod write_access;

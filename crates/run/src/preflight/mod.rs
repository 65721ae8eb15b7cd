//! What must hold before anything is touched: leave to write, and room for
//! open files.

pub mod open_files;
pub mod write_access;

//! Linux.

mod device;
mod open;
mod pages;
mod probe;

pub(crate) use device::{device, device_size, discard, flush_buffers};
pub(crate) use open::open;
pub(crate) use pages::{Pages, page_bytes};
pub(crate) use probe::direct_io;

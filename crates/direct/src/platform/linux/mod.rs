//! Linux.

mod pages;

pub(crate) use pages::{Pages, page_bytes};

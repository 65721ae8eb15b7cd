//! The stack below a path: the mount, its filesystem, and the devices below,
//! down to those that are made of nothing else. See [`iosonde_direct::stack`].

pub use iosonde_direct::stack::{DeviceId, DiskLine, Layer, LayerKind, Mount, Stack};

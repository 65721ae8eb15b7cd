//! Charts: each a function from figures to an SVG in a frame.

pub(crate) mod bars;
pub(crate) mod cliff;
mod frame;
pub(crate) mod heat;
pub(crate) mod percentiles;
pub(crate) mod phases;
pub(crate) mod rate;
mod scale;
pub(crate) mod spark;

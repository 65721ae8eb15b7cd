//! Charts: each a function from figures to an SVG in a frame.

pub(crate) mod bars;
pub(crate) mod cliff;
pub mod colour;
pub(crate) mod columns;
pub(crate) mod dots;
pub(crate) mod forest;
pub(crate) mod frame;
pub(crate) mod grid;
pub(crate) mod heat;
pub(crate) mod hosts;
pub(crate) mod lines;
pub(crate) mod overlaid;
pub(crate) mod percentiles;
pub(crate) mod phases;
pub(crate) mod points;
pub(crate) mod probes;
pub(crate) mod rate;
pub(crate) mod run_order;
pub(crate) mod scale;
pub(crate) mod spark;
pub(crate) mod strip;

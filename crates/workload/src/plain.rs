//! The plain kinds of job, as data: what all I/Os of one have in common.

use iosonde_base::Dir;

/// Which of the plain kinds of job this is. All but the last three: one file; one direction, or a
/// mix where places are drawn and of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastPath {
    /// One after another.
    Sequential(Plain),
    /// Even draws; a block may come again.
    Uniform(Plain, Places),
    /// Even draws; each block once.
    UniformOnce(Plain, Places),
    /// Places drawn by a law, or sizes drawn, or both; a block may come again.
    Drawn(Plain, Places),
    /// Numbers from a register, in zones or drawn 64 bits at a time; with a map or without.
    Numbered(Plain, Places),
    /// Even draws, and sizes drawn; each block once.
    DrawnOnce(Plain, Places),
    /// Even draws in several files, of one size.
    Files(Plain),
    /// Anything else whose I/Os are chosen one by one, with nothing between them but syncs.
    Steady,
    /// None of them.
    None,
}

/// What all I/Os of a plain job have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub dir: Dir,
    /// Of each, or the most where sizes are drawn.
    pub len: u32,
}

/// The blocks that are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// Where the first lies.
    pub start: u64,
    /// Bytes from one to the next.
    pub unit: u64,
    /// How many: at most [`SCALE_MOST`].
    pub blocks: u64,
}

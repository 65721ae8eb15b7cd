//! Directions of data.

/// Which way data goes. The order is fio's (`ddir` 0, 1, 2 in its logs).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Dir {
    /// From storage to memory.
    #[default]
    Read = 0,
    /// From memory to storage.
    Write = 1,
    /// Discard: the range no longer holds data.
    Trim = 2,
}

/// The three directions, in fio's order.
pub const DIRS: [Dir; 3] = [Dir::Read, Dir::Write, Dir::Trim];

impl Dir {
    /// `read`, `write` or `trim`.
    pub const fn name(self) -> &'static str {
        match self {
            Dir::Read => "read",
            Dir::Write => "write",
            Dir::Trim => "trim",
        }
    }
}

/// One value for each direction of data: read, write, trim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PerDir<T>(pub [T; 3]);

impl<T> PerDir<T> {
    /// The same value for all directions.
    pub fn all(value: T) -> PerDir<T>
    where
        T: Clone,
    {
        PerDir([value.clone(), value.clone(), value])
    }

    /// Another `PerDir` with each value put through `f`.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> PerDir<U> {
        PerDir(self.0.map(f))
    }
}

impl<T> std::ops::Index<Dir> for PerDir<T> {
    type Output = T;
    fn index(&self, dir: Dir) -> &T {
        &self.0[dir as usize]
    }
}

impl<T> std::ops::IndexMut<Dir> for PerDir<T> {
    fn index_mut(&mut self, dir: Dir) -> &mut T {
        &mut self.0[dir as usize]
    }
}

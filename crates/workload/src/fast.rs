//! The plain shapes, planned without asking what kind of job it is.

use iosonde_base::Ring;

use crate::source::Source;

/// Which of the plain shapes a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// None of them.
    General,
}

impl Shape {
    /// The shape of a job.
    pub fn of(_source: &Source) -> Shape {
        Shape::General
    }
}

impl Source {
    pub(crate) fn fill_fast(&mut self, _ring: &mut Ring) {}
}

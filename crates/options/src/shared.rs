//! A value that many hold until one of them changes it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// One value behind many clones; the clone that is written to gets its own copy then. Thousands
/// of sections that leave a topic of options alone have one copy of it together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Whether two clones are one value still.
    pub fn is_one_with(&self, other: &Shared<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: PartialEq> Shared<T> {
    /// Become one value with `other` where both are equal.
    pub fn share_with(&mut self, other: &Shared<T>) {
        if !self.is_one_with(other) && self.0 == other.0 {
            self.0 = other.0.clone();
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_the_same_value_until_it_is_written_to() {
        let first = Shared(Arc::new(vec![1, 2]));
        let mut second = first.clone();
        assert_eq!(second.len(), 2);
        assert!(first.is_one_with(&second), "reading copies nothing");
        second.push(3);
        assert!(!first.is_one_with(&second));
        assert_eq!((first.len(), second.len()), (2, 3));
        second.pop();
        second.share_with(&first);
        assert!(first.is_one_with(&second));
    }
}

//! Why there is no result, for `promises.js`.

use std::io;

use crate::platform;
use crate::tree::Tree;

/// Why there is no result.
pub(crate) struct Failure {
    /// The error number, if the system gave one.
    pub(crate) errno: Option<i32>,
    /// What was being called.
    pub(crate) syscall: &'static str,
    /// What is wrong, where the number alone does not say it; may be empty.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn of(syscall: &'static str, error: &io::Error) -> Failure {
        let errno = platform::number(error);
        let message = errno.map_or_else(|| error.to_string(), |_| String::new());
        Failure { errno, syscall, message }
    }

    pub(crate) fn tree(&self) -> Tree {
        Tree::Object(vec![
            ("errno", self.errno.map(|errno| Tree::Number(errno.into())).unwrap_or(Tree::Null)),
            ("syscall", self.syscall.into()),
            ("message", self.message.as_str().into()),
        ])
    }
}

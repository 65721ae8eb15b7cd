//! `${NAME}`, `$ncpus`, `$pagesize` and `$mb_memory` in a job file's line.
//!
//! Job files only: on the command line the shell has done this already, and fio leaves it alone.

use crate::text::arithmetic::{self, ArithmeticError, Suffixes};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env::VarError;
use std::fmt;

/// What the words stand for. Handed in, so that parsing looks nothing up by itself.
pub trait Host {
    /// An environment variable, as `std::env::var` has it.
    ///
    /// # Errors
    /// It is not set, or it is not text.
    fn variable(&self, name: &str) -> Result<String, VarError>;
    /// `$ncpus`: processors online.
    fn processors(&self) -> u64;
    /// `$pagesize`, in bytes.
    fn page_bytes(&self) -> u64;
    /// `$mb_memory`: memory, in MiB.
    fn memory_mib(&self) -> u64;
}

/// Variables by name; `None` is one that is not set.
pub type Variables = BTreeMap<String, Option<String>>;

/// A host, with a note of each variable that was asked for.
pub(crate) struct NotingHost<'h> {
    host: &'h dyn Host,
    asked: RefCell<Variables>,
}

impl<'h> NotingHost<'h> {
    pub fn new(host: &'h dyn Host) -> NotingHost<'h> {
        NotingHost { host, asked: RefCell::default() }
    }

    /// What was asked for.
    pub fn into_asked(self) -> Variables {
        self.asked.into_inner()
    }
}

impl Host for NotingHost<'_> {
    fn variable(&self, name: &str) -> Result<String, VarError> {
        let found = self.host.variable(name);
        self.asked.borrow_mut().insert(name.to_owned(), found.clone().ok());
        found
    }
    fn processors(&self) -> u64 {
        self.host.processors()
    }
    fn page_bytes(&self) -> u64 {
        self.host.page_bytes()
    }
    fn memory_mib(&self) -> u64 {
        self.host.memory_mib()
    }
}

/// An environment variable that a line asks for is not UTF-8, and a job is text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotText {
    /// Its name.
    pub variable: String,
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the environment variable {} is not UTF-8", self.variable)
    }
}

/// `text` with every `${NAME}` replaced by the variable, or by nothing when it is not set.
///
/// `${` without a `}` stays as it is. What is put in is not looked at again.
///
/// # Errors
/// A variable that is not text: what is left of one would name another file.
pub fn variables(text: &str, host: &dyn Host) -> Result<String, NotText> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        match host.variable(name) {
            Ok(value) => out.push_str(&value),
            Err(VarError::NotPresent) => {}
            Err(VarError::NotUnicode(_)) => return Err(NotText { variable: name.to_owned() }),
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// `value` with `$ncpus`, `$pagesize` and `$mb_memory` replaced by their numbers, and worked out
/// when it is arithmetic then.
///
/// fio hands such a value to `bc` and refuses what `bc` cannot read, a file name with a `/` for
/// one. Here a value with letters in it is no arithmetic, and is kept as it reads.
///
/// # Errors
/// Arithmetic that has no result, such as `$ncpus*`.
pub fn keywords(value: &str, host: &dyn Host) -> Result<String, ArithmeticError> {
    let mut out = value.to_string();
    let words: [(&str, &dyn Fn() -> u64); 3] = [
        ("$pagesize", &|| host.page_bytes()),
        ("$mb_memory", &|| host.memory_mib()),
        ("$ncpus", &|| host.processors()),
    ];
    for (word, number) in words {
        if out.contains(word) {
            out = out.replace(word, &number().to_string());
        }
    }
    let replaced = out != value;
    let arithmetic = out.chars().all(|c| c.is_ascii_digit() || "+-*/%^(). \t".contains(c));
    if replaced && arithmetic && out.contains(['+', '-', '*', '/']) {
        return arithmetic::evaluate(&out, Suffixes::Plain).map(|number| number.to_string());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedHost;

    impl Host for FixedHost {
        fn variable(&self, name: &str) -> Result<String, VarError> {
            match name {
                "DEV" => Ok("/dev/sdb".into()),
                "LOOP" => Ok("${LOOP}".into()),
                "LATIN" => Err(VarError::NotUnicode("/mnt/b\u{fc}cher".into())),
                _ => Err(VarError::NotPresent),
            }
        }
        fn processors(&self) -> u64 {
            8
        }
        fn page_bytes(&self) -> u64 {
            4096
        }
        fn memory_mib(&self) -> u64 {
            1000
        }
    }

    #[test]
    fn a_variable_stands_for_its_value_and_a_missing_one_for_nothing() {
        assert_eq!(variables("${DEV}1:${DEV}2", &FixedHost).unwrap(), "/dev/sdb1:/dev/sdb2");
        assert_eq!(variables("x${NONE}y", &FixedHost).unwrap(), "xy");
        assert_eq!(variables("${}z", &FixedHost).unwrap(), "z");
    }

    #[test]
    fn what_is_not_a_variable_stays() {
        assert_eq!(variables("1m${", &FixedHost).unwrap(), "1m${");
        assert_eq!(variables("$DEV ${DEV}${", &FixedHost).unwrap(), "$DEV /dev/sdb${");
    }

    #[test]
    fn a_variable_that_names_itself_ends() {
        assert_eq!(variables("${LOOP}", &FixedHost).unwrap(), "${LOOP}");
    }

    #[test]
    fn a_variable_that_is_not_text_is_not_taken_for_one_that_is_not_set() {
        let refused = variables("${LATIN}/x", &FixedHost).unwrap_err();
        assert_eq!(refused.to_string(), "the environment variable LATIN is not UTF-8");
    }

    #[test]
    fn keywords_stand_for_the_machines_numbers() {
        assert_eq!(keywords("$ncpus", &FixedHost).unwrap(), "8");
        assert_eq!(keywords("$ncpusk", &FixedHost).unwrap(), "8k");
        assert_eq!(keywords("$pagesize:$ncpus", &FixedHost).unwrap(), "4096:8");
    }

    #[test]
    fn arithmetic_is_worked_out_only_beside_a_keyword() {
        assert_eq!(keywords("2*$mb_memory*1024", &FixedHost).unwrap(), "2048000");
        assert_eq!(keywords("$pagesize/3", &FixedHost).unwrap(), "1365");
        assert_eq!(keywords("4k*2", &FixedHost).unwrap(), "4k*2");
    }

    #[test]
    fn a_name_with_a_slash_is_not_arithmetic() {
        assert_eq!(keywords("/dev/x$ncpus", &FixedHost).unwrap(), "/dev/x8");
    }

    #[test]
    fn arithmetic_without_a_result_is_refused() {
        assert_eq!(keywords("$ncpus*", &FixedHost).unwrap_err().why, "expected a number");
        assert_eq!(keywords("$ncpus/0", &FixedHost).unwrap_err().why, "division by zero");
    }
}

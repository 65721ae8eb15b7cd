//! A job file as a command line, as `fio --showcmd` prints it.

use std::fmt::Write;

use crate::job::TypedOption;

/// The line for one job file while it grows.
#[derive(Clone, Debug, Default)]
pub struct CommandLine(String);

impl CommandLine {
    /// A `[global]` section: fio repeats everything global so far.
    pub fn globals(&mut self, globals: &[TypedOption]) {
        self.begin();
        self.options(globals);
    }

    /// A job with its own options.
    pub fn job(&mut self, name: &str, typed: &[TypedOption]) {
        self.begin();
        self.option("name", Some(name));
        self.options(typed);
    }

    /// The finished line, without its end; empty for a file without sections.
    pub fn finish(self) -> String {
        self.0
    }

    fn begin(&mut self) {
        if self.0.is_empty() {
            self.0.push_str("fio ");
        }
    }

    fn options(&mut self, typed: &[TypedOption]) {
        for typed in typed {
            self.option(typed.name, typed.value.as_deref());
        }
    }

    fn option(&mut self, name: &str, value: Option<&str>) {
        let out = &mut self.0;
        // Writing to a String cannot fail. Only a description is quoted, and what is within it
        // is not escaped: fio's way, kept so that the texts can be compared.
        let _ = match value {
            None => write!(out, "--{name} "),
            Some(value) if name == "description" => write!(out, "--{name}=\"{value}\" "),
            Some(value) => write!(out, "--{name}={value} "),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_options::Origin;

    fn typed(name: &'static str, value: Option<&str>) -> TypedOption {
        TypedOption { name, value: value.map(str::to_string), origin: Origin::Default }
    }

    #[test]
    fn options_stand_in_order_and_a_description_in_quotes() {
        let mut line = CommandLine::default();
        line.globals(&[typed("bs", Some("4k")), typed("time_based", None)]);
        line.job("a b", &[typed("description", Some("hi there")), typed("filename", Some("x y"))]);
        assert_eq!(
            line.finish(),
            "fio --bs=4k --time_based --name=a b --description=\"hi there\" --filename=x y "
        );
    }

    #[test]
    fn nothing_shows_as_nothing() {
        assert_eq!(CommandLine::default().finish(), "");
    }
}

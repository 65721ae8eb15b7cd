//! From arguments and YAML files to options and their values as text.

use crate::options::{self, OptionGroup, SbkOption, Takes};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use yaml_rust2::scanner::{Scanner, Token, TokenType};
use yaml_rust2::{Yaml, YamlLoader};

/// Why nothing runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    /// The exit code: 2 for an option that is not known, else 1, as SBK's.
    pub code: u8,
    /// The reason, and what to do.
    pub message: String,
}

impl UsageError {
    /// Something is wrong with what was requested.
    pub fn because(message: impl Into<String>) -> UsageError {
        UsageError { code: 1, message: message.into() }
    }
}

/// The last value of each option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionValues {
    values: BTreeMap<&'static str, String>,
    /// Options that do nothing here, as typed.
    pub without_effect: Vec<&'static str>,
}

impl OptionValues {
    /// Read arguments, and the YAML file that `-f` names.
    pub fn read(arguments: &[String]) -> Result<OptionValues, UsageError> {
        let mut words = OptionValues::default();
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let (option, value) = split(word)?;
            let value = match (option.takes, value) {
                (_, Some(value)) => value.to_owned(),
                (Takes::Flag, None) => "true".to_owned(),
                (Takes::Value(kind), None) => rest.next().cloned().ok_or_else(|| {
                    UsageError::because(format!(
                        "Missing argument for option: {} ({kind})",
                        option.name
                    ))
                })?,
            };
            words.put(option, value);
        }
        match words.get("f") {
            Some(file) => {
                let below = from_yaml(file)?;
                Ok(words.over(below))
            }
            None => Ok(words),
        }
    }

    fn put(&mut self, option: &'static SbkOption, value: String) {
        if option.group == OptionGroup::Java && !self.without_effect.contains(&option.name) {
            self.without_effect.push(option.name);
        }
        self.values.insert(option.name, value);
    }

    /// These values, and those of `below` where these say nothing.
    fn over(mut self, below: OptionValues) -> OptionValues {
        for (name, value) in below.values {
            self.values.entry(name).or_insert(value);
        }
        self.without_effect.extend(below.without_effect);
        self.without_effect.dedup();
        self
    }

    /// The value of an option, if it was given and is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(options::find(name).is_some(), "{name} is in the table");
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of an option, or its default as the table states it.
    pub fn text(&self, name: &str) -> &str {
        let default = options::find(name).map_or("", |option| option.default);
        self.get(name).unwrap_or(default)
    }

    /// A yes or no.
    pub fn yes(&self, name: &str) -> Result<bool, UsageError> {
        match self.text(name).to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Ok(true),
            "false" | "0" | "no" => Ok(false),
            other => Err(UsageError::because(format!(
                "Error: The option '-{name}' must be true or false, not {other:?}"
            ))),
        }
    }

    /// A whole number, possibly negative.
    pub fn whole(&self, name: &str) -> Result<i64, UsageError> {
        let text = self.text(name);
        text.parse().map_err(|_| not_a_number(name, text))
    }

    /// A whole number from 0 to `most`.
    pub fn count(&self, name: &str, most: u64) -> Result<u64, UsageError> {
        let n = self.whole(name)?;
        u64::try_from(n).ok().filter(|&n| n <= most).ok_or_else(|| {
            UsageError::because(format!("-{name} {n}: use a number from 0 to {most}"))
        })
    }

    /// A number, possibly with a fraction.
    pub fn number(&self, name: &str) -> Result<f64, UsageError> {
        let text = self.text(name);
        let number: f64 = text.parse().map_err(|_| not_a_number(name, text))?;
        if number.is_finite() { Ok(number) } else { Err(not_a_number(name, text)) }
    }
}

fn not_a_number(name: &str, text: &str) -> UsageError {
    UsageError::because(format!("-{name}: For input string: {text:?}: use a number"))
}

/// An argument's option, and its value where it follows a `=`.
fn split(word: &str) -> Result<(&'static SbkOption, Option<&str>), UsageError> {
    let unknown = |help: String| UsageError {
        code: 2,
        message: format!("Unrecognized option: {word}{help} (see -help)"),
    };
    let Some(bare) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
        return Err(unknown(": options begin with a dash".to_owned()));
    };
    let (name, value) = match bare.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (bare, None),
    };
    match options::find(name) {
        Some(option) => Ok((option, value)),
        None => Err(unknown(match options::nearest(name) {
            Some(near) => format!("; did you mean -{near}?"),
            None => String::new(),
        })),
    }
}

/// `sbkArgs:` of a file, a map of options and their values.
fn from_yaml(path: &str) -> Result<OptionValues, UsageError> {
    let because =
        |why: String| UsageError::because(format!("cannot read arguments from {path}: {why}"));
    /// A longer file holds something else, and /dev/zero never ends.
    const MOST: u64 = 1 << 20;
    let mut text = String::new();
    let file = File::open(path).map_err(|error| because(error.to_string()))?;
    file.take(MOST + 1).read_to_string(&mut text).map_err(|error| because(error.to_string()))?;
    if text.len() as u64 > MOST {
        return Err(because("it is longer than 1 MiB".to_owned()));
    }
    // Ten lines of aliases of aliases are a list of a thousand million words.
    let mut tokens = Scanner::new(text.chars());
    if tokens.any(|Token(_, kind)| matches!(kind, TokenType::Alias(_))) {
        return Err(because("it holds an alias (*NAME): write the value itself".to_owned()));
    }
    let documents = YamlLoader::load_from_str(&text).map_err(|error| because(error.to_string()))?;
    let wanted = "expected a map `sbkArgs:` of options and their values";
    let Some(Yaml::Hash(top)) = documents.first() else { return Err(because(wanted.to_owned())) };
    let mut words = OptionValues::default();
    for (key, arguments) in top {
        match (key, arguments) {
            (Yaml::String(name), Yaml::Hash(arguments)) if name == "sbkArgs" => {
                for (name, value) in arguments {
                    put_pair(&mut words, name, value).map_err(|refused| UsageError {
                        message: format!("{path}: {}", refused.message),
                        ..refused
                    })?;
                }
            }
            (Yaml::String(name), _) if name == "sbkArgs" => return Err(because(wanted.to_owned())),
            (other, _) => {
                return Err(because(format!(
                    "{} is not known; {wanted}",
                    scalar(other).unwrap_or_default()
                )));
            }
        }
    }
    if words.has("f") {
        return Err(because("a file of arguments cannot name another one".to_owned()));
    }
    Ok(words)
}

fn put_pair(words: &mut OptionValues, name: &Yaml, value: &Yaml) -> Result<(), UsageError> {
    let name = scalar(name).ok_or_else(|| UsageError::because("an option's name is not a word"))?;
    let (option, _) = split(&format!("-{name}"))?;
    let value = scalar(value).ok_or_else(|| {
        UsageError::because(format!("the value of {name} is not a word or a number"))
    })?;
    words.put(option, value);
    Ok(())
}

fn scalar(yaml: &Yaml) -> Option<String> {
    match yaml {
        Yaml::String(text) | Yaml::Real(text) => Some(text.clone()),
        Yaml::Integer(number) => Some(number.to_string()),
        Yaml::Boolean(yes) => Some(yes.to_string()),
        Yaml::Null => Some(String::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OPTIONS;

    fn words(line: &str) -> Result<OptionValues, UsageError> {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        OptionValues::read(&arguments)
    }

    #[test]
    fn every_option_of_the_table_is_read_in_all_its_forms_and_told_by_help() {
        let help = options::help();
        for option in OPTIONS.iter().filter(|option| option.name != "f") {
            let name = option.name;
            let forms = match option.takes {
                Takes::Value(_) => {
                    vec![format!("-{name} 7"), format!("--{name}=7"), format!("--{name} 7")]
                }
                Takes::Flag => vec![format!("-{name}=7"), format!("--{name}=7")],
            };
            for form in forms {
                assert_eq!(words(&form).unwrap().get(name), Some("7"), "{form}");
            }
            assert!(help.contains(&format!("--{name}")), "help lacks -{name}");
            let is_last = |at: usize| !OPTIONS[at + 1..].iter().any(|other| other.name == name);
            let at = OPTIONS.iter().position(|other| other.name == name).unwrap();
            assert!(is_last(at), "-{name} is there twice");
        }
    }

    #[test]
    fn an_unknown_option_is_refused_with_sbks_words_and_code() {
        let refused = words("-class file -writer 1").unwrap_err();
        assert_eq!(refused.code, 2);
        assert!(
            refused.message.starts_with("Unrecognized option: -writer; did you mean -writers?")
        );
        assert_eq!(words("file").unwrap_err().code, 2);
        assert_eq!(words("-size").unwrap_err().code, 1);
    }

    #[test]
    fn arguments_go_before_the_yaml_file() {
        let path = std::env::temp_dir().join(format!("iosonde-records-{}.yml", std::process::id()));
        let yaml = "sbkArgs:\n  class: file\n  writers: 1\n  size: \"100\"\n  throughput: 0.5\n";
        std::fs::write(&path, yaml).unwrap();
        let read = words(&format!("-f {} -size 200", path.display()));
        std::fs::write(&path, "sbkArgs:\n  classs: file\n").unwrap();
        let unknown = words(&format!("-f {}", path.display())).unwrap_err();
        std::fs::write(&path, "sbkArgs: [1, 2]\n").unwrap();
        let list = words(&format!("-f {}", path.display())).unwrap_err();
        std::fs::write(&path, "sbkArgs: {size: [1]}\n").unwrap();
        let nested = words(&format!("-f {}", path.display())).unwrap_err();
        std::fs::write(&path, "sbkArgs: {\n").unwrap();
        let broken = words(&format!("-f {}", path.display())).unwrap_err();
        std::fs::write(&path, "a: &a [x, x]\nsbkArgs: {class: *a}\n").unwrap();
        let alias = words(&format!("-f {}", path.display())).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        let endless = words("-f /dev/zero").unwrap_err();
        assert!(endless.message.contains("longer than 1 MiB"), "{}", endless.message);
        assert!(alias.message.contains("alias"), "{}", alias.message);
        let read = read.unwrap();
        assert_eq!((read.text("class"), read.text("writers")), ("file", "1"));
        assert_eq!((read.text("size"), read.text("throughput")), ("200", "0.5"));
        assert!(unknown.message.contains("did you mean -class"), "{}", unknown.message);
        for refused in [list, nested, broken] {
            assert!(refused.message.contains(".yml"), "{}", refused.message);
        }
    }
}

//! The settings of a run: what was asked for, and where.

use iosonde_base::text::shell_command;
use serde::{Deserialize, Serialize};

/// The settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSettings {
    /// The command line, the program's name first.
    pub argv: Vec<String>,
    /// The environment variables that its job files refer to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<UsedVariable>,
    /// Each section that ran.
    pub jobs: Vec<JobSettings>,
}

/// An environment variable that a job file refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsedVariable {
    /// Its name.
    pub name: String,
    /// Its value; missing where it was not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The settings of a section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobSettings {
    /// The job's name.
    #[serde(rename = "jobname")]
    pub name: String,
    /// The seed of its random numbers: with it the same I/Os are done again.
    pub seed: u64,
    /// The options that are set, in the order of the tables.
    pub options: Vec<SetOption>,
}

/// An option that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetOption {
    /// Its name.
    pub name: String,
    /// Its value, as it is meant.
    pub value: String,
    /// Where it was set: `job.fio:3`, `command line`, a rule.
    pub origin: String,
}

impl SetOption {
    /// Whether it follows from another one, and nobody set it.
    pub fn is_implied(&self) -> bool {
        self.origin.starts_with("implied by ")
    }
}

impl RunSettings {
    /// The command line for a shell.
    pub fn command(&self) -> String {
        shell_command(&self.argv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_given_to_a_shell() {
        let argv = ["iosonde", "--name=a b", "--description=it's", "--bs=4k"].map(String::from);
        let settings = RunSettings { argv: argv.into(), ..RunSettings::default() };
        assert_eq!(settings.command(), "iosonde '--name=a b' '--description=it'\\''s' --bs=4k");
    }
}

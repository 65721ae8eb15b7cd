//! Asking a command with paths in a test's own folder.

use iosonde_base::bare;
use iosonde_command::CommandAnswer;
use iosonde_testing::Folder;
use serde_json::Value;

/// What a command answered, as it is printed.
#[derive(Debug)]
pub struct Asked {
    /// The exit code.
    pub code: u8,
    /// On standard output.
    pub stdout: String,
    /// On standard error.
    pub stderr: String,
}

/// Ask a command with a line of words. What is no option is a path: those that do not
/// begin at the root are in the folder.
pub fn ask(folder: &Folder, command: fn(&[String]) -> CommandAnswer, line: &str) -> Asked {
    let here = |word: &str| match word {
        _ if word.starts_with(['-', '/']) => word.to_owned(),
        _ => folder.join(word).to_str().unwrap().to_owned(),
    };
    let words: Vec<String> = line.split_whitespace().map(here).collect();
    let CommandAnswer { text, errors, code } = command(&words);
    let stderr = errors.iter().map(|line| bare(line) + "\n").collect();
    Asked { code, stdout: text, stderr }
}

impl Asked {
    /// Panic unless all is well.
    #[track_caller]
    pub fn well(self) -> Asked {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// The words on standard output, however its lines are parted.
    pub fn words(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The JSON document on standard output, which is nothing else.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self:?}"))
    }
}

//! What a command has to say, before any of it is printed: tests read it as it is.

use iosonde_base::exit;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;

/// What a command prints, and how it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandAnswer {
    /// For standard output.
    pub text: String,
    /// For standard error, a line each.
    pub errors: Vec<String>,
    /// The exit code.
    pub code: u8,
}

impl CommandAnswer {
    /// This text, and all is well.
    pub fn of(text: String) -> CommandAnswer {
        CommandAnswer { text, errors: Vec::new(), code: exit::OK }
    }

    /// Why `command` does not do what it was asked to.
    pub fn refused(command: &str, why: &str) -> CommandAnswer {
        let errors = vec![format!("iosonde: {command}: {why}")];
        CommandAnswer { text: String::new(), errors, code: exit::REFUSED }
    }

    /// Print it; the exit code.
    pub fn print(&self) -> u8 {
        self.errors.iter().for_each(|line| print_error(line));
        if !self.text.is_empty() {
            print(&self.text);
        }
        self.code
    }
}

//! Running the program, under either of its names, and the installed fio
//! beside it, in directories of their own.
#![allow(dead_code)] // Each test program uses its part.

pub mod course;
pub mod groups;
pub mod launchers;
pub mod ledgers;
pub mod running;
pub mod sbk;
pub mod servers;
pub mod slurm;
pub mod trace;

use iosonde_testing::Folder;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Whom to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The program under its own name.
    Native,
    /// The program, called as fio.
    AsFio,
    /// The fio that is installed.
    Fio,
}

/// In place of the program of this build: a script that runs iosonde.exe under Wine, for one.
fn chosen_program() -> Option<PathBuf> {
    std::env::var_os("IOSONDE_PROGRAM").map(PathBuf::from)
}

/// Our program through a link named fio.
pub fn link_named_fio() -> PathBuf {
    static LINK: LazyLock<PathBuf> = LazyLock::new(|| link_named("fio"));
    LINK.clone()
}

/// Our program through a link of that name.
pub fn link_named(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("as-fio");
    std::fs::create_dir_all(&folder).unwrap();
    let link = folder.join(name);
    let target = env!("CARGO_BIN_EXE_iosonde");
    if std::fs::read_link(&link).ok().as_deref() != Some(Path::new(target)) {
        // Test programs run one beside the other: whoever is first makes
        // it, and a rename replaces one that points elsewhere.
        let ours = folder.join(format!("{name}-{}", std::process::id()));
        std::os::unix::fs::symlink(target, &ours).unwrap();
        std::fs::rename(&ours, &link).unwrap();
    }
    link
}

/// Our program under its own name in this folder, for users to whom the way to
/// the original is closed. Another process copies it: what this one has open for
/// writing, programs that another test starts at the moment have open too, and
/// the kernel runs no such file.
pub fn copy_of_program(folder: &Folder) -> PathBuf {
    let copy = folder.join("iosonde");
    let text = copy.to_str().unwrap();
    iosonde_testing::run("cp", &[env!("CARGO_BIN_EXE_iosonde"), text]).unwrap();
    copy
}

impl Who {
    /// A command in `folder`, without arguments or input.
    pub fn command(self, folder: &Folder) -> Command {
        let mut command = match self {
            Who::Native => match chosen_program() {
                Some(program) => Command::new(program),
                None => Command::new(env!("CARGO_BIN_EXE_iosonde")),
            },
            Who::AsFio => match chosen_program() {
                Some(program) => {
                    let mut command = Command::new(program);
                    command.arg("fio");
                    command
                }
                None => Command::new(link_named_fio()),
            },
            Who::Fio => Command::new("fio"),
        };
        command.current_dir(folder.path()).stdin(Stdio::null());
        command
    }

    /// Run it to its end.
    pub fn run(self, folder: &Folder, arguments: &[impl AsRef<str>]) -> Ran {
        let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
        let output = self.command(folder).args(&arguments).output().unwrap();
        Ran {
            who: self,
            arguments: arguments.join(" "),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The results of a run.
pub struct Ran {
    pub who: Who,
    pub arguments: String,
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl fmt::Debug for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} {}\nexit {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.who, self.arguments, self.code, self.stdout, self.stderr
        )
    }
}

impl Ran {
    /// Panic unless it ended well.
    #[track_caller]
    pub fn well(self) -> Ran {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// The JSON document on standard output. Ours must be nothing else; fio
    /// may have notes before it.
    #[track_caller]
    pub fn json(&self) -> Value {
        let text = match self.who {
            Who::Fio => &self.stdout[self.stdout.find('{').unwrap_or(0)..],
            _ => &self.stdout,
        };
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{self:?}"))
    }
}

/// Do something with each of `items`, four at a time: fio sleeps for most of
/// its time, and need not sleep alone. The results are in the order of the items.
pub fn at_once<T: Sync, R: Send>(items: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let share = items.len().div_ceil(4).max(1);
    std::thread::scope(|scope| {
        let act = &act;
        let threads: Vec<_> = items
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(act).collect::<Vec<R>>()))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// A line of options as a shell would part it; no quotes.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// `line` and more, as arguments.
pub fn with(line: &str, more: &str) -> Vec<String> {
    [words(line), words(more)].concat()
}

/// The entries of an iolog without their times: `file action [offset length]`.
pub fn iolog(folder: &Folder, name: &str) -> Vec<String> {
    let text = folder.read(name);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("fio version 3 iolog"));
    lines.map(|line| line.split_once(' ').expect("a time comes first").1.to_owned()).collect()
}

/// The entries of an iolog that are I/O: no `add`, `open`, `close`.
pub fn iolog_ios(folder: &Folder, name: &str) -> Vec<String> {
    let mut entries = iolog(folder, name);
    entries.retain(|entry| entry.split(' ').count() > 2);
    entries
}

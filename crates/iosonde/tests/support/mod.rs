//! Running the program, under either of its names, and the installed fio
//! beside it, in directories of their own.
#![allow(dead_code)] // Each test file uses its part.

#[path = "../../../direct/tests/support/mod.rs"]
pub mod devices;
pub mod groups;
pub mod ledgers;
pub mod running;
pub mod sbk;
pub mod trace;

use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory on a real file system, removed with all that is in it.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A new and empty one. The name only helps people who look.
    pub fn new(name: &str) -> Folder {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{name}-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path within.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Write a file within; its path as text.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.join(name);
        std::fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    /// Names of what is within, in order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Names and sizes of the files within, in order.
    pub fn sizes(&self) -> Vec<(String, u64)> {
        let size = |name: String| {
            let size = std::fs::metadata(self.join(&name)).unwrap().len();
            (name, size)
        };
        self.names().into_iter().map(size).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on it being gone.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

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

/// Our program through a link named fio.
pub fn link_named_fio() -> PathBuf {
    static LINK: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("as-fio");
        std::fs::create_dir_all(&folder).unwrap();
        let link = folder.join("fio");
        let target = env!("CARGO_BIN_EXE_iosonde");
        if std::fs::read_link(&link).ok().as_deref() != Some(Path::new(target)) {
            // Test programs run one beside the other: whoever is first makes
            // it, and a rename replaces one that points elsewhere.
            let ours = folder.join(format!("fio-{}", std::process::id()));
            std::os::unix::fs::symlink(target, &ours).unwrap();
            std::fs::rename(&ours, &link).unwrap();
        }
        link
    });
    LINK.clone()
}

impl Who {
    /// A command in `folder`, without arguments or input.
    pub fn command(self, folder: &Folder) -> Command {
        let mut command = match self {
            Who::Native => Command::new(env!("CARGO_BIN_EXE_iosonde")),
            Who::AsFio => Command::new(link_named_fio()),
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

/// Whether fio is installed; says so if not.
pub fn fio_is_installed() -> bool {
    static INSTALLED: LazyLock<bool> =
        LazyLock::new(|| Command::new("fio").arg("--version").output().is_ok());
    if !*INSTALLED {
        eprintln!("skipped: fio is not installed (apt-get install fio)");
    }
    *INSTALLED
}

/// Whether we may mount and attach devices; says so if not.
pub fn is_root(for_what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: only root can {for_what}");
    }
    root
}

/// What a run left behind.
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

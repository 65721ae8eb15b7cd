//! Every engine, in one list: those of this system, and the names of those that others have.

use crate::engines::Tables;
use crate::{EngineDef, EngineError, platform};

/// All engines of this system. Adding one is adding its file and its line in the table of its platform.
pub const CATALOGUE: &[&EngineDef] = &joined::<{ rows(platform::ENGINES) }>(platform::ENGINES);

const fn rows(tables: Tables) -> usize {
    let (mut rows, mut at) = (0, 0);
    while at < tables.len() {
        rows += tables[at].len();
        at += 1;
    }
    rows
}

const fn joined<const ROWS: usize>(tables: Tables) -> [&'static EngineDef; ROWS] {
    let mut all = [tables[0][0]; ROWS];
    let (mut table, mut row, mut at) = (0, 0, 0);
    while at < ROWS {
        if row < tables[table].len() {
            all[at] = tables[table][row];
            (row, at) = (row + 1, at + 1);
        } else {
            (table, row) = (table + 1, 0);
        }
    }
    all
}

/// Engines that this system does not have, by the systems that do.
pub const ELSEWHERE: &[&ElsewhereEngines] = platform::ELSEWHERE;

/// Engines that only some systems have.
#[derive(Debug)]
pub struct ElsewhereEngines {
    /// The systems that have them.
    pub systems: &'static str,
    /// Each, and what it is in a few words.
    pub engines: &'static [(&'static str, &'static str)],
    /// The options that only they take, and what each is for where that is not said elsewhere.
    pub options: &'static [(&'static str, &'static str)],
}

/// What only Linux has.
#[allow(dead_code, reason = "Linux has them all")]
pub(crate) const LINUX_ENGINES: ElsewhereEngines = ElsewhereEngines {
    systems: "Linux",
    engines: &[
        ("libaio", "io_submit(2), Linux's asynchronous I/O"),
        ("io_uring", "io_uring(7), Linux's queues in shared memory"),
        ("pvsync2", "preadv2(2), pwritev2(2)"),
        ("splice", "splice(2), vmsplice(2)"),
        ("falloc", "fallocate(2) in place of I/O"),
        ("e4defrag", "exchanges blocks of a file with those of a donor, on ext4"),
        ("page_fault", "touches pages of anonymous memory"),
        ("net", "sends and receives by sockets"),
        ("netsplice", "as net, by splice(2)"),
        ("tree", "iosonde's own: operations on the names of a tree of files"),
    ],
    options: &[
        ("apptag", ""),
        ("apptag_mask", ""),
        ("cdb_len", ""),
        ("cmd_type", ""),
        ("cmdprio", ""),
        ("cmdprio_bssplit", ""),
        ("cmdprio_class", ""),
        ("cmdprio_hint", ""),
        ("cmdprio_percentage", ""),
        ("deac", ""),
        ("donorname", ""),
        ("fixedbufs", ""),
        ("force_async", ""),
        ("hipri", ""),
        ("hipri_percentage", ""),
        ("hostname", ""),
        ("inplace", ""),
        ("interface", ""),
        ("libaio_vectored", ""),
        ("listen", ""),
        ("md_per_io_size", ""),
        ("mss", ""),
        ("nodelay", ""),
        ("nonvectored", ""),
        ("nowait", ""),
        ("pi_act", ""),
        ("pi_chk", ""),
        ("pingpong", ""),
        ("port", ""),
        ("protocol", ""),
        ("read_mode", ""),
        ("readfua", ""),
        ("registerfiles", ""),
        ("sqthread_poll", ""),
        ("sqthread_poll_cpu", ""),
        ("tree_depth", ""),
        ("tree_dirs", ""),
        ("tree_files", ""),
        ("tree_fsync", ""),
        ("tree_op", ""),
        ("tree_renamed", ""),
        ("tree_root", ""),
        ("tree_sharing", ""),
        ("tree_size", ""),
        ("tree_thread", ""),
        ("ttl", ""),
        ("uncached", ""),
        ("userspace_reap", ""),
        ("verify_bytchk", ""),
        ("verify_mode", ""),
        ("window_size", ""),
        ("write_mode", ""),
        ("writefua", ""),
    ],
};

/// What Unix systems have.
#[allow(dead_code, reason = "Unix systems have them")]
pub(crate) const UNIX_ENGINES: ElsewhereEngines = ElsewhereEngines {
    systems: "Linux, macOS and FreeBSD",
    engines: &[
        ("pvsync", "preadv(2), pwritev(2)"),
        ("vsync", "readv(2), writev(2), neighbours joined"),
        ("posixaio", "aio_read(3), aio_write(3)"),
    ],
    options: &[],
};

/// What only Windows has.
#[allow(dead_code, reason = "Windows has it")]
pub(crate) const WINDOWS_ENGINES: ElsewhereEngines = ElsewhereEngines {
    systems: "Windows",
    engines: &[("windowsaio", "overlapped I/O and a completion port")],
    options: &[("no_completion_thread", "Reap without a separate thread.")],
};

/// The engine in the shared object at `path`, loaded once and for good.
///
/// # Errors
/// Where it cannot be loaded, or is not an engine for us.
pub fn external(path: &str) -> Result<&'static EngineDef, EngineError> {
    platform::external(path)
}

/// The engine of a job that names none, as fio has it.
pub const DEFAULT_ENGINE: &str = platform::DEFAULT_ENGINE;

/// The systems that have the engine of this name, if this one does not.
pub fn elsewhere(name: &str) -> Option<&'static str> {
    let has = |engines: &&&ElsewhereEngines| engines.engines.iter().any(|engine| engine.0 == name);
    ELSEWHERE.iter().find(has).map(|engines| engines.systems)
}

/// The engine of this name or alias.
pub fn find(name: &str) -> Option<&'static EngineDef> {
    let known = |def: &&&EngineDef| def.name == name || def.aliases.contains(&name);
    CATALOGUE.iter().find(known).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_stands_twice_and_each_engine_says_what_it_is() {
        let mut names = BTreeSet::new();
        for def in CATALOGUE {
            assert!(!def.doc.is_empty(), "{} has no words", def.name);
            for name in def.aliases.iter().chain([&def.name]) {
                assert!(names.insert(*name), "{name} is there twice");
                assert!(std::ptr::eq(find(name).unwrap(), *def));
            }
        }
        assert!(find("warp").is_none());
    }

    #[test]
    fn options_left_at_their_defaults_give_settings_and_no_name_is_there_twice() {
        for def in CATALOGUE {
            let Some(options) = def.options else { continue };
            let settings = (options.settings)(&|_| Ok(()), &crate::JobContext::default());
            settings.unwrap_or_else(|error| panic!("{}: {}", def.name, error.message));
            let names: BTreeSet<&str> = options.rows.iter().map(|row| row.name).collect();
            assert_eq!(names.len(), options.rows.len(), "{}", def.name);
        }
    }
}

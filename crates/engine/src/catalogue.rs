//! Every engine, in one list. Adding one is adding its file and its line.

use crate::EngineDef;
use crate::engines::*;

/// All engines.
pub static CATALOGUE: &[&EngineDef] = &[
    &null::NULL,
    &sim::SIM,
    &psync::PSYNC,
    &sync::SYNC,
    &vsync::VSYNC,
    &psync::PVSYNC,
    &pvsync2::PVSYNC2,
    &mmap::MMAP,
    &libaio::LIBAIO,
    &io_uring::IO_URING,
    &posixaio::POSIXAIO,
    &splice::SPLICE,
    &falloc::FALLOC,
    &ftruncate::FTRUNCATE,
    &e4defrag::E4DEFRAG,
    &file_ops::FILECREATE,
    &file_ops::FILESTAT,
    &file_ops::FILEDELETE,
    &file_ops::DIRCREATE,
    &file_ops::DIRSTAT,
    &file_ops::DIRDELETE,
    &tree::TREE,
    &page_fault::PAGE_FAULT,
    &cpuio::CPUIO,
    &exec::EXEC,
    &net::NET,
    &net::NETSPLICE,
];

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

//! The files of a mount: what should lie in each block, what does, and what a
//! power cut leaves; and the counts of what was injected.

mod damage;
mod names;
mod requests;

use crate::script::{Fault, Script, Target};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

/// Sectors are stored whole or not at all.
const SECTOR: usize = 512;

/// Whether the kernel may keep pages of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// Each read and write is one request, also without O_DIRECT.
    None,
    /// Through the page cache; needed for mmap.
    Pages,
}

/// One file.
#[derive(Debug, Default)]
pub struct FileContent {
    pub(crate) name: String,
    /// Without a fault this would lie there.
    intended: Vec<u8>,
    /// This does.
    actual: Vec<u8>,
    /// This a power cut leaves, apart from what is pending.
    stable: Vec<u8>,
    /// Writes since the last sync that was honoured, as stored.
    pending: Vec<(usize, Vec<u8>)>,
    /// What lay there by intent when the last sync was acknowledged.
    promised: Vec<u8>,
    /// Where something was written.
    written: Vec<Range<usize>>,
    /// What had been written when the last sync was acknowledged.
    written_when_promised: usize,
}

/// All files and their faults.
#[derive(Debug)]
pub struct Store {
    script: Script,
    /// How much may be stored, over all files.
    pub(crate) capacity: u64,
    /// Only this file has faults; none if empty, all if [`EVERY_FILE`].
    faulty: String,
    files: BTreeMap<u64, FileContent>,
    /// Directories within, by their paths.
    directories: BTreeMap<u64, String>,
    next_id: u64,
    injected: BTreeMap<(Target, Fault), u64>,
    requests: BTreeMap<Target, u64>,
    /// When each came.
    arrivals: Vec<(Target, Instant)>,
    /// How long replies were held back, all together.
    held_ms: u64,
    /// How often there was no space.
    refused: u64,
    /// Where reads returned a bit that does not lie there.
    flipped_reads: Vec<usize>,
    /// After so many writes to the faulty file the power is cut.
    cut_after: Option<u64>,
    is_cut: bool,
}

/// In place of the name of the file that has faults: all have.
pub const EVERY_FILE: &str = "*";

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    /// Done; later, if that is not zero milliseconds.
    Done(T, u64),
    /// An error.
    Errno(i32),
}

pub(crate) const EIO: i32 = 5;
const EINTR: i32 = 4;
pub(crate) const ENOSPC: i32 = 28;
pub(crate) const ENOENT: i32 = 2;

impl Store {
    /// Files none, faults by the script in files of that name, in any directory.
    pub fn new(script: Script, faulty: &str) -> Store {
        Store {
            script,
            capacity: 1 << 30,
            faulty: faulty.to_owned(),
            files: BTreeMap::new(),
            directories: BTreeMap::new(),
            // 1 is the directory.
            next_id: 2,
            injected: BTreeMap::new(),
            requests: BTreeMap::new(),
            arrivals: Vec::new(),
            held_ms: 0,
            refused: 0,
            flipped_reads: Vec::new(),
            cut_after: None,
            is_cut: false,
        }
    }

    /// Store at most this many bytes.
    pub fn with_capacity(mut self, bytes: u64) -> Store {
        self.capacity = bytes;
        self
    }

    /// Cut the power after so many writes to the faulty file.
    pub fn with_power_cut_after(mut self, writes: u64) -> Store {
        self.cut_after = Some(writes);
        self
    }

    /// A file with this content, durable.
    pub fn with_file(mut self, name: &str, content: Vec<u8>) -> Store {
        let id = self.create(name);
        let file = self.files.get_mut(&id).expect("it was created");
        (file.intended, file.actual) = (content.clone(), content.clone());
        (file.promised, file.stable) = (content.clone(), content);
        self
    }

    /// How often each fault was injected.
    pub fn injected(&self) -> &BTreeMap<(Target, Fault), u64> {
        &self.injected
    }

    /// How often this fault was injected, in whatever request.
    pub fn count(&self, fault: Fault) -> u64 {
        self.injected.iter().filter(|((_, one), _)| *one == fault).map(|(_, count)| count).sum()
    }

    /// How many faults were injected in requests of this kind.
    pub fn injected_as(&self, target: Target) -> u64 {
        self.injected.iter().filter(|((one, _), _)| *one == target).map(|(_, count)| count).sum()
    }

    /// How many requests of this kind came to the faulty file.
    pub fn requests(&self, target: Target) -> u64 {
        self.requests.get(&target).copied().unwrap_or(0)
    }

    /// When the requests of this kind came to the faulty file, in order.
    pub fn arrivals(&self, target: Target) -> Vec<Instant> {
        self.arrivals.iter().filter(|(one, _)| *one == target).map(|(_, at)| *at).collect()
    }

    /// How long replies of reads and writes were held back, all together.
    pub fn held_ms(&self) -> u64 {
        self.held_ms
    }

    /// How often something was refused because it did not fit.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Names of all files.
    pub fn names(&self) -> Vec<String> {
        self.files.values().map(|file| file.name.clone()).collect()
    }

    /// What lies in a file.
    pub fn content(&self, name: &str) -> Option<&[u8]> {
        self.file(name).map(|file| file.actual.as_slice())
    }

    /// Whether the power was cut.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

fn put(content: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(data);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dice, Rule};

    const NAME: &str = "data";

    fn store(target: Target, fault: Fault) -> Store {
        let script = Script::new(5, vec![Rule { target, fault, per_mille: 1000 }]);
        Store::new(script, NAME).with_file(NAME, vec![0; 16 << 10])
    }

    fn write_all(store: &mut Store) {
        let id = store.find(NAME).unwrap();
        for block in 0..4u64 {
            let data = vec![block as u8 + 1; 4096];
            assert!(matches!(store.write(id, block * 4096, &data), Answer::Done(4096, _)));
        }
    }

    #[test]
    fn blocks_that_a_fault_has_changed_are_known() {
        for (fault, least) in
            [(Fault::LostWrite, 4), (Fault::TornWrite, 4), (Fault::BitFlip, 4), (Fault::Delay, 0)]
        {
            let mut store = store(Target::Write, fault);
            write_all(&mut store);
            assert_eq!(store.wrong_blocks(NAME, 4096).len(), least, "{fault:?}");
            assert_eq!(store.count(fault), 4);
        }
        let mut store = store(Target::Write, Fault::MisdirectedWrite);
        write_all(&mut store);
        assert!(!store.wrong_blocks(NAME, 4096).is_empty());
    }

    #[test]
    fn after_a_power_cut_what_an_honoured_sync_covered_is_there() {
        for seed in 0..20 {
            let mut store = store(Target::Read, Fault::Delay);
            write_all(&mut store);
            let id = store.find(NAME).unwrap();
            assert!(matches!(store.sync(id), Answer::Done((), 0)));
            assert!(matches!(store.write(id, 0, &[9; 4096]), Answer::Done(4096, 0)));
            store.restart(&mut Dice::new(seed));
            let kept = store.content(NAME).unwrap();
            assert!(kept[4096..].chunks(4096).zip(2..).all(|(block, n)| block == [n; 4096]));
        }
    }

    #[test]
    fn a_sync_that_lies_breaks_its_promise() {
        let mut store = store(Target::Sync, Fault::LyingSync);
        write_all(&mut store);
        let id = store.find(NAME).unwrap();
        assert!(matches!(store.sync(id), Answer::Done((), 0)));
        assert!(store.broken_promises(NAME, 4096).is_empty());
        // Whatever the dice keep, some seed loses something.
        store.restart(&mut Dice::new(1));
        assert!(!store.broken_promises(NAME, 4096).is_empty());
    }

    #[test]
    fn nothing_works_after_the_cut_until_the_restart() {
        let mut store = store(Target::Read, Fault::Delay).with_power_cut_after(2);
        let id = store.find(NAME).unwrap();
        assert!(matches!(store.write(id, 0, &[1; 512]), Answer::Done(512, _)));
        assert!(matches!(store.write(id, 512, &[1; 512]), Answer::Done(512, _)));
        assert!(matches!(store.write(id, 1024, &[1; 512]), Answer::Errno(EIO)));
        assert!(matches!(store.read(id, 0, 512), Answer::Errno(EIO)));
        store.restart(&mut Dice::new(1));
        assert!(matches!(store.read(id, 0, 512), Answer::Done(_, _)));
    }

    #[test]
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        let mut store = store(Target::Read, Fault::Delay).with_capacity(20 << 10);
        let id = store.find(NAME).unwrap();
        assert!(matches!(store.write(id, 16 << 10, &[1; 8192]), Answer::Errno(ENOSPC)));
        assert_eq!(store.bytes(id), Some(16 << 10));
    }
}

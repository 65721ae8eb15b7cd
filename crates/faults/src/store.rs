//! The files of a mount: what should lie in each block, what does, and what a
//! power cut leaves; and the counts of what was injected.

use crate::Dice;
use crate::forge::forge;
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

    /// Exchange `size` bytes of two files, or of two places of one, behind the back of
    /// whoever wrote them.
    pub fn exchange(&mut self, one: (&str, usize), other: (&str, usize), size: usize) {
        let ids = [one.0, other.0].map(|name| self.find(name));
        let [Some(first), Some(second)] = ids else { return };
        let take =
            |store: &Store, id: u64, at: usize| store.files[&id].actual[at..at + size].to_vec();
        let (here, there) = (take(self, first, one.1), take(self, second, other.1));
        for (id, at, data) in [(first, one.1, there), (second, other.1, here)] {
            if let Some(file) = self.files.get_mut(&id) {
                put(&mut file.actual, at, &data);
            }
        }
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

    /// Blocks of `size` bytes that were written and hold something else than
    /// what was written last; and those of which a read returned something else.
    pub fn wrong_blocks(&self, name: &str, size: usize) -> Vec<u64> {
        let Some(file) = self.file(name) else { return Vec::new() };
        let mut wrong = differing(&file.intended, &file.actual, &file.written, size);
        let is_written = |at: &usize| file.written.iter().any(|range| range.contains(at));
        let flipped = self.flipped_reads.iter().filter(|at| is_written(at));
        wrong.extend(flipped.map(|at| (at / size * size) as u64));
        wrong.sort_unstable();
        wrong.dedup();
        wrong
    }

    /// How many bytes of a block are not as intended, and the first and last of them.
    pub fn difference(&self, name: &str, block: u64, size: usize) -> String {
        let Some(file) = self.file(name) else { return String::new() };
        let at = usize::try_from(block).unwrap_or(usize::MAX).min(file.actual.len());
        let pairs = file.intended[at..].iter().zip(&file.actual[at..]).take(size);
        let bytes: Vec<usize> =
            pairs.enumerate().filter(|(_, (one, other))| one != other).map(|(at, _)| at).collect();
        let (first, last) = (bytes.first().unwrap_or(&0), bytes.last().unwrap_or(&0));
        format!("{block}: {} bytes differ, from {first} to {last}", bytes.len())
    }

    /// Blocks of `size` bytes that a sync covered which was acknowledged, and
    /// that hold something else.
    pub fn broken_promises(&self, name: &str, size: usize) -> Vec<u64> {
        let Some(file) = self.file(name) else { return Vec::new() };
        let covered = &file.written[..file.written_when_promised];
        differing(&file.promised, &file.actual, covered, size)
    }

    /// How many blocks of `size` bytes a sync covered that was acknowledged.
    pub fn promised_blocks(&self, name: &str, size: usize) -> u64 {
        let Some(file) = self.file(name) else { return 0 };
        let covered = &file.written[..file.written_when_promised];
        let blocks = covered.iter().map(|range| range.start / size);
        blocks.collect::<std::collections::BTreeSet<_>>().len() as u64
    }

    /// The power comes back: of what is pending each write is there, in part, or not.
    pub fn restart(&mut self, dice: &mut Dice) {
        self.is_cut = false;
        self.cut_after = None;
        self.script = Script::new(0, Vec::new());
        for file in self.files.values_mut() {
            for (offset, data) in std::mem::take(&mut file.pending) {
                let sectors = data.len().div_ceil(SECTOR) as u64;
                let kept = match dice.below(3) {
                    0 => continue,
                    1 => data.len(),
                    _ => (dice.below(sectors + 1) as usize * SECTOR).min(data.len()),
                };
                put(&mut file.stable, offset, &data[..kept]);
            }
            file.actual = file.stable.clone();
        }
    }

    /// The entries of a directory: id, name, whether it is a directory.
    pub(crate) fn list(&self, directory: u64) -> Vec<(u64, String, bool)> {
        let files = self.files.iter().map(|(id, file)| (*id, file.name.as_str(), false));
        let within = self.directories.iter().map(|(id, path)| (*id, path.as_str(), true));
        let start = self.path_of(directory, "");
        files
            .chain(within)
            .filter_map(|(id, path, is_directory)| {
                let name = path.strip_prefix(&start)?;
                let is_entry = !name.is_empty() && !name.contains('/');
                is_entry.then(|| (id, name.to_owned(), is_directory))
            })
            .collect()
    }

    /// The path of a name in a directory.
    pub(crate) fn path_of(&self, directory: u64, name: &str) -> String {
        match self.directories.get(&directory) {
            Some(path) => format!("{path}/{name}"),
            None => name.to_owned(),
        }
    }

    pub(crate) fn is_directory(&self, id: u64) -> bool {
        self.directories.contains_key(&id)
    }

    pub(crate) fn make_directory(&mut self, path: &str) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.directories.insert(id, path.to_owned());
        id
    }

    /// Remove an empty directory; whether there was one.
    pub(crate) fn remove_directory(&mut self, path: &str) -> bool {
        let before = self.directories.len();
        self.directories.retain(|_, one| one != path);
        self.directories.len() < before
    }

    fn file(&self, name: &str) -> Option<&FileContent> {
        self.files.values().find(|file| file.name == name)
    }

    pub(crate) fn find(&self, name: &str) -> Option<u64> {
        let directory = self.directories.iter().find(|(_, path)| *path == name);
        let file = self.files.iter().find(|(_, file)| file.name == name);
        directory.map(|(id, _)| *id).or(file.map(|(id, _)| *id))
    }

    pub(crate) fn bytes(&self, id: u64) -> Option<u64> {
        self.files.get(&id).map(|file| file.actual.len() as u64)
    }

    pub(crate) fn used(&self) -> u64 {
        self.files.values().map(|file| file.actual.len() as u64).sum()
    }

    pub(crate) fn create(&mut self, name: &str) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.files.insert(id, FileContent { name: name.to_owned(), ..FileContent::default() });
        id
    }

    /// Give a file another name; one that has it is gone.
    pub(crate) fn rename(&mut self, id: u64, name: &str) {
        if let Some(replaced) = self.find(name).filter(|other| *other != id) {
            self.files.remove(&replaced);
        }
        if let Some(file) = self.files.get_mut(&id) {
            file.name = name.to_owned();
        }
    }

    /// Remove the name; the content stays for who has it open.
    pub(crate) fn unlink(&mut self, name: &str) -> Option<u64> {
        let id = self.find(name)?;
        self.files.get_mut(&id)?.name.clear();
        Some(id)
    }

    /// A file without a name that nobody has open.
    pub(crate) fn forget(&mut self, id: u64) {
        if self.files.get(&id).is_some_and(|file| file.name.is_empty()) {
            self.files.remove(&id);
        }
    }

    /// Another length; space is needed for what is added.
    pub(crate) fn resize(&mut self, id: u64, bytes: u64) -> Result<(), i32> {
        let now = self.bytes(id).ok_or(ENOENT)?;
        if self.used() - now + bytes > self.capacity {
            self.refused += 1;
            return Err(ENOSPC);
        }
        let length = usize::try_from(bytes).map_err(|_| ENOSPC)?;
        let file = self.files.get_mut(&id).ok_or(ENOENT)?;
        file.intended.resize(length, 0);
        file.actual.resize(length, 0);
        // The length itself is durable at once: of data alone is it asked what survives.
        file.stable.resize(length, 0);
        Ok(())
    }

    pub(crate) fn read(&mut self, id: u64, offset: u64, size: usize) -> Answer<Vec<u8>> {
        let (fault, mut dice) = match self.begin(id, Target::Read, offset) {
            Ok(decided) => decided,
            Err(errno) => return Answer::Errno(errno),
        };
        let Some(file) = self.files.get(&id) else { return Answer::Errno(ENOENT) };
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(file.actual.len());
        let end = start.saturating_add(size).min(file.actual.len());
        let mut data = file.actual[start..end].to_vec();
        let mut wait = 0;
        match fault {
            Some(fault) if errno_of(fault).is_some() => {
                return Answer::Errno(self.fail(Target::Read, fault));
            }
            Some(fault @ (Fault::Delay | Fault::Hang)) => {
                wait = milliseconds(fault, &mut dice);
                self.note(Target::Read, fault);
            }
            Some(Fault::Short) if data.len() > SECTOR => {
                data.truncate((data.len() / 2).next_multiple_of(SECTOR));
                self.note(Target::Read, Fault::Short);
            }
            Some(Fault::BitFlip) if !data.is_empty() => {
                let at = flip(&mut data, &mut dice);
                self.flipped_reads.push(start + at);
                self.note(Target::Read, Fault::BitFlip);
            }
            _ => {}
        }
        self.held_ms += wait;
        Answer::Done(data, wait)
    }

    pub(crate) fn write(&mut self, id: u64, offset: u64, data: &[u8]) -> Answer<usize> {
        let (fault, mut dice) = match self.begin(id, Target::Write, offset) {
            Ok(decided) => decided,
            Err(errno) => return Answer::Errno(errno),
        };
        if let Some(fault) = fault.filter(|fault| errno_of(*fault).is_some()) {
            return Answer::Errno(self.fail(Target::Write, fault));
        }
        let end = offset + data.len() as u64;
        let grows = end > self.bytes(id).unwrap_or(0);
        if grows && let Err(errno) = self.resize(id, end) {
            return Answer::Errno(errno);
        }
        let at = usize::try_from(offset).expect("the file is as long");
        let mut length = data.len();
        let mut wait = 0;
        let mut stored = (at, data.to_vec());
        let mut happened = fault;
        let Some(file) = self.files.get_mut(&id) else { return Answer::Errno(ENOENT) };
        match fault {
            Some(fault @ (Fault::Delay | Fault::Hang)) => wait = milliseconds(fault, &mut dice),
            Some(Fault::Short) if length > SECTOR => {
                length = (length / 2).next_multiple_of(SECTOR);
                stored.1.truncate(length);
            }
            Some(Fault::BitFlip) => {
                flip(&mut stored.1, &mut dice);
            }
            Some(Fault::LostWrite) => stored.1.clear(),
            Some(Fault::Forged(field)) if forge(&mut stored.1, field) => {}
            Some(Fault::TornWrite) if length > SECTOR => {
                let sectors = (length.div_ceil(SECTOR) - 1) as u64;
                stored.1.truncate(SECTOR * (1 + dice.below(sectors)) as usize);
            }
            Some(Fault::MisdirectedWrite) if file.actual.len() >= 2 * length => {
                let places = (file.actual.len() / length) as u64;
                let other = (at / length) as u64 + 1 + dice.below(places - 1);
                stored.0 = (other % places) as usize * length;
            }
            _ => happened = None,
        }
        put(&mut file.intended, at, &data[..length]);
        put(&mut file.actual, stored.0, &stored.1);
        file.pending.push(stored);
        file.written.push(at..at + length);
        if let Some(fault) = happened {
            self.note(Target::Write, fault);
        }
        self.held_ms += wait;
        Answer::Done(length, wait)
    }

    pub(crate) fn sync(&mut self, id: u64) -> Answer<()> {
        let (fault, mut dice) = match self.begin(id, Target::Sync, 0) {
            Ok(decided) => decided,
            Err(errno) => return Answer::Errno(errno),
        };
        let mut wait = 0;
        match fault {
            Some(fault) if errno_of(fault).is_some() => {
                return Answer::Errno(self.fail(Target::Sync, fault));
            }
            Some(fault @ (Fault::Delay | Fault::Hang)) => wait = milliseconds(fault, &mut dice),
            _ => {}
        }
        let Some(file) = self.files.get_mut(&id) else { return Answer::Errno(ENOENT) };
        if fault != Some(Fault::LyingSync) {
            file.stable = file.actual.clone();
            file.pending.clear();
        }
        file.promised = file.intended.clone();
        file.written_when_promised = file.written.len();
        if let Some(fault) = fault {
            self.note(Target::Sync, fault);
        }
        Answer::Done((), wait)
    }

    /// Whether a request without data may be done.
    pub(crate) fn may(&mut self, id: u64, target: Target) -> Result<(), i32> {
        let name = self.files.get(&id).map(|file| file.name.clone()).unwrap_or_default();
        self.may_by_name(&name, target)
    }

    /// The same of a file that need not be there yet.
    pub(crate) fn may_by_name(&mut self, name: &str, target: Target) -> Result<(), i32> {
        let (fault, _) = self.begin_by_name(name, target, 0)?;
        match fault {
            Some(fault) if errno_of(fault).is_some() => Err(self.fail(target, fault)),
            _ => Ok(()),
        }
    }

    /// Count a request of the faulty file; what becomes of it.
    fn begin(
        &mut self,
        id: u64,
        target: Target,
        offset: u64,
    ) -> Result<(Option<Fault>, Dice), i32> {
        let name = self.files.get(&id).map(|file| file.name.clone()).unwrap_or_default();
        self.begin_by_name(&name, target, offset)
    }

    fn begin_by_name(
        &mut self,
        path: &str,
        target: Target,
        offset: u64,
    ) -> Result<(Option<Fault>, Dice), i32> {
        if self.is_cut {
            return Err(EIO);
        }
        let name = path.rsplit('/').next();
        if self.faulty != EVERY_FILE && name != Some(&self.faulty) {
            return Ok((None, Dice::new(0)));
        }
        *self.requests.entry(target).or_default() += 1;
        self.arrivals.push((target, Instant::now()));
        if self.cut_after.is_some_and(|writes| self.requests(Target::Write) > writes) {
            self.is_cut = true;
            return Err(EIO);
        }
        Ok(self.script.decide(target, offset))
    }

    fn note(&mut self, target: Target, fault: Fault) {
        *self.injected.entry((target, fault)).or_default() += 1;
    }

    fn fail(&mut self, target: Target, fault: Fault) -> i32 {
        self.note(target, fault);
        errno_of(fault).unwrap_or(EIO)
    }
}

fn errno_of(fault: Fault) -> Option<i32> {
    match fault {
        Fault::InputOutputError => Some(EIO),
        Fault::NoSpace => Some(ENOSPC),
        Fault::Interrupted => Some(EINTR),
        _ => None,
    }
}

fn milliseconds(fault: Fault, dice: &mut Dice) -> u64 {
    match fault {
        Fault::Hang => 1000 + dice.below(500),
        _ => 1 + dice.below(10),
    }
}

/// Invert one bit; the byte in which.
fn flip(data: &mut [u8], dice: &mut Dice) -> usize {
    let at = dice.below(data.len() as u64) as usize;
    data[at] ^= 1 << dice.below(8);
    at
}

fn put(content: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(data);
}

/// Blocks with a byte in one of `ranges` that differs.
fn differing(one: &[u8], other: &[u8], ranges: &[Range<usize>], size: usize) -> Vec<u64> {
    let mut blocks = std::collections::BTreeSet::new();
    for range in ranges {
        for first in (range.start / size * size..range.end).step_by(size) {
            let part = |bytes: &[u8]| {
                let start = first.max(range.start).min(bytes.len());
                bytes[start..(first + size).min(range.end).min(bytes.len())].to_vec()
            };
            if part(one) != part(other) {
                blocks.insert(first as u64);
            }
        }
    }
    blocks.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;

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

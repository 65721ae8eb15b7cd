//! Which cells the target cannot be held to, found out before they are run.

use crate::cell::Access;
use crate::target::Target;
use iosonde_base::text;
use iosonde_direct::stack::Stack;
use iosonde_direct::{AlignedBuf, Answer, DirectIo, Honoured, OpenOptions, Tristate, honoured};
use iosonde_sys::files::FileExt;
use std::time::Instant;

/// What the target honours of the flags it is opened with.
#[derive(Debug)]
pub struct Promises {
    in_memory: Option<String>,
    /// Why a sync reaches no storage.
    no_syncs: Option<String>,
    /// The alignment of direct reads, or why there are none.
    direct_reads: Result<DirectIo, String>,
    /// The same of writes.
    direct_writes: Result<DirectIo, String>,
    span: u64,
    /// Notes, a sentence each.
    pub notes: Vec<String>,
}

impl Promises {
    /// Of a target. If cells will write to it directly, it has been written all
    /// over, and a little of it may be written again.
    pub fn of(target: &Target, kinds: &[Access]) -> Promises {
        let about = &target.about;
        let in_memory = about.is_in_memory().then(|| {
            let kind = about.file_system.as_deref().unwrap_or_default();
            format!("{kind} keeps files in memory: there is no storage to reach or to read from")
        });
        let writes = kinds.iter().any(|kind| kind.writes() && kind.is_direct());
        let mut notes = Vec::new();
        // Of direct writes, where nothing says whether they pass the page cache.
        let mut question = None;
        let reported = if kinds.iter().any(|kind| kind.is_direct()) && in_memory.is_none() {
            reported(target, writes)
        } else {
            Err("it was not requested".into())
        };
        let [direct_reads, mut direct_writes] = match reported {
            Err(words) => [Err(words.clone()), Err(words)],
            Ok((needs, reported)) => {
                let unknown = |answer: &Answer| answer.verdict == Tristate::Unknown;
                question = reported
                    .writes
                    .as_ref()
                    .is_some_and(unknown)
                    .then_some(DirtyPages { target, cache_below: reported.cache_below.is_some() });
                notes.extend(
                    reported
                        .cache_below
                        .map(|below| format!("O_DIRECT does not pass all caches: below, {below}.")),
                );
                [reported.reads, reported.writes].map(|answer| match answer {
                    Some(Answer { verdict: Tristate::No, why }) => Err(why.into_owned()),
                    Some(Answer { verdict: Tristate::Unknown, why }) => {
                        let sentence = format!("Whether O_DIRECT is honoured is not known: {why}.");
                        if !notes.contains(&sentence) {
                            notes.push(sentence);
                        }
                        Ok(needs)
                    }
                    _ => Ok(needs),
                })
            }
        };
        // Where nothing reports it, the kernel's counters may show it.
        if writes && question.is_some_and(|question| question.are_made()) {
            direct_writes =
                Err("the file system takes O_DIRECT and writes through the page cache \
                                 all the same (the kernel's count of dirtied pages grew by all \
                                 that was written)"
                    .into());
        }
        let no_syncs = no_syncs(target);
        Promises { in_memory, no_syncs, direct_reads, direct_writes, span: target.span, notes }
    }

    /// Why a cell cannot be measured as its name says; `None` if it can, as far as
    /// can be known before it runs.
    pub fn why_not(&self, kind: Access, size: u32) -> Option<String> {
        if u64::from(size) > self.span {
            return Some(format!("the target has only {}", text::bytes(self.span)));
        }
        if let Some(words) = self.in_memory.as_ref().filter(|_| !kind.is_memory()) {
            return Some(words.clone());
        }
        if let Some(words) = self.no_syncs.as_ref().filter(|_| kind.writes() && kind.is_durable()) {
            return Some(words.clone());
        }
        if !kind.is_direct() {
            return None;
        }
        let needs = if kind.writes() { &self.direct_writes } else { &self.direct_reads };
        let unit = match needs {
            Ok(needs) if kind.writes() => needs.offset_alignment,
            Ok(needs) => needs.read_offset_alignment,
            Err(words) => return Some(words.clone()),
        };
        let fits = size.is_multiple_of(unit.max(1));
        (!fits).then(|| format!("O_DIRECT takes blocks of a multiple of {unit} bytes here"))
    }
}

/// Of a mount of overlayfs with `volatile` (the kernel's overlayfs.rst): it answers syncs, and
/// passes none on.
fn no_syncs(target: &Target) -> Option<String> {
    let mount = Stack::under(&target.about.path).ok()?.mount?;
    let is_volatile = mount.filesystem == "overlay"
        && (mount.has_option("volatile") || mount.option("fsync") == Some("volatile"));
    is_volatile.then(|| {
        "the overlay is mounted with volatile: it passes no sync on, so that no write is durable"
            .to_owned()
    })
}

/// The alignment that O_DIRECT needs, and whether it is honoured.
fn reported(target: &Target, writes: bool) -> Result<(DirectIo, Honoured), String> {
    let path = &target.about.path;
    let options = OpenOptions::new().read(true).write(writes).direct(true);
    let file = options.open(path).map_err(|error| {
        let refused = error.source.kind() == std::io::ErrorKind::InvalidInput;
        match &target.about.file_system {
            Some(kind) if refused => format!("{kind} does not take O_DIRECT"),
            _ => error.to_string(),
        }
    })?;
    let words = |error: std::io::Error| format!("inspect {}: {error}", path.display());
    let needs = DirectIo::of(&file).map_err(words)?;
    let reported = honoured(&file).map_err(words)?;
    if needs.possible { Ok((needs, reported)) } else { Err(reported.overall().why.into_owned()) }
}

/// Whether direct writes make pages dirty, as those of btrfs to files with
/// checksums do. The pages are gone when the write returns, so that neither
/// mincore(2) nor cachestat(2) shows them; only the kernel's own count does.
struct DirtyPages<'a> {
    target: &'a Target,
    /// A loop device below has a page cache, too: what is written there makes as many dirty.
    cache_below: bool,
}

impl DirtyPages<'_> {
    /// They are made in most of some writes. Others make pages dirty, too: as many are
    /// taken off as come in as long without a write.
    fn are_made(&self) -> bool {
        const TRIES: usize = 9;
        const MOST: u64 = 4 << 20;
        let bytes = MOST.min(self.target.span) & !4095;
        let pages = bytes / iosonde_sys::memory::page_bytes() as u64;
        let least = pages / 2 + if self.cache_below { pages } else { 0 };
        let made = || self.by_a_write(bytes).is_some_and(|made| made >= least);
        pages > 0 && (0..TRIES).filter(|_| made()).count() > TRIES / 2
    }

    fn by_a_write(&self, bytes: u64) -> Option<u64> {
        let mut buffer = AlignedBuf::new(usize::try_from(bytes).ok()?, 4096).ok()?;
        let options = OpenOptions::new().read(true).write(true).direct(true);
        let file = options.open(&self.target.about.path).ok()?;
        // Existing bytes stay.
        file.read_exact_at(&mut buffer, 0).ok()?;
        // A page that is dirty already is not counted again: below, all are clean.
        file.sync_all().ok()?;
        let (before, begin) = (dirtied()?, Instant::now());
        file.write_all_at(&buffer, 0).ok()?;
        let (after, took) = (dirtied()?, begin.elapsed());
        std::thread::sleep(took);
        let by_others = dirtied()?.saturating_sub(after);
        Some(after.saturating_sub(before).saturating_sub(by_others))
    }
}

/// Pages that have been made dirty since the machine started.
fn dirtied() -> Option<u64> {
    count(&iosonde_direct::sysfs::text("proc/vmstat").ok()?, "nr_dirtied")
}

fn count(vmstat: &str, name: &str) -> Option<u64> {
    let mut pairs = vmstat.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(key, _)| *key == name)?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{ReadPath, WritePath, WriteSync};
    use iosonde_direct::Known;

    fn promises() -> Promises {
        let direct = DirectIo {
            possible: true,
            memory_alignment: 512,
            offset_alignment: 4096,
            read_offset_alignment: 512,
            known: Known::Stated,
        };
        Promises {
            in_memory: None,
            no_syncs: None,
            direct_reads: Ok(direct),
            direct_writes: Ok(direct),
            span: 1 << 20,
            notes: Vec::new(),
        }
    }

    #[test]
    fn only_direct_cells_need_aligned_sizes() {
        let promises = promises();
        for kind in Access::all() {
            let refused = kind.is_direct() && kind.writes();
            assert_eq!(promises.why_not(kind, 512).is_some(), refused, "{kind:?}");
            assert_eq!(promises.why_not(kind, 8192), None);
            assert!(promises.why_not(kind, 2 << 20).unwrap().contains("only 1 MiB"));
        }
    }

    #[test]
    fn in_memory_only_what_is_named_memory_has_a_figure() {
        let promises = Promises { in_memory: Some("tmpfs".into()), ..promises() };
        let left: Vec<String> = Access::all()
            .into_iter()
            .filter(|&kind| promises.why_not(kind, 4096).is_none())
            .map(Access::name)
            .collect();
        assert_eq!(left, ["BUFFERED", "BUFFERED + ALIGNED", "READ_WARM"]);
    }

    #[test]
    fn where_no_sync_is_passed_on_no_durable_write_has_a_figure() {
        let promises = Promises { no_syncs: Some("volatile".into()), ..promises() };
        for kind in Access::all() {
            let refused = kind.writes() && kind.is_durable();
            assert_eq!(promises.why_not(kind, 4096).is_some(), refused, "{kind:?}");
        }
    }

    #[test]
    fn direct_writes_that_are_not_honoured_do_not_affect_direct_reads() {
        let promises = Promises { direct_writes: Err("falls back".into()), ..promises() };
        assert!(
            promises.why_not(Access::Write(WriteSync::Fsync, WritePath::Direct), 4096).is_some()
        );
        assert!(
            promises.why_not(Access::Write(WriteSync::Fsync, WritePath::Aligned), 4096).is_none()
        );
        assert!(promises.why_not(Access::Read(ReadPath::Direct), 4096).is_none());
    }

    #[test]
    fn a_count_is_found_by_its_whole_name() {
        let text = "nr_dirty 5\nnr_dirtied 17\nnr_dirtied_x 1\n";
        assert_eq!(count(text, "nr_dirtied"), Some(17));
        assert_eq!(count(text, "nr_written"), None);
        assert_eq!(count("nr_dirtied many", "nr_dirtied"), None);
    }
}

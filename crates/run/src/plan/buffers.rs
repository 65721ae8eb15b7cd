//! From a job's options to its buffers: where they live, what they hold.

use super::Planner;
use crate::job::{FillPlan, JobPlan};
use iosonde_base::Dir;
use iosonde_direct::{HugePage, MemoryKind};
use iosonde_options::{Diagnostic, Setting};
use iosonde_spec::JobSpec;
use iosonde_spec::values::{DedupeMode, MemoryWord, PatternPart, PatternText as Asked};
use iosonde_sys::memory::{HugePages, total_bytes};
use iosonde_workload::content::{Base, Compress, Dedupe, EachWrite, Pattern, WorkingSet};
use iosonde_workload::{Sizes, SourceSpec};
use std::fs::File;
use std::io::Read;

/// Buffers start at a page, at least.
const ALIGNMENT_LEAST: usize = 4096;

/// Most huge pages are of this size, where the kernel does not say.
const HUGE_PAGE: u64 = 2 << 20;

impl Planner<'_> {
    /// Alignment of the first buffer, in bytes: a page, or `iomem_align` if
    /// that is more. The others follow at the distance of a block.
    pub(super) fn alignment(&mut self, spec: &JobSpec) -> usize {
        let setting = &spec.buffers.iomem_align;
        let asked = usize::try_from(setting.get().0).unwrap_or(usize::MAX);
        let even = asked.max(1).checked_next_power_of_two().unwrap_or(asked);
        if asked > 1 && even != asked {
            let message = format!("{asked} is no power of two: buffers are aligned to {even}");
            self.note(Diagnostic::note(message).about("iomem_align", setting.origin()));
        }
        even.max(ALIGNMENT_LEAST)
    }

    /// What writes hold, and files that are laid out.
    ///
    /// # Errors
    /// If a pattern cannot be had, or the share of repeats cannot be reached.
    pub(super) fn fill(
        &mut self,
        spec: &JobSpec,
        source: &SourceSpec,
        writes: bool,
    ) -> Result<FillPlan, Diagnostic> {
        // Jobs must differ, and a seed must repeat.
        let seed = source.randseed.wrapping_add(u64::from(source.thread_number) << 32);
        let base = base(spec)?;
        let in_sets = *spec.compress.dedupe_mode.get() == DedupeMode::WorkingSet;
        let global = &spec.compress.dedupe_global;
        if *global.get() && !in_sets {
            let diagnostic =
                Diagnostic::warning("without dedupe_mode=working_set there is no set to share");
            self.note(diagnostic.about("dedupe_global", global.origin()));
        }
        Ok(FillPlan {
            writes,
            seed,
            each_write: each_write(spec, &base),
            base,
            repeats: repeats(spec, seed, &Blocks::written(source))?,
            repeats_in_layout: repeats(spec, !seed, &Blocks::laid_out(source))?,
            shares_set: *global.get() && in_sets,
        })
    }
}

/// What blocks hold. Shares of what compresses or repeats go before patterns
/// and zeroes, which then only fill what is not random: as in fio.
fn base(spec: &JobSpec) -> Result<Base, Diagnostic> {
    let (buffers, compress) = (&spec.buffers, &spec.compress);
    let pattern = pattern(&buffers.buffer_pattern, "buffer_pattern")?;
    let repeats = compress.dedupe_percentage.get().is_some();
    let plain = |pattern: Option<Pattern>| pattern.map_or(Base::Zero, Base::Pattern);
    Ok(match *compress.buffer_compress_percentage.get() {
        Some(0) => Base::Random,
        // All alike, unless they have to differ from repeats.
        Some(100) if !repeats => plain(pattern),
        Some(percentage) => {
            let chunk = u32::try_from(compress.buffer_compress_chunk.get().0).unwrap_or(u32::MAX);
            Base::Mixed(Compress::new(percentage, chunk, pattern.unwrap_or_default()))
        }
        None if repeats => Base::Random,
        None if pattern.is_some() || *buffers.zero_buffers.get() => plain(pattern),
        None => Base::Random,
    })
}

fn each_write(spec: &JobSpec, base: &Base) -> EachWrite {
    let (buffers, compress) = (&spec.buffers, &spec.compress);
    let scramble = *buffers.scramble_buffers.get();
    let refill = match base {
        // Blocks that compress are made anew, unless that is refused.
        _ if compress.buffer_compress_percentage.get().is_some() => {
            !buffers.refill_buffers.is_set() || *buffers.refill_buffers.get()
        }
        _ => *buffers.refill_buffers.get(),
    };
    match base {
        Base::Pattern(pattern) if pattern.has_offset() => EachWrite::Refill,
        // What is asked for byte by byte changes only where that is asked too.
        Base::Zero | Base::Pattern(_) if scramble && buffers.scramble_buffers.is_set() => {
            EachWrite::Scramble
        }
        Base::Zero | Base::Pattern(_) => EachWrite::Nothing,
        _ if refill => EachWrite::Refill,
        Base::Random if scramble => EachWrite::Scramble,
        _ => EachWrite::Nothing,
    }
}

/// The bytes of a pattern, with those of its files.
pub(super) fn pattern(
    setting: &Setting<Option<Asked>>,
    name: &str,
) -> Result<Option<Pattern>, Diagnostic> {
    let Some(asked) = setting.get() else { return Ok(None) };
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    for part in &asked.0 {
        match part {
            PatternPart::Bytes(part) => bytes.extend(part),
            PatternPart::Offset => {
                offsets.push(bytes.len());
                bytes.extend([0; 8]);
            }
            PatternPart::File(path) => {
                // One byte more than there may be shows that there are more.
                let room = (Asked::BYTES_MAX + 1).saturating_sub(bytes.len()) as u64;
                let read = File::open(path)
                    .and_then(|file| file.take(room).read_to_end(&mut bytes))
                    .map_err(|error| format!("read {path}: {error}"));
                let too_long = format!("{path}: a pattern has at most {} bytes", Asked::BYTES_MAX);
                let read =
                    read.and((bytes.len() <= Asked::BYTES_MAX).then_some(()).ok_or(too_long));
                if let Err(message) = read {
                    let diagnostic = Diagnostic::error(message);
                    return Err(diagnostic.about(name, setting.origin()));
                }
            }
        }
    }
    if bytes.is_empty() {
        let diagnostic =
            Diagnostic::error("its files are empty: a pattern needs at least one byte");
        return Err(diagnostic.about(name, setting.origin()));
    }
    Ok(Some(Pattern::new(bytes, offsets)))
}

/// The blocks that may repeat, and how many there are.
struct Blocks {
    /// Bytes of one: of the smallest write, as in fio.
    bytes: u32,
    /// In the files.
    all: u64,
    /// In one pass.
    pass: u64,
}

impl Blocks {
    fn written(source: &SourceSpec) -> Blocks {
        let moves = source.directions;
        let percent = if moves.read { 100 - source.rwmixread.min(100) } else { 100 };
        let bytes = bytes(source);
        let pass = bytes.min(source.total_bytes);
        let block = source.sizes[Dir::Write].min().max(1);
        let pass = u128::from(pass) * u128::from(percent) / 100 / u128::from(block);
        let pass = u64::try_from(pass).unwrap_or(u64::MAX);
        Blocks { bytes: block, all: bytes / u64::from(block), pass }
    }

    /// A layout takes the largest block of any direction.
    fn laid_out(source: &SourceSpec) -> Blocks {
        let block = source.sizes.0.iter().map(Sizes::max).max().unwrap_or(1).max(1);
        let all = bytes(source) / u64::from(block);
        Blocks { bytes: block, all, pass: all }
    }
}

fn bytes(source: &SourceSpec) -> u64 {
    source.files.iter().fold(0, |sum, file| sum.saturating_add(file.size))
}

/// Which blocks repeat others.
fn repeats(spec: &JobSpec, key: u64, blocks: &Blocks) -> Result<Option<Dedupe>, Diagnostic> {
    let compress = &spec.compress;
    let Some(percentage) = *compress.dedupe_percentage.get() else { return Ok(None) };
    let set_percentage = *compress.dedupe_working_set_percentage.get();
    let set = match compress.dedupe_mode.get() {
        DedupeMode::Repeat => None,
        DedupeMode::WorkingSet if percentage + set_percentage > 100 => {
            let message = format!(
                "impossible to reach expected dedupe percentage {percentage} since \
                 {set_percentage} percentage of size is reserved to dedupe working set \
                 (those are unique pages)"
            );
            return Err(Diagnostic::error(message)
                .about("dedupe_percentage", compress.dedupe_percentage.origin())
                .help(format!("ask for at most {}", 100 - set_percentage)));
        }
        DedupeMode::WorkingSet => {
            let share = |all: u64, percent: u32| {
                let part = u128::from(all) * u128::from(percent) / 100;
                u64::try_from(part).expect("a part of what fits")
            };
            // What is left of the pass has to be enough for the repeats.
            let most = share(blocks.pass, 100 - percentage);
            let own = share(blocks.all, set_percentage).max(1).min(most);
            Some(WorkingSet { key, first: 0, own, all: own, pass: blocks.pass })
        }
    };
    Ok(Some(Dedupe { percentage, set, block: blocks.bytes }))
}

/// Join the working sets of the jobs that share theirs (`dedupe_global`): each
/// writes its own part and repeats any of all parts.
pub(super) fn share_sets(jobs: &mut [JobPlan]) {
    let sharing = |job: &&mut JobPlan| job.fill.shares_set;
    let written = jobs.iter_mut().filter(sharing).filter(|job| job.fill.writes);
    join(written.filter_map(|job| job.fill.repeats.as_mut()));
    let laid_out = jobs.iter_mut().filter(sharing);
    join(laid_out.filter_map(|job| job.fill.repeats_in_layout.as_mut()));
}

fn join<'a>(repeats: impl Iterator<Item = &'a mut Dedupe>) {
    let mut sets: Vec<&mut WorkingSet> = repeats.filter_map(|dedupe| dedupe.set.as_mut()).collect();
    let Some(key) = sets.first().map(|set| set.key) else { return };
    let mut all = 0;
    for set in &mut sets {
        (set.key, set.first) = (key, all);
        all += set.own;
    }
    sets.iter_mut().for_each(|set| set.all = all);
}

/// Where buffers live (`mem`).
///
/// # Errors
/// If there is no such memory here, or a page size is no power of two.
pub(super) fn memory(spec: &JobSpec) -> Result<MemoryKind, Diagnostic> {
    let setting = &spec.buffers.mem;
    let asked = setting.get();
    let file = asked.file.clone().map(Into::into);
    Ok(match asked.word {
        MemoryWord::Malloc => MemoryKind::Heap,
        MemoryWord::Mmap => MemoryKind::Mapping(file),
        MemoryWord::MmapShared => MemoryKind::SharedMapping(file),
        MemoryWord::MmapHuge => MemoryKind::HugeMapping(file, huge_page(spec)?),
        MemoryWord::Shm => MemoryKind::Segment,
        MemoryWord::ShmHuge => MemoryKind::HugeSegment(huge_page(spec)?),
        MemoryWord::CudaMalloc => {
            let diagnostic = Diagnostic::error("this program is built without GPU memory");
            return Err(diagnostic.about("mem", setting.origin()).help("use malloc, mmap or shm"));
        }
    })
}

fn huge_page(spec: &JobSpec) -> Result<HugePage, Diagnostic> {
    let own = HugePages::of_this_machine().map_or(HUGE_PAGE, |pool| pool.page_bytes);
    let setting = &spec.buffers.hugepage_size;
    let asked = setting.get().0;
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(1 << 21);
    match asked {
        _ if !setting.is_set() || asked == 0 || asked == own => Ok(HugePage::Default(size(own))),
        _ if asked.is_power_of_two() && usize::try_from(asked).is_ok() => {
            Ok(HugePage::Chosen(size(asked)))
        }
        _ => Err(Diagnostic::error(format!("{asked} is no power of two"))
            .about("hugepage-size", setting.origin())
            .help("/sys/kernel/mm/hugepages lists the sizes of this machine")),
    }
}

/// `lockmem`.
///
/// # Errors
/// If the machine has not so much memory: locking what there is would end
/// other programs first, and then this one.
pub(super) fn locked_bytes(spec: &JobSpec) -> Result<u64, Diagnostic> {
    let setting = &spec.buffers.lockmem;
    let (asked, most) = (setting.get().0, total_bytes());
    if asked >= most {
        let message = format!("{asked} bytes of memory cannot be locked: the machine has {most}");
        return Err(Diagnostic::error(message).about("lockmem", setting.origin()));
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_from_a_file_is_kept_byte_for_byte() {
        let path = std::env::temp_dir().join(format!("iosonde-pattern-{}", std::process::id()));
        let wanted: Vec<u8> = (0..3_u32 << 20).map(|n| (n % 251) as u8).collect();
        std::fs::write(&path, &wanted).unwrap();
        let mut spec = JobSpec::default();
        let text = format!("'{}'", path.display());
        let origin = iosonde_options::Origin::CommandLine { index: 1 };
        spec.set("buffer_pattern", Some(&text), origin).unwrap();
        let read = pattern(&spec.buffers.buffer_pattern, "buffer_pattern");
        std::fs::remove_file(&path).unwrap();
        let mut block = vec![0; 4 << 20];
        read.unwrap().expect("a pattern").fill(&mut block, 0, 0);
        assert!(block.iter().zip(wanted.iter().cycle()).all(|(a, b)| a == b));
    }
}

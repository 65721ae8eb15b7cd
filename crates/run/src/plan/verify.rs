//! From a job's options to what it checks of what it wrote.

use super::clone_of::CloneOf;
use super::job_io::JobIo;
use super::refuse::about;
use super::{Planner, buffers, in_job};
use crate::job::{JobPlan, VerifyPlan};
use iosonde_base::{DIRS, Dir};
use iosonde_engine::Window;
use iosonde_options::Diagnostic;
use iosonde_spec::JobSpec;
use iosonde_spec::values::{Verify as Word, VerifyPolicy};
use iosonde_sys::cpu::CpuList;
use iosonde_verify::{
    Backlogs, BlockContent, BlockFormat, BlockType, CheckOrder, Checks, VerifySpec,
};
use iosonde_workload::{Directions, Distribution, Generator, MapMode, Sizes, SourceSpec};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

impl Planner<'_> {
    /// The checks of a job. `None` for one that checks nothing.
    ///
    /// # Errors
    /// If blocks cannot be made as requested.
    pub(super) fn verify(
        &mut self,
        of: &CloneOf<'_>,
        io: &JobIo,
        source: &SourceSpec,
        window: &Window,
    ) -> Result<Option<VerifyPlan>, Diagnostic> {
        let spec = &of.job.spec;
        let Some(block_type) = block_type(spec) else { return Ok(None) };
        let Some(checks) = checks(spec, io) else { return Ok(None) };
        let options = &spec.verify;
        let backlogs = backlogs(spec);
        let wraps = wraps(source, &backlogs);
        // Blocks that lie on others in part can only be checked by their offset.
        let order = if may_repeat(spec, source) || (wraps && varies(spec, Dir::Write)) {
            CheckOrder::Offset
        } else {
            CheckOrder::Issue
        };
        if order == CheckOrder::Offset && varies(spec, Dir::Write) {
            let words = "norandommap given for variable block sizes, verify limited";
            self.note(Diagnostic::note(words).fio_warns_too());
        }
        if checks == Checks::Writes && never_checks(source, &backlogs) {
            let words =
                "verification read phase will never start because write phase uses all of runtime";
            self.note(Diagnostic::warning(words).fio_warns_too());
        }
        let format = format(spec, block_type, io)?;
        let draws_again = self.draws_again(spec, source)?;
        let compare_seed = match checks {
            _ if !format.content().uses_seed() => true,
            _ if options.verify_header_seed.is_set() => *options.verify_header_seed.get(),
            Checks::Writes => !wraps && backlogs.verify_after == 0 && order == CheckOrder::Issue,
            Checks::Reads | Checks::WithoutWriting => false,
        };
        Ok(Some(VerifyPlan {
            spec: VerifySpec {
                format,
                checks,
                moves_data: of.engine.caps.keeps_data(),
                order,
                backlogs,
                draws_again,
                only_synced: *options.verify_policy.get() == VerifyPolicy::Fsynced,
                until: None,
                ios_most: ios_most(source, checks, &backlogs),
                pass_bytes_most: u64::MAX,
                files: [source.files.len(), source.open_files],
                wraps,
                compare_seed,
                compare_number: compare_number(spec, checks, window, source)
                    && !(draws_again && order == CheckOrder::Offset),
                trim_percentage: *spec.trim.trim_percentage.get(),
                randseed: source.randseed,
                thread: of.number,
                wide: source.generator == Generator::Tausworthe64,
                repeat: source.repeat,
                slots: window.depth as usize,
            },
            threads: *options.verify_async.get(),
            cpus: async_cpus(spec)?,
            dump: *options.verify_dump.get(),
            save_state: *options.verify_state_save.get() && io.dirs[Dir::Write],
            load_state: *options.verify_state_load.get(),
            directory: PathBuf::new(),
            from_device: true,
            strict: true,
        }))
    }

    /// `experimental_verify`.
    ///
    /// # Errors
    /// If a second run through the job would draw something else.
    fn draws_again(&mut self, spec: &JobSpec, source: &SourceSpec) -> Result<bool, Diagnostic> {
        const NAME: &str = "experimental_verify";
        let setting = &spec.verify.experimental_verify;
        let Directions { read, write, .. } = source.directions;
        if !*setting.get() {
            return Ok(false);
        }
        if read && write && source.pace.is_set() {
            let words =
                "with a rate, which I/O of a mixed job is a write depends on time".to_owned();
            let help = "leave experimental_verify or the rate out";
            return Err(about(setting, NAME, words).help(help));
        }
        if *spec.verify.verify_backlog.get() > 0 || *spec.trim.trim_percentage.get() > 0 {
            let words = "experimental_verify remembers no writes: nothing is verified after \
                         verify_backlog, and nothing is trimmed";
            self.note(Diagnostic::warning(words).about(NAME, setting.origin()));
        }
        Ok(true)
    }
}

/// The limit of I/Os to which verify reads of a backlog count, as in fio.
fn ios_most(source: &SourceSpec, checks: Checks, backlogs: &Backlogs) -> u64 {
    let counts = checks == Checks::Writes && backlogs.verify && backlogs.verify_after > 0;
    match source.number_ios {
        ios @ 1.. if counts && !source.time_based => ios.saturating_mul(source.loops),
        _ => u64::MAX,
    }
}

/// `verify_async_cpus`.
fn async_cpus(spec: &JobSpec) -> Result<Option<CpuList>, Diagnostic> {
    let setting = &spec.verify.verify_async_cpus;
    let Some(cpus) = setting.get() else { return Ok(None) };
    let list = CpuList::from_numbers(cpus.0.clone());
    list.map(Some).map_err(|error| about(setting, "verify_async_cpus", error.to_string()))
}

/// Whether a job only checks what is there: its files are neither made nor
/// filled, whatever else it asks for.
pub(super) fn only_reads_back(spec: &JobSpec) -> bool {
    let reads = spec.dirs()[Dir::Read] && !spec.dirs()[Dir::Write];
    block_type(spec).is_some() && (*spec.verify.verify_only.get() || reads)
}

impl Planner<'_> {
    /// What is not there cannot be checked, and is not made: laying out a file would destroy what
    /// it is to be checked for. Refuse each job that only checks a file which is missing, or ends
    /// before the job's range, unless another job of the run writes that file.
    pub(super) fn refuse_unwritten_files(&mut self) {
        let jobs = &self.plan.jobs;
        let written: HashSet<&Path> = jobs
            .iter()
            .filter(|job| job.writes())
            .flat_map(|job| job.files.iter().map(|file| file.path.as_path()))
            .collect();
        let refuse = |job: &JobPlan| {
            let short = job.unwritten_files().into_iter();
            let (_, words) =
                short.into_iter().find(|(path, _)| !written.contains(path.as_path()))?;
            let section = &self.jobs[job.section];
            let refused = about(&section.spec.verify.verify, "verify", words);
            Some(in_job(section, refused.help(UNWRITTEN_HELP)))
        };
        let refused: Vec<Diagnostic> = jobs.iter().filter_map(refuse).collect();
        refused.into_iter().for_each(|diagnostic| self.note(diagnostic));
    }
}

/// What to do about a file that ends before what is to be checked of it.
const UNWRITTEN_HELP: &str = "set size (and offset) to those of the job that wrote it";

/// `verify`; a pattern alone means a header and that pattern.
fn block_type(spec: &JobSpec) -> Option<BlockType> {
    let options = &spec.verify;
    Some(match options.verify.get() {
        Word::Off if !options.verify.is_set() && options.verify_pattern.get().is_some() => {
            BlockType::PatternHeader
        }
        Word::Off => return None,
        Word::Md5 => BlockType::Md5,
        Word::Crc64 => BlockType::Crc64,
        Word::Crc32 => BlockType::Crc32,
        Word::Crc32c | Word::Crc32cIntel => BlockType::Crc32c,
        Word::Crc16 => BlockType::Crc16,
        Word::Crc7 => BlockType::Crc7,
        Word::Sha1 => BlockType::Sha1,
        Word::Sha256 => BlockType::Sha256,
        Word::Sha512 => BlockType::Sha512,
        Word::Sha3_224 => BlockType::Sha3_224,
        Word::Sha3_256 => BlockType::Sha3_256,
        Word::Sha3_384 => BlockType::Sha3_384,
        Word::Sha3_512 => BlockType::Sha3_512,
        Word::XxHash => BlockType::XxHash,
        Word::Meta => BlockType::Meta,
        Word::Pattern => BlockType::Pattern,
        Word::PatternHdr => BlockType::PatternHeader,
        Word::Null => BlockType::Null,
    })
}

fn checks(spec: &JobSpec, io: &JobIo) -> Option<Checks> {
    match (io.dirs[Dir::Write], io.dirs[Dir::Read]) {
        (true, _) if *spec.verify.verify_only.get() => Some(Checks::WithoutWriting),
        (true, _) => Some(Checks::Writes),
        // Nobody knows who wrote what a recording reads.
        (false, true) if io.replay.is_some() => None,
        (false, true) => Some(Checks::Reads),
        (false, false) => None,
    }
}

fn backlogs(spec: &JobSpec) -> Backlogs {
    let (options, trim) = (&spec.verify, &spec.trim);
    let trims = *trim.trim_percentage.get() > 0;
    Backlogs {
        verify: *options.do_verify.get(),
        verify_after: *options.verify_backlog.get(),
        verify_batch: options.verify_backlog_batch.get().map_or(0, u64::from),
        trim_after: if trims { *trim.trim_backlog.get() } else { 0 },
        trim_batch: trim.trim_backlog_batch.get().map_or(0, u64::from),
        trimmed_are_zero: *trim.trim_verify_zero.get(),
    }
}

/// Whether a pass can write a place twice. Where fio looks at its options
/// only, so do we, for the same order of reads; where it does not look (zipf
/// and others, percentage_random, strided zones) it would report good blocks
/// as wrong.
fn may_repeat(spec: &JobSpec, source: &SourceSpec) -> bool {
    let skews = source.directions.random && source.distribution != Distribution::Random;
    let mixes = source.directions.random && source.percentage_random.0.iter().any(|&p| p < 100);
    let rw = spec.order.rw.get();
    let no_map = source.directions.random && source.map != MapMode::On;
    let more = *spec.size.io_size.get();
    no_map
        || *spec.random.norandommap.get()
        || *spec.random.softrandommap.get()
        || rw.every > 1
        || rw.skip != 0
        || (more.is_some() && source.io_size_given && passes_over_itself(source))
        || skews
        || mixes
        || source.strided.is_some()
        || source.sprandom.is_some()
        // A recording may write a place again; fio does not look.
        || source.replay.is_some()
}

/// Whether the writing takes all of the time. A queue is read back after each pass over its files.
fn never_checks(source: &SourceSpec, backlogs: &Backlogs) -> bool {
    source.time_based && !source.queued && backlogs.verify_after == 0
}

/// Whether a pass of a job that ends by time goes over its files more than once: with a backlog,
/// and where the last block of a random pass does not fit the end of a file.
fn wraps(source: &SourceSpec, backlogs: &Backlogs) -> bool {
    let least =
        source.sizes.0.iter().map(Sizes::min).min().map_or(1, |least| u64::from(least.max(1)));
    let rest = source.files.iter().any(|file| !file.size.is_multiple_of(least));
    source.time_based && (backlogs.verify_after > 0 || (source.directions.random && rest))
}

/// `io_size` is more than the files have.
fn passes_over_itself(source: &SourceSpec) -> bool {
    let size = source.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size));
    source.total_bytes > size
}

fn varies(spec: &JobSpec, dir: Dir) -> bool {
    let sizes = spec.block_sizes(dir);
    sizes.min() != sizes.max()
}

/// Whether the number of the write is compared: unless that is decided by the
/// user, where it is certain.
fn compare_number(spec: &JobSpec, checks: Checks, window: &Window, source: &SourceSpec) -> bool {
    let setting = &spec.verify.verify_write_sequence;
    let sizes = DIRS.map(|dir| spec.block_sizes(dir));
    let one_size =
        sizes.iter().all(|size| size.min() == size.max() && size.min() == sizes[0].min());
    if checks == Checks::Reads || !one_size || source.time_based || !*setting.get() {
        return false;
    }
    if setting.is_set() {
        return true;
    }
    let out_of_order = *spec.random.norandommap.get() && window.depth > 1;
    checks == Checks::Writes && !out_of_order
}

fn format(spec: &JobSpec, block_type: BlockType, io: &JobIo) -> Result<BlockFormat, Diagnostic> {
    let options = &spec.verify;
    let sizes = if io.dirs[Dir::Write] { &io.sizes[Dir::Write] } else { &io.sizes[Dir::Read] };
    let (least, most) = (sizes.min() as usize, sizes.max() as usize);
    let content = match buffers::pattern(&options.verify_pattern, "verify_pattern")? {
        Some(pattern) => {
            let interval = &options.verify_pattern_interval;
            let bytes = usize::try_from(interval.get().0).unwrap_or(usize::MAX);
            BlockContent::Pattern { pattern, interval: bytes }
        }
        None => seeded(spec)?,
    };
    let interval = match (&io.replay, options.verify_interval.get()) {
        // As in fio: the recorded sizes do not count, but those of the options do.
        (Some(_), None) => spec.block_sizes(Dir::Write).min() as usize,
        (Some(_), Some(given)) => usize::try_from(given.0).unwrap_or(usize::MAX),
        (None, _) => interval(spec, least, most),
    };
    let offset = options.verify_offset.get().map_or(0, |bytes| bytes.0);
    let offset = usize::try_from(offset).unwrap_or(usize::MAX / 2);
    BlockFormat::new(block_type, interval, offset, content, least).map_err(|error| {
        let words = error.to_string();
        match offset {
            0 => about(&options.verify, "verify", words),
            _ => about(&options.verify_offset, "verify_offset", words),
        }
    })
}

fn seeded(spec: &JobSpec) -> Result<BlockContent, Diagnostic> {
    Ok(match *spec.compress.buffer_compress_percentage.get() {
        // At most 99, so it fits.
        Some(percent @ 1..=99) => BlockContent::Compressible {
            percent: percent as u8,
            filler: match spec.buffers.buffer_pattern.get() {
                Some(pattern) => pattern.plain().unwrap_or_default(),
                None => Vec::new(),
            },
        },
        _ => BlockContent::Seeded,
    })
}

/// `verify_interval`, as in fio: where it does not divide the job's blocks, the most that does.
fn interval(spec: &JobSpec, least: usize, most: usize) -> usize {
    if *spec.block.bs_unaligned.get() {
        return 0;
    }
    let given = spec.verify.verify_interval.get();
    let wanted = given.map_or(0, |bytes| usize::try_from(bytes.0).unwrap_or(usize::MAX));
    match wanted {
        0 if least == most => 0,
        0 => least,
        _ if wanted > least => least,
        _ if least.is_multiple_of(wanted) && most.is_multiple_of(wanted) => wanted,
        _ => greatest_common_divisor(least, most),
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_options::Origin;

    fn interval_of(options: &[(&str, &str)]) -> usize {
        let mut spec = JobSpec::default();
        for (name, value) in options {
            spec.set(name, Some(value), Origin::Default).unwrap();
        }
        let sizes = spec.block_sizes(Dir::Write);
        interval(&spec, sizes.min() as usize, sizes.max() as usize)
    }

    #[test]
    fn an_interval_that_does_not_divide_the_blocks_is_the_most_that_does() {
        for odd in ["513", "1000", "1536", "2222", "3791", "4095"] {
            assert_eq!(interval_of(&[("bs", "4k"), ("verify_interval", odd)]), 4096, "{odd}");
        }
        assert_eq!(interval_of(&[("bs", "4k"), ("verify_interval", "512")]), 512);
        assert_eq!(interval_of(&[("bs", "4k"), ("verify_interval", "8k")]), 4096);
        assert_eq!(interval_of(&[("bsrange", "4k-6k"), ("verify_interval", "1000")]), 2048);
        assert_eq!(interval_of(&[("bsrange", "4k-6k"), ("verify_interval", "1k")]), 1024);
    }
}

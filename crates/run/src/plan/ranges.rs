//! Which part of each file a job uses: size, filesize, offset, nrfiles.
//!
//! The rules are those of fio 3.42, found by its behaviour
//! (`crates/iosonde/tests/fio/exact.rs`).

use super::Planner;
use super::clone_of::CloneOf;
use super::files::{FileRange, Named, Parts};
use super::job_io::JobIo;
use super::zones;
use crate::job::{FileKind, FilePlan, Need};

use iosonde_options::{Amount, Diagnostic};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::ZoneMode;
use iosonde_workload::FileSizes;

/// What the ranges of one clone's files follow from.
struct Ranges<'a> {
    spec: &'a JobSpec,
    clone: u64,
    files: u64,
    /// The smallest block of any direction.
    least: u64,
    /// `filesize`: what is drawn for each file that has not such a size.
    drawn: Option<FileSizes>,
    diskless: bool,
}

impl Planner<'_> {
    /// Which part of each file a clone uses.
    pub(super) fn parts(
        &mut self,
        of: &CloneOf<'_>,
        io: &JobIo,
        named: Vec<Named>,
        need: Need,
    ) -> Result<Parts, Diagnostic> {
        let (&CloneOf { job, clone, .. }, least) = (of, io.min_bs);
        let spec = &job.spec;
        let number = self.plan.jobs.len() as u32 + 1;
        let mut ranges = Ranges::new(spec, number, clone, &named, least);
        let fill = *spec.size.fill_device.get();
        let mut parts = Parts::default();
        for (index, named) in (0..).zip(named) {
            if let Some(why) = super::paths::holds_no_data(&named.path) {
                return Err(no_size(&named, why));
            }
            let zoned = *spec.zones.zonemode.get() == ZoneMode::Zbd;
            let mut target = match named.kind {
                // As large as what its job asks for.
                FileKind::None => None,
                _ if !zoned => None,
                _ => Some(self.zone_target(of, &named, named.bytes_now.unwrap_or(0))?),
            };
            let mut range = ranges.of(index, &named, need)?;
            if let (FileKind::Block, Some(bytes)) = (named.kind, named.bytes_now)
                && range.end > bytes
            {
                self.clamped(job, &named, range.end, bytes);
                range.bytes = bytes.saturating_sub(range.offset);
                range.end = bytes;
            }
            if zoned && named.kind == FileKind::None {
                zones::widen_to_filesize(spec, &mut range);
                target = Some(self.zone_target(of, &named, range.end)?);
            }
            if let Some(target) = target {
                self.round_to_zones(of, io, &named, &target, &mut range)?;
                parts.zones.push(target);
            }
            let mut need =
                if named.kind == FileKind::Regular && !fill { need } else { Need::Nothing };
            let mut shared_end = None;
            if let Some(share) = self.shares.get(of.section).copied().flatten() {
                shared_end = share.cut(&mut range, io.max_bs.into(), &named)?;
                // Rank 0 lays out all of it, and the others wait for that.
                need = if share.rank == 0 { need } else { Need::Nothing };
            }
            let FileRange { offset, later_offset, bytes, end } = range;
            parts.size_bytes = parts.size_bytes.saturating_add(bytes);
            parts.ends.push(end);
            parts.later_offsets.push(later_offset);
            let (name, path, kind) = (named.name, named.path, named.kind);
            parts.files.push(FilePlan { name, path, kind, offset, bytes, need, shared_end });
        }
        totals(spec, &mut parts, least)?;
        Ok(parts)
    }

    fn clamped(&mut self, job: &ParsedJob, named: &Named, end: u64, bytes: u64) {
        self.note(Diagnostic::warning(format!(
            "job {}: {} ends at {bytes} bytes, before the {end} asked for; the job stays within it",
            job.name,
            named.path.display()
        )));
    }
}

impl<'a> Ranges<'a> {
    fn new(spec: &'a JobSpec, number: u32, clone: u32, named: &[Named], least: u64) -> Ranges<'a> {
        let drawn = spec.size.filesize.get().as_ref().map(|range| {
            let seed = *spec.random.randseed.get();
            let wide = super::source::is_wide(spec);
            FileSizes::new(seed, number, (range.0.min.0, range.0.max.0), least, wide)
        });
        let diskless = named.iter().all(|named| named.kind == FileKind::None);
        let (clone, files) = (u64::from(clone), named.len() as u64);
        Ranges { spec, clone, files, least, drawn, diskless }
    }

    /// The range of file number `index`.
    fn of(&mut self, index: u64, named: &Named, need: Need) -> Result<FileRange, Diagnostic> {
        let existing = if self.diskless {
            self.share(index).unwrap_or(0)
        } else {
            named.bytes_now.unwrap_or(0)
        };
        let appends = *self.spec.size.file_append.get();
        let offset = if appends { existing } else { self.offset(existing) };
        let bytes = self.bytes(index, named, need, offset)?;
        let end = match named.kind {
            FileKind::Regular => existing.max(offset.saturating_add(bytes)),
            _ => offset.saturating_add(bytes),
        };
        let later_offset = if appends { end } else { self.offset(end) };
        Ok(FileRange { offset, later_offset, bytes, end })
    }

    fn bytes(
        &mut self,
        index: u64,
        named: &Named,
        need: Need,
        offset: u64,
    ) -> Result<u64, Diagnostic> {
        let size = self.spec.size.size.get();
        if *self.spec.size.fill_device.get() {
            let device = named.bytes_now.filter(|_| named.kind == FileKind::Block);
            return Ok(device.unwrap_or(u64::MAX >> 1).saturating_sub(offset));
        }
        if let (Some(range), Some(drawn)) = (self.spec.size.filesize.get(), &mut self.drawn)
            && named.kind != FileKind::Block
        {
            let fits = |bytes: &u64| (range.0.min.0..=range.0.max.0).contains(bytes);
            if let Some(bytes) = named.bytes_now.filter(fits) {
                return Ok(bytes.saturating_sub(offset));
            }
            if offset > range.0.min.0 {
                return Err(bad_offset(named));
            }
            // One size is taken as it is, a drawn one in whole blocks.
            let bytes = if range.0.min == range.0.max { range.0.min.0 } else { drawn.draw() };
            return Ok(bytes.saturating_sub(offset));
        }
        match size {
            Some(Amount::Percent(percent)) => match named.bytes_now {
                None => Err(no_size(named, "size in percent needs a file that exists")),
                Some(bytes) if offset > bytes => Err(bad_offset(named)),
                Some(bytes) if *percent == 100 => Ok(bytes - offset),
                Some(bytes) => {
                    let part = (u128::from(bytes) * u128::from(*percent) / 100) as u64;
                    let part = part.min(bytes - offset);
                    Ok(part - part % self.least)
                }
            },
            Some(Amount::Zones(_)) => Err(no_size(named, "the size of its zones is not known")),
            _ => match (self.share(index), named.bytes_now) {
                (Some(share), _) => Ok(share),
                (None, Some(bytes)) if bytes > 0 && offset > bytes => Err(bad_offset(named)),
                (None, Some(bytes)) if bytes > 0 => Ok(bytes - offset),
                // A name that is made, and nothing in it: one I/O is counted.
                _ if need == Need::Nothing && named.kind == FileKind::Regular => Ok(self.least),
                _ => Err(no_size(named, "you need to specify size=")),
            },
        }
    }

    /// The share of `size` of file number `index`, where that is in bytes: what
    /// division leaves goes to the first files, a block each.
    fn share(&self, index: u64) -> Option<u64> {
        let Some(Amount::Bytes(size @ 1..)) = self.spec.size.size.get() else { return None };
        let share = size / self.files;
        let rest = size - share * self.files;
        Some(share + if index < rest / self.least.max(1) { self.least } else { 0 })
    }

    /// `offset`, `offset_increment`, `offset_align`, for a file of so many
    /// bytes. Percentages are rounded up to the alignment, or to the least block
    /// size.
    fn offset(&self, bytes: u64) -> u64 {
        let order = &self.spec.order;
        let align = match order.offset_align.get().0 {
            0 => self.least,
            align => align,
        };
        let share = |percent: u8| (u128::from(bytes) * u128::from(percent) / 100) as u64;
        let of = |amount: &Amount| match amount {
            Amount::Bytes(bytes) => *bytes,
            Amount::Percent(percent) => share(*percent),
            Amount::Zones(_) => 0,
        };
        let step = of(order.offset_increment.get());
        let offset = of(order.offset.get()).saturating_add(step.saturating_mul(self.clone));
        let is_share = |amount: &Amount| matches!(amount, Amount::Percent(_));
        if is_share(order.offset.get()) || is_share(order.offset_increment.get()) {
            offset.checked_next_multiple_of(align.max(1)).unwrap_or(offset)
        } else {
            offset
        }
    }
}

/// Bytes of one pass, and of the job: `size` where the files hold as much;
/// `io_size`, which in percent is another `size`.
fn totals(spec: &JobSpec, parts: &mut Parts, least: u64) -> Result<(), Diagnostic> {
    if *spec.size.fill_device.get() {
        (parts.size_bytes, parts.total_bytes) = (u64::MAX, u64::MAX);
        return Ok(());
    }
    if let Some(Amount::Bytes(size @ 1..)) = spec.size.size.get()
        && *size < least
    {
        return Err(too_small(spec, *size, least));
    }
    if let Some(Amount::Bytes(size @ 1..)) = spec.size.size.get() {
        parts.size_bytes = parts.size_bytes.min(*size);
    }
    parts.total_bytes = match spec.size.io_size.get() {
        Some(Amount::Bytes(bytes)) => *bytes,
        Some(Amount::Percent(percent)) => {
            parts.size_bytes = (u128::from(parts.size_bytes) * u128::from(*percent) / 100) as u64;
            parts.size_bytes
        }
        Some(Amount::Zones(_)) | None => parts.size_bytes,
    };
    if parts.size_bytes < least {
        // Without create_serialize fio comes to this later, and does no I/O.
        if !*spec.file_life.create_serialize.get() {
            parts.total_bytes = 0;
            return Ok(());
        }
        let (bytes, message) = (parts.size_bytes, "blocksize is larger than data set range");
        return Err(Diagnostic::error(format!("{message}: {least} > {bytes}"))
            .help("give a larger size= or a smaller bs="));
    }
    Ok(())
}

fn no_size(named: &Named, why: &str) -> Diagnostic {
    Diagnostic::error(format!("{why} (file {})", named.path.display()))
        .help("give size=, or the name of a file that holds data")
}

fn bad_offset(named: &Named) -> Diagnostic {
    Diagnostic::error(format!(
        "you need to specify valid offset=: {} ends before it",
        named.path.display()
    ))
    .help("give a smaller offset=, or a file that reaches further")
}

fn too_small(spec: &JobSpec, bytes: u64, min_bs: u64) -> Diagnostic {
    let diagnostic = Diagnostic::error(format!(
        "size too small, must not be less than minimum block size: {bytes} < {min_bs}"
    ));
    let diagnostic = match spec.origin("size") {
        Some(origin) => diagnostic.about("size", &origin),
        None => diagnostic,
    };
    diagnostic.help("give a larger size= or a smaller bs=")
}

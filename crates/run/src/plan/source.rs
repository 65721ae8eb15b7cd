//! From a job's options to what its source needs to know.

use super::files::Parts;
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_options::Amount;
use iosonde_spec::JobSpec;
use iosonde_spec::values::{RandomGenerator, RwSequencer, ZoneMode};
use iosonde_workload::{
    Generator, MapMode, Sequencer, Sizes, SourceFile, SourceSpec, SprandomSpec, Strided, SyncEvery,
};

/// Block sizes by direction.
pub(super) fn sizes(spec: &JobSpec) -> PerDir<Sizes> {
    PerDir(DIRS.map(|dir| spec.block_sizes(dir)))
}

/// Everything the source of one clone needs.
pub(super) fn source(
    spec: &JobSpec,
    number: u32,
    sizes: &PerDir<Sizes>,
    parts: &Parts,
    queued: bool,
) -> SourceSpec {
    let files = (0..).zip(&parts.files).zip(&parts.ends).map(|((index, file), &end)| SourceFile {
        name: file.path_or_name(),
        offset: file.offset,
        size: file.bytes,
        end,
        later_offset: parts.later_offsets.get(index).copied(),
    });
    let rw = *spec.order.rw.get();
    let io_size_given = matches!(spec.size.io_size.get(), Some(Amount::Bytes(_)));
    let sprandom = sprandom(spec);
    let twice = sprandom.map_or(0, |asked| bytes_twice(&asked, sizes, parts));
    SourceSpec {
        thread_number: number,
        randseed: *spec.random.randseed.get(),
        repeat: *spec.random.randrepeat.get() && !spec.random.randseed.is_set(),
        verify: false,
        reads_back: false,
        reads_back_among: false,
        directions: rw.word.directions(),
        seq_nr: rw.every,
        sequencer: match spec.order.rw_sequencer.get() {
            RwSequencer::Sequential => Sequencer::Sequential,
            RwSequencer::Identical => Sequencer::Identical,
        },
        seq_add: rw.skip,
        sizes: sizes.clone(),
        bs_unaligned: *spec.block.bs_unaligned.get(),
        bs_is_seq_rand: *spec.block.bs_is_seq_rand.get(),
        align: spec.block.ba.get().per_dir().map(|bytes| bytes.map_or(0, |bytes| bytes.0)),
        rwmixread: *spec.order.rwmixread.get(),
        percentage_random: spec.order.percentage_random.get().per_dir(),
        generator: generator(spec),
        generator_chosen: spec.random.random_generator.is_set(),
        distribution: spec.random.random_distribution.get().0.clone(),
        sequence_stride: *spec.random.random_sequence_stride.get(),
        map: map(spec),
        sprandom,
        files: files.collect(),
        open_files: spec.files.openfiles.get().map_or(usize::MAX, |n| n as usize),
        file_service: spec.files.file_service_type.get().0,
        size_bytes: parts.size_bytes.saturating_add(twice),
        queued,
        total_bytes: if io_size_given {
            parts.total_bytes
        } else {
            parts.total_bytes.saturating_add(twice)
        },
        io_size_given,
        number_ios: *spec.order.number_ios.get(),
        loops: u64::from(*spec.job.loops.get()),
        time_based: *spec.time.time_based.get(),
        sync_every: SyncEvery {
            fsync: *spec.durability.fsync.get(),
            fdatasync: *spec.durability.fdatasync.get(),
            range: spec.durability.sync_file_range.get().map_or(0, |range| range.every),
            after_last: false,
        },
        strided: strided(spec),
        zbd: None,
        pace: super::pacing::pace(spec),
        replay: None,
    }
}

fn generator(spec: &JobSpec) -> Generator {
    if *spec.random.sprandom.get() {
        // Its places have an order of their own.
        return Generator::Tausworthe;
    }
    match spec.random.random_generator.get() {
        RandomGenerator::Tausworthe => Generator::Tausworthe,
        RandomGenerator::Tausworthe64 => Generator::Tausworthe64,
        RandomGenerator::Lfsr => Generator::Lfsr,
    }
}

fn map(spec: &JobSpec) -> MapMode {
    if *spec.random.sprandom.get() {
        return MapMode::On;
    }
    match (*spec.random.norandommap.get(), *spec.random.softrandommap.get()) {
        (true, _) => MapMode::Off,
        (false, true) => MapMode::Soft,
        (false, false) => MapMode::On,
    }
}

/// What `sprandom` is given.
fn sprandom(spec: &JobSpec) -> Option<SprandomSpec> {
    let random = &spec.random;
    random.sprandom.get().then(|| SprandomSpec {
        regions: *random.spr_num_regions.get(),
        spare: *random.spr_op.get(),
        cache_bytes: random.spr_cs.get().map_or(0, |bytes| bytes.0),
    })
}

/// Bytes that a pass of `sprandom` writes a second time.
fn bytes_twice(asked: &SprandomSpec, sizes: &PerDir<Sizes>, parts: &Parts) -> u64 {
    let block = u64::from(sizes[Dir::Write].max()).max(1);
    parts.files.iter().map(|file| asked.again(file.bytes / block) * block).sum()
}

/// Whether random streams have 64 bits.
pub(super) fn is_wide(spec: &JobSpec) -> bool {
    *spec.random.random_generator.get() == RandomGenerator::Tausworthe64
}

/// `zonemode=strided`; older jobs only set `zonesize` and `zoneskip`. As in fio,
/// not where several files are to be open at once.
fn strided(spec: &JobSpec) -> Option<Strided> {
    let zones = &spec.zones;
    let openfiles = &spec.files.openfiles;
    if openfiles.is_typed() && openfiles.get().is_some_and(|files| files > 1) {
        return None;
    }
    let size = zones.zonesize.get().0;
    let is_old = *zones.zonemode.get() == ZoneMode::None && size > 0;
    if size == 0 || !(is_old || *zones.zonemode.get() == ZoneMode::Strided) {
        return None;
    }
    let range = match zones.zonerange.get().0 {
        0 => size,
        range => range,
    };
    let skip = match zones.zoneskip.get() {
        Amount::Bytes(bytes) => *bytes,
        _ => 0,
    };
    Some(Strided { size, range, skip })
}

//! Everything a source needs to know, decided beforehand: plain data.

use crate::PaceSpec;
use crate::replay::Steps;
use crate::zbd::ZbdSpec;
use iosonde_base::PerDir;

/// Which directions a job moves data in, and whether at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directions {
    /// It reads.
    pub read: bool,
    /// It writes.
    pub write: bool,
    /// It trims.
    pub trim: bool,
    /// Places are drawn at random (`randread`), not one after another (`read`).
    pub random: bool,
    /// Each trim is followed by a write of the same range (`trimwrite`,
    /// `randtrimwrite`). `write` and `trim` are set too.
    pub trim_then_write: bool,
}

/// What the second to last I/O of a run of `rw=randread:N` do (`rw_sequencer`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequencer {
    /// Each goes on where the last ended.
    #[default]
    Sequential,
    /// Each repeats the last place.
    Identical,
}

/// How many bytes one I/O moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Always this many.
    Fixed(u32),
    /// Always this many, but the last before the end of a file is as long as
    /// what is left there.
    UpToEnd(u32),
    /// Evenly between these two, in steps of `min` unless `bs_unaligned`.
    Range {
        /// The least, and the step.
        min: u32,
        /// The most.
        max: u32,
    },
    /// Each with its share, in percent (`bssplit`); the greatest takes what is left of 100.
    Split(Vec<Share>),
}

/// One size of [`Sizes::Split`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Bytes of one I/O.
    pub bytes: u32,
    /// How many I/Os of a hundred have this size.
    pub percent: u32,
}

impl Sizes {
    /// The smallest I/O that can come, in bytes.
    pub fn min(&self) -> u32 {
        match self {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::UpToEnd(bytes) => 1.min(*bytes),
            Sizes::Range { min, .. } => *min,
            Sizes::Split(shares) => shares.iter().map(|share| share.bytes).min().unwrap_or(0),
        }
    }

    /// The largest I/O that can come, in bytes.
    pub fn max(&self) -> u32 {
        match self {
            Sizes::Fixed(bytes) | Sizes::UpToEnd(bytes) => *bytes,
            Sizes::Range { max, .. } => *max,
            Sizes::Split(shares) => shares.iter().map(|share| share.bytes).max().unwrap_or(0),
        }
    }
}

/// Where random numbers for places come from (`random_generator`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// 32 bits at a time; a file of more than 2^32 blocks takes the next one
    /// instead, and [`Source::notes`](crate::Source::notes) says so.
    #[default]
    Tausworthe,
    /// 64 bits at a time.
    Tausworthe64,
    /// A shift register that visits each block once, without a map.
    Lfsr,
}

/// How random places are spread over a file (`random_distribution`).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Evenly.
    #[default]
    Random,
    /// Few blocks are very hot.
    Zipf {
        /// The exponent: above 0, not 1.
        theta: f64,
        /// Where the hottest block lies, 0 to 1 of the file; none: by the
        /// file's name and the seed.
        center: Option<f64>,
    },
    /// Few blocks are hot, by another law.
    Pareto {
        /// Its input, above 0 and below 1.
        h: f64,
        /// As for zipf.
        center: Option<f64>,
    },
    /// A bell.
    Normal {
        /// The deviation in percent of the file, 0 to 100.
        deviation: f64,
        /// Where the top of the bell lies, 0 to 1 of the file.
        center: Option<f64>,
    },
    /// Parts of the file, in percent, with shares of the I/Os; one list for
    /// each direction.
    Zoned(PerDir<Vec<Zone>>),
    /// The same with `size` in bytes.
    ZonedAbs(PerDir<Vec<Zone>>),
    /// These blocks, in this order, over and over; each file by itself.
    Sequence(Vec<u64>),
}

/// A part of a file and its share of the I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// How many I/Os of a hundred fall here.
    pub percent: u32,
    /// Its size: percent of the file ([`Distribution::Zoned`]) or bytes
    /// ([`Distribution::ZonedAbs`]).
    pub size: u64,
}

/// Whether each block is visited once before any is visited again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapMode {
    /// Keep a map of the blocks visited; refuse if it does not fit in memory.
    #[default]
    On,
    /// Keep none (`norandommap`).
    Off,
    /// Keep one if it fits, go without otherwise (`softrandommap`).
    Soft,
}

/// One file of the job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, the directory included: zipf, pareto and normal start from it.
    pub name: String,
    /// First byte used.
    pub offset: u64,
    /// How many bytes from `offset` on are used.
    pub size: u64,
    /// Where the file ends, counted from its first byte: no I/O reaches past
    /// it. At least `offset` + `size` in the plain case.
    pub end: u64,
    /// First byte used from the second pass on, where that is another: an
    /// offset in percent, or at the end of the file, depends on the size that the
    /// file has then.
    pub later_offset: Option<u64>,
}

/// Which file is next (`file_service_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FilePick {
    /// In turn.
    #[default]
    RoundRobin,
    /// The next one once this one is done.
    Sequential,
    /// At random.
    Random,
    /// At random, few files being hot.
    Zipf {
        /// As for [`Distribution::Zipf`].
        theta: f64,
        /// Where the hottest file lies.
        center: Option<f64>,
    },
    /// The same by another law.
    Pareto {
        /// As for [`Distribution::Pareto`].
        h: f64,
        /// Where the hottest file lies.
        center: Option<f64>,
    },
    /// A bell over the files.
    Normal {
        /// As for [`Distribution::Normal`].
        deviation: f64,
        /// Where the top lies.
        center: Option<f64>,
    },
}

/// Which file is next, and for how many I/Os.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileService {
    /// How it is picked.
    pub pick: FilePick,
    /// How many I/Os go to a file before another is picked; at least 1.
    pub every: u32,
}

impl Default for FileService {
    fn default() -> FileService {
        FileService { pick: FilePick::RoundRobin, every: 1 }
    }
}

/// After how many writes a sync of each kind follows; 0 for never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncEvery {
    /// `fsync=N`.
    pub fsync: u32,
    /// `fdatasync=N`.
    pub fdatasync: u32,
    /// `sync_file_range=...:N`.
    pub range: u32,
    /// A sync that is due after the last write is done as well. fio does so
    /// only after each write; jobs that the program makes itself want it.
    pub after_last: bool,
}

/// I/O in zones with gaps between (`zonemode=strided`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Bytes of I/O, in all files, before the next zone (`zonesize`); more than
    /// a zone has begin it again.
    pub size: u64,
    /// Bytes the zone extends over (`zonerange`).
    pub range: u64,
    /// Bytes left out between two zones (`zoneskip`).
    pub skip: u64,
}

/// Everything a [`Source`](crate::Source) needs to know. All decided: no
/// "unset", no text to parse.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSpec {
    /// Number of the job, from 1 over all jobs of the run: part of its seeds.
    pub thread_number: u32,
    /// The seed (`randseed`; fio's default is 0x89).
    pub randseed: u64,
    /// Draw the same numbers again in every loop (`randrepeat` without
    /// `randseed`).
    pub repeat: bool,
    /// Writes draw their sizes from the stream of reads, so that a job that
    /// verifies reads what it wrote (`verify`).
    pub verify: bool,
    /// What a pass wrote is read back at its end. Where passes leave holes
    /// (`rw=write:8k`), that counts towards `total_bytes`, as in fio.
    pub reads_back: bool,
    /// What was written is read back among the writes (`verify_backlog`).
    pub reads_back_among: bool,
    /// What moves, and whether at random.
    pub directions: Directions,
    /// I/Os of a run in a random job before a new place is drawn
    /// (`rw=randread:8`); at least 1.
    pub seq_nr: u32,
    /// What the rest of a run does.
    pub sequencer: Sequencer,
    /// Bytes left out between sequential I/Os (`rw=read:8k`); backwards if
    /// negative.
    pub seq_add: i64,
    /// Bytes of one I/O.
    pub sizes: PerDir<Sizes>,
    /// Sizes of a range need not be multiples of its least.
    pub bs_unaligned: bool,
    /// `sizes` are for sequential (read) and random (write) I/Os instead of
    /// for directions.
    pub bs_is_seq_rand: bool,
    /// Random places are multiples of this (`blockalign`); 0 for the least
    /// size.
    pub align: PerDir<u64>,
    /// Reads in a hundred I/Os of a mixed job.
    pub rwmixread: u32,
    /// How many of a hundred I/Os of a random job are random
    /// (`percentage_random`).
    pub percentage_random: PerDir<u32>,
    /// Where numbers for places come from.
    pub generator: Generator,
    /// Whether the user chose it, so that it is not changed for a large file.
    pub generator_chosen: bool,
    /// How places are spread.
    pub distribution: Distribution,
    /// Each pass through [`Distribution::Sequence`] is shifted by as many blocks as
    /// are listed (`random_sequence_stride`).
    pub sequence_stride: bool,
    /// Whether blocks are visited once.
    pub map: MapMode,
    /// Precondition an SSD: each block is written once, and some again. Of one file, with a
    /// map and blocks of one size.
    pub sprandom: Option<SprandomSpec>,
    /// The files, at least one.
    pub files: Vec<SourceFile>,
    /// How many may be open at once; at least 1. When less than
    /// `files.len()`, the ring carries `Op::Open` and `Op::Close`.
    pub open_files: usize,
    /// Which file is next.
    pub file_service: FileService,
    /// Bytes of one pass over the files: `size`, or the sum of their ranges
    /// where that is less. Only engines with a queue go by it.
    pub size_bytes: u64,
    /// I/Os are queued, and do not complete before they are handed back: when a
    /// pass ends depends on that, as in fio.
    pub queued: bool,
    /// Bytes of one loop: `io_size`, or the sum of the sizes. `u64::MAX` for
    /// no limit (`fill_device`).
    pub total_bytes: u64,
    /// `io_size` was given: passes over the files go on until `total_bytes`
    /// have been moved, even when the files are done before.
    pub io_size_given: bool,
    /// I/Os of one loop, syncs not counted; 0 for no limit (`number_ios`).
    /// As in fio, a time-based job does not look at it.
    pub number_ios: u64,
    /// Loops; at least 1. Limits count over all of them.
    pub loops: u64,
    /// Go on for ever: the caller's clock ends the job.
    pub time_based: bool,
    /// Syncs between writes.
    pub sync_every: SyncEvery,
    /// Zones with gaps.
    pub strided: Option<Strided>,
    /// Zones with write pointers (`zonemode=zbd`).
    pub zbd: Option<ZbdSpec>,
    /// How fast each direction may go. Reads and writes of a mixed job follow
    /// their paces instead of `rwmixread` where one has any, as in fio.
    pub pace: PaceSpec,
    /// Do these, as they were recorded, and nothing else: of the rest only the
    /// names of the files count.
    pub replay: Option<Steps>,
}

impl Default for SourceSpec {
    /// A sequential read of nothing in particular, in blocks of 4 KiB; give it
    /// files and a total.
    fn default() -> SourceSpec {
        SourceSpec {
            thread_number: 1,
            randseed: 0x89,
            repeat: true,
            verify: false,
            reads_back: false,
            reads_back_among: false,
            directions: Directions { read: true, ..Directions::default() },
            seq_nr: 1,
            sequencer: Sequencer::Sequential,
            seq_add: 0,
            sizes: PerDir::all(Sizes::Fixed(4096)),
            bs_unaligned: false,
            bs_is_seq_rand: false,
            align: PerDir::all(0),
            rwmixread: 50,
            percentage_random: PerDir::all(100),
            generator: Generator::Tausworthe,
            generator_chosen: false,
            distribution: Distribution::Random,
            sequence_stride: false,
            map: MapMode::On,
            sprandom: None,
            files: Vec::new(),
            open_files: usize::MAX,
            file_service: FileService::default(),
            size_bytes: u64::MAX,
            queued: false,
            total_bytes: u64::MAX,
            io_size_given: false,
            number_ios: 0,
            loops: 1,
            time_based: false,
            sync_every: SyncEvery::default(),
            strided: None,
            zbd: None,
            pace: PaceSpec::default(),
            replay: None,
        }
    }
}

/// What `sprandom` is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SprandomSpec {
    /// Regions (`spr_num_regions`), at least 2.
    pub regions: u32,
    /// Flash beyond the drive's capacity, as a part of that (`spr_op`), 0 to 1.
    pub spare: f64,
    /// Bytes of the drive's cache (`spr_cs`): a block is not written again while its first
    /// copy may still be there.
    pub cache_bytes: u64,
}

impl SprandomSpec {
    /// How many of `blocks` are written twice in a pass.
    pub fn again(&self, blocks: u64) -> u64 {
        (blocks as f64 * self.spare) as u64
    }
}

/// Why a spec makes no source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// There is no file.
    NoFile,
    /// No direction is set, or a combination that no `rw` word means.
    NoDirection,
    /// A size of zero, an empty range, no share, or shares above 100 together.
    BadSizes,
    /// The map of the blocks visited does not fit in memory.
    NoMemory {
        /// The file's name.
        name: String,
        /// Its blocks; the map takes a bit each.
        blocks: u64,
    },
    /// A file has more blocks than the shift register can count.
    LfsrTooLarge {
        /// Blocks of the file.
        blocks: u64,
    },
    /// A number of the distribution is outside its range, or a list is empty.
    BadDistribution,
    /// A block of [`Distribution::Sequence`] that its file does not have.
    NoSuchBlock {
        /// The file's name.
        name: String,
        /// Which block.
        block: u64,
        /// How many the file has.
        blocks: u64,
    },
    /// A percentage above 100.
    BadPercentage,
    /// A count that must be at least 1 is zero: `seq_nr`, `loops`.
    BadCount,
    /// A file's last byte would be past 2^63.
    FileTooLarge {
        /// Its name.
        name: String,
    },
    /// Zones without size, or beyond any file.
    BadZones,
    /// `sprandom` has regions that do not suit its blocks or the cache.
    UnsuitedRegions {
        /// How many.
        regions: u32,
        /// Bytes of one.
        region_bytes: u64,
    },
    /// `sprandom` has more than one file.
    SprandomOfOneFile,
    /// The blocks of a region of `sprandom` do not fit in memory.
    NoMemoryForRegion {
        /// Blocks of a region, which take 8 bytes each.
        blocks: u64,
        /// How many regions there are.
        regions: u32,
    },
}

impl std::fmt::Display for SpecError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpecError::NoFile => f.write_str("the job has no file"),
            SpecError::NoDirection => f.write_str("the job neither reads, writes nor trims"),
            SpecError::BadSizes => f.write_str(
                "block sizes are zero, reversed, or their shares are above 100% together",
            ),
            SpecError::NoMemory { name, blocks } => write!(
                f,
                "no memory for the random map of {name} ({blocks} blocks, a bit each); use softrandommap=1, \
                 norandommap=1 or random_generator=lfsr"
            ),
            SpecError::LfsrTooLarge { blocks } => {
                write!(f, "random_generator=lfsr cannot count {blocks} blocks; use tausworthe64")
            }
            SpecError::UnsuitedRegions { regions, region_bytes } => write!(
                f,
                "sprandom: {regions} regions of {region_bytes} bytes do not suit the size or spr_cs: \
                 give another spr_num_regions, or a smaller spr_cs"
            ),
            SpecError::SprandomOfOneFile => {
                f.write_str("sprandom=1 takes one file or device for each job")
            }
            SpecError::NoMemoryForRegion { blocks, regions } => write!(
                f,
                "sprandom: no memory for {blocks} blocks of a region, 8 bytes each, with {regions} \
                 regions: give a larger spr_num_regions"
            ),
            SpecError::BadDistribution => {
                f.write_str("a parameter of the random distribution is out of range")
            }
            SpecError::NoSuchBlock { name, block, blocks } => write!(
                f,
                "random_distribution=sequence names block {block}, and {name} has {blocks}, from 0"
            ),
            SpecError::BadPercentage => f.write_str("a percentage is above 100"),
            SpecError::BadCount => f.write_str("a count that must be at least 1 is zero"),
            SpecError::FileTooLarge { name } => write!(f, "{name} would reach past 2^63 bytes"),
            SpecError::BadZones => f.write_str("zonesize or zonerange is zero, or beyond any file"),
        }
    }
}

impl std::error::Error for SpecError {}

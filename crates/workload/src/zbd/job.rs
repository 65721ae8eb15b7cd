//! Where one job stands among its zones.

use super::range::ZoneRange;
use super::{ZbdSpec, ZoneShare};
use crate::choose::ChosenStart;
use crate::spec::SourceSpec;
use iosonde_base::{Dir, FileId, Op, Planned};
use std::collections::VecDeque;

/// What is to be done with an I/O that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// Issue it here.
    At {
        /// Its first byte.
        offset: u64,
        /// Its bytes.
        len: u32,
    },
    /// Place it again once this zone was reset,
    AfterReset(usize),
    /// was finished,
    AfterFinish(usize),
    /// or a write in flight has ended.
    AfterWrite,
    /// There is no place for it, nor will there be: the file is done.
    Nowhere,
}

/// An I/O that was drawn and has no place yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub file: usize,
    pub dir: Dir,
    pub start: ChosenStart,
    pub len: u32,
    /// Writes: the zone to begin the search at; none where there is no further one.
    pub from: Option<usize>,
    /// Writes: the zone that was chosen.
    pub chosen: Option<usize>,
    /// Whether this write was counted for `zone_reset_threshold`.
    pub counted: bool,
    /// Whether that resets the zone.
    pub resets: bool,
}

impl Drawn {
    pub fn new(file: usize, dir: Dir, start: ChosenStart, len: u32, zone: usize) -> Drawn {
        let (from, chosen) = (Some(zone), None);
        Drawn { file, dir, start, len, from, chosen, counted: false, resets: false }
    }
}

/// The part of a job's rules that a placement needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Number of the job.
    pub job: u32,
    /// Places are drawn.
    pub random: bool,
    /// Zones that hold data must not be reset: the data is to be verified.
    pub keeps_data: bool,
    /// See [`ZbdSpec`].
    pub read_beyond_wp: bool,
    pub job_open_max: usize,
    pub write_remainder: bool,
    /// The least sizes of reads and of writes, in bytes.
    pub least: [u64; 2],
}

/// One job among its zones.
#[derive(Debug)]
pub(crate) struct ZbdJob {
    pub spec: ZbdSpec,
    pub rules: Rules,
    pub ranges: Vec<ZoneRange>,
    /// Drawn, and not issued.
    pub drawn: Option<Drawn>,
    /// Commands that come before anything is drawn.
    pub before: VecDeque<Planned>,
    /// A write of this pass was planned in a file.
    pub wrote: Vec<bool>,
    /// Writes above the threshold until the next zone is reset; none where no zone is.
    pub countdown: Option<u64>,
    /// Zones that held data and were reset.
    pub resets: u64,
}

impl ZbdJob {
    /// Before the first I/O; none for a job without `zonemode=zbd`.
    pub fn new(spec: &SourceSpec) -> Option<ZbdJob> {
        let zbd = spec.zbd.clone()?;
        let range = |(share, file): (&ZoneShare, &crate::spec::SourceFile)| {
            ZoneRange::new(&share.lock(), file.offset, file.size)
        };
        let writes_verified = spec.verify && spec.directions.write;
        let rules = Rules {
            job: spec.thread_number,
            random: spec.directions.random,
            keeps_data: writes_verified,
            read_beyond_wp: zbd.read_beyond_wp,
            job_open_max: zbd.job_open_max,
            write_remainder: zbd.write_remainder,
            least: [Dir::Read, Dir::Write].map(|dir| u64::from(spec.sizes[dir].min())),
        };
        let mut job = ZbdJob {
            ranges: zbd.files.iter().zip(&spec.files).map(range).collect(),
            wrote: vec![false; spec.files.len()],
            spec: zbd,
            rules,
            drawn: None,
            before: VecDeque::new(),
            countdown: None,
            resets: 0,
        };
        if spec.directions.write {
            job.take_reported_open();
        }
        job.begin_pass();
        Some(job)
    }

    /// Zones of its ranges that are open on the device count as open.
    fn take_reported_open(&mut self) {
        for (share, range) in self.spec.files.iter().zip(&self.ranges) {
            share.lock().take_reported_open(range.zones.clone(), self.rules.job);
        }
    }

    /// A pass over the files begins. Data that is verified later goes to empty zones.
    pub(crate) fn begin_pass(&mut self) {
        self.drawn = None;
        self.wrote.fill(false);
        self.countdown = self.period();
        if self.rules.keeps_data && !self.spec.imagined {
            self.before = self.resets_before_writing();
        } else if self.spec.imagined {
            self.spec.files.iter().for_each(|share| share.lock().clear());
        }
    }

    /// Writes above the threshold for each reset.
    pub fn period(&self) -> Option<u64> {
        let rule = self.spec.reset.filter(|rule| rule.threshold > 0.0 && rule.frequency > 0.0)?;
        // At least one, as frequencies are at most 1; beyond 2^64 it saturates.
        Some((1.0 / rule.frequency) as u64)
    }

    fn resets_before_writing(&self) -> VecDeque<Planned> {
        let mut resets = VecDeque::new();
        for (file, (share, range)) in self.spec.files.iter().zip(&self.ranges).enumerate() {
            let table = share.lock();
            let holds_data = |zone: &usize| {
                table.is_sequential(*zone) && table.is_usable(*zone) && table.written(*zone) > 0
            };
            let zones = range.zones.clone().filter(holds_data);
            resets.extend(zones.map(|zone| command(Op::ZoneReset, file, table.start(zone))));
        }
        resets
    }
}

impl Drop for ZbdJob {
    /// Other jobs do not wait for writes of a job that has ended.
    fn drop(&mut self) {
        for share in &self.spec.files {
            share.lock().forget_writer(self.rules.job);
            share.notify();
        }
    }
}

/// A command to the zone that begins at `offset`.
pub(crate) fn command(op: Op, file: usize, offset: u64) -> Planned {
    Planned { op, file: FileId(file as u32), offset, len: 0 }
}

//! The writes that a job would have made to a place, drawn again without
//! I/O, as `verify_only` does.

use iosonde_base::{Op, Ring};
use iosonde_run::job::{JobPlan, VerifyPlan};
use iosonde_session::Personality;
use iosonde_session::jobs::without_effect;
use iosonde_session::prepare::{PrepareError, Prepared, parse, prepare_parsed};
use iosonde_verify::{BlockFormat, BlockIdentity, WriteSeeds};
use iosonde_workload::{Refill, Source};
use std::path::Path;

/// The form of a job's blocks, and its last write to a place.
#[derive(Clone, Debug)]
pub struct PlannedBlock {
    /// How its blocks are made.
    pub format: BlockFormat,
    /// Bytes of its shortest I/O, and where the first of them begins: where a
    /// block begins, if its write is not known.
    pub grid: (u64, usize),
    /// The last write, if the job is known and writes there.
    pub write: Option<PlannedWrite>,
    /// Why there is no such write.
    pub why_none: Option<String>,
}

/// One write of a job.
#[derive(Clone, Debug)]
pub struct PlannedWrite {
    /// The job's name.
    pub job: String,
    /// Where it begins, its bytes.
    pub offset: u64,
    /// Its bytes.
    pub len: usize,
    /// Number, seed, thread.
    pub identity: BlockIdentity,
    /// How many writes of the job touch the byte, this one included.
    pub writes: u64,
}

impl PlannedBlock {
    /// What `words`, a job file or options of jobs, write to `offset` of
    /// `path`. None without any words. `thread` is the number of the job in
    /// the header on the medium, which decides between jobs of one file.
    ///
    /// # Errors
    /// The reasons, a line each.
    pub fn of(
        words: &[String],
        path: &Path,
        offset: u64,
        thread: Option<u32>,
    ) -> Result<Option<PlannedBlock>, Vec<String>> {
        if words.is_empty() {
            return Ok(None);
        }
        let refuse = |why: String| vec![format!("iosonde: diagnose: {why}")];
        let (words, form_only) = complete(words, path);
        let parsed = parse(Personality::Native, &words);
        if let Some(why) = without_effect(&parsed.flags, "the block is printed, and no report") {
            return Err(refuse(why));
        }
        let Prepared { plan, .. } = prepare_parsed(Personality::Native, parsed)
            .map_err(|PrepareError { reasons, .. }| reasons)?;
        let mut blocks = Vec::new();
        let mut unverified = None;
        for job in &plan.jobs {
            let Some(file) = job.files.iter().position(|file| is_same(&file.path, path)) else {
                continue;
            };
            match &job.verify {
                Some(verify) => blocks.push((job.number, block(job, verify, file, offset)?)),
                None => unverified = Some(&job.name),
            }
        }
        if blocks.is_empty() {
            return Err(refuse(match unverified {
                Some(job) => format!("job {job} does not verify: add the verify options"),
                None => format!("no job writes to {}: check filename", path.display()),
            }));
        }
        let mut block = chosen(blocks, thread);
        if form_only {
            (block.write, block.why_none) = (None, Some("no job is named, only its form".into()));
        }
        Ok(Some(block))
    }
}

/// Of the jobs of one file, the one with the header's number, else the
/// last that writes there.
fn chosen(blocks: Vec<(u32, PlannedBlock)>, thread: Option<u32>) -> PlannedBlock {
    let writes = |(_, block): &&(u32, PlannedBlock)| block.write.is_some();
    let named = blocks.iter().find(|(number, _)| Some(*number) == thread);
    let last = || blocks.iter().rev().find(writes);
    let (_, block) = named.or_else(last).unwrap_or(&blocks[0]);
    block.clone()
}

/// The words as a whole command line of a job; and whether they say nothing of
/// what it does.
fn complete(words: &[String], path: &Path) -> (Vec<String>, bool) {
    let has = |names: &[&str]| {
        words.iter().any(|word| {
            let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
            word.starts_with('-') && names.contains(&name)
        })
    };
    if words.iter().any(|word| !word.starts_with('-')) {
        return (words.to_vec(), false);
    }
    let mut all = Vec::new();
    if !has(&["name"]) {
        all.push("--name=diagnose".to_owned());
    }
    all.extend(words.iter().cloned());
    if !has(&["filename", "directory"]) {
        all.push(format!("--filename={}", path.display().to_string().replace(':', "\\:")));
    }
    let form_only = !has(&["rw", "readwrite"]);
    if form_only {
        all.push("--rw=write".to_owned());
    }
    (all, form_only)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn block(
    job: &JobPlan,
    verify: &VerifyPlan,
    file: usize,
    offset: u64,
) -> Result<PlannedBlock, Vec<String>> {
    use iosonde_base::Dir;
    let dir = if job.dirs[Dir::Write] { Dir::Write } else { Dir::Read };
    let format = verify.spec.format.clone();
    let grid = (job.files[file].offset, job.source.sizes[dir].min() as usize);
    let mut block = PlannedBlock { format, grid, write: None, why_none: None };
    if !job.dirs[Dir::Write] {
        block.why_none = Some(format!("job {} only reads", job.name));
        return Ok(block);
    }
    let mut source = Source::new(job.source.clone())
        .map_err(|error| vec![format!("iosonde: diagnose: job {}: {error}", job.name)])?;
    if source.depends_on_time() {
        block.why_none = Some(format!("the writes of job {} depend on its rates", job.name));
        return Ok(block);
    }
    block.write = last_write(job, verify, &mut source, (file, offset));
    if block.write.is_none() {
        block.why_none = Some(format!("job {} does not write to this offset", job.name));
    }
    Ok(block)
}

/// Draw all writes of the job, and keep the last that touches the byte.
fn last_write(
    job: &JobPlan,
    verify: &VerifyPlan,
    source: &mut Source,
    (file, byte): (usize, u64),
) -> Option<PlannedWrite> {
    let spec = &verify.spec;
    let new_seeds = || WriteSeeds::new(spec.randseed, spec.thread, spec.wide);
    let seeded = spec.format.content().uses_seed();
    let (mut seeds, mut number, mut writes) = (new_seeds(), 0u64, 0u64);
    let (mut last, mut ring) = (None, Ring::default());
    loop {
        match source.refill(&mut ring) {
            Refill::Planned => {}
            // A clock ends that job, not its writes: one pass is drawn.
            Refill::PassDone if !job.source.time_based => {
                source.next_pass();
                if spec.repeat {
                    seeds = new_seeds();
                }
                continue;
            }
            _ => return last,
        }
        while let Some(entry) = ring.pop() {
            if entry.op != Op::Write {
                continue;
            }
            let seed = if seeded { seeds.draw() } else { 0 };
            let end = entry.offset.saturating_add(u64::from(entry.len));
            if entry.file.0 as usize == file && (entry.offset..end).contains(&byte) {
                writes += 1;
                // fio keeps the low half of a job's number.
                let thread = spec.thread as u16;
                let offset = entry.offset;
                let identity = BlockIdentity { seed, offset, number, thread, ..Default::default() };
                let len = entry.len as usize;
                last = Some(PlannedWrite { job: job.name.clone(), offset, len, identity, writes });
            }
            number += 1;
        }
    }
}

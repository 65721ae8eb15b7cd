//! A random job: engine, depth, sizes.

use super::Stage;
use crate::Caching;

/// The file that a job works on and that has faults.
pub(crate) const DATA: &str = "data";

/// An engine, and how it needs its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    pub(crate) has_queue: bool,
    pub(crate) caching: Caching,
}

const fn engine(name: &'static str, has_queue: bool) -> Engine {
    Engine { name, has_queue, caching: Caching::None }
}

/// Engines whose I/Os are one request each.
pub(crate) const EXACT: [Engine; 8] = [
    engine("psync", false),
    engine("sync", false),
    engine("vsync", false),
    engine("pvsync", false),
    engine("pvsync2", false),
    engine("libaio", true),
    engine("io_uring", true),
    engine("posixaio", true),
];

/// Engines through the page cache.
pub(crate) const CACHED: [Engine; 4] = [
    Engine { name: "mmap", has_queue: false, caching: Caching::Pages },
    Engine { name: "psync", has_queue: false, caching: Caching::Pages },
    Engine { name: "io_uring", has_queue: true, caching: Caching::Pages },
    Engine { name: "pvsync2", has_queue: false, caching: Caching::Pages },
];

/// A job as it is drawn; more options are added by its scene.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) engine: Engine,
    pub(crate) depth: u64,
    pub(crate) block: usize,
    pub(crate) blocks: usize,
    options: Vec<String>,
}

impl Job {
    /// One on the file `data` of the stage's mount.
    pub(crate) fn draw(stage: &mut Stage<'_>, engines: &[Engine], blocks: &[usize]) -> Job {
        let dice = &mut stage.dice;
        let engine = dice.pick(engines);
        let depth = if engine.has_queue { dice.pick(&[1, 2, 4, 16]) } else { 1 };
        let block = dice.pick(blocks);
        let count = 16 + dice.below(112) as usize;
        let file = stage.mount.join(DATA);
        let mut job = Job { engine, depth, block, blocks: count, options: Vec::new() };
        job.add("--extend --name=j --output-format=json");
        job.add(&format!("--filename={} --ioengine={}", file.display(), engine.name));
        job.add(&format!("--bs={block} --size={} --iodepth={depth}", job.bytes()));
        // One request for each I/O also where the kernel could merge them.
        if engine.caching == Caching::None && block >= 4096 && dice.happens(500) {
            job.add("--direct=1");
        }
        job
    }

    /// More options, in one line.
    pub(crate) fn add(&mut self, line: &str) {
        self.options.extend(line.split_whitespace().map(str::to_owned));
    }

    /// The options as arguments, and more.
    pub(crate) fn arguments(&self, more: &str) -> Vec<String> {
        let more = more.split_whitespace().map(str::to_owned);
        self.options.iter().cloned().chain(more).collect()
    }

    /// Length of its file.
    pub(crate) fn bytes(&self) -> usize {
        self.block * self.blocks
    }
}

//! Many seeds, several at a time.

use super::{Bench, Scene, SeedResult, scene_of};
use crate::with_own_mounts;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Which seeds, and for how long.
#[derive(Clone, Debug)]
pub struct Seeds {
    /// The first; the others follow it.
    pub first: u64,
    /// How many at most.
    pub count: u64,
    /// Only seeds of this scene, if any; the others are passed over.
    pub scene: Option<Scene>,
    /// Begin none after this moment.
    pub until: Option<Instant>,
    /// How many at a time.
    pub at_once: usize,
}

/// What all seeds of one scene have come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct SceneTotals {
    /// Seeds that ran.
    pub seeds: u64,
    /// Faults injected in them.
    pub injected: u64,
    /// Seeds with a finding.
    pub failed: u64,
    /// Seeds that cannot run here.
    pub skipped: u64,
}

impl Bench {
    /// Run all `seeds`; `each` sees every result as it comes. An error where
    /// no file system can be mounted.
    pub fn run_all(
        &self,
        seeds: &Seeds,
        mut each: impl FnMut(u64, &SeedResult),
    ) -> Result<BTreeMap<Scene, SceneTotals>, String> {
        let next = AtomicU64::new(0);
        let mut totals: BTreeMap<Scene, SceneTotals> = BTreeMap::new();
        let (sender, results) = mpsc::channel();
        let work = |sender: mpsc::Sender<(u64, SeedResult)>| {
            with_own_mounts(|| {
                while seeds.until.is_none_or(|until| Instant::now() < until) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= seeds.count {
                        break;
                    }
                    let seed = seeds.first + at;
                    if seeds.scene.is_some_and(|scene| scene != scene_of(seed)) {
                        continue;
                    }
                    // The receiver lives as long as this scope.
                    let _ = sender.send((seed, self.run(seed)));
                }
            })
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..seeds.at_once.max(1))
                .map(|_| {
                    let sender = sender.clone();
                    scope.spawn(|| work(sender))
                })
                .collect();
            drop(sender);
            for (seed, result) in results {
                let total = totals.entry(scene_of(seed)).or_default();
                if result.skipped.is_some() {
                    total.skipped += 1;
                } else {
                    total.seeds += 1;
                }
                total.injected += result.injected;
                total.failed += u64::from(!result.findings.is_empty());
                each(seed, &result);
            }
            for worker in workers {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            Ok(totals)
        })
    }
}

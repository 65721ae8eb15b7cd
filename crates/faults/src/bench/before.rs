//! The files that lie on the failing storage before a job runs.

use super::Findings;
use super::Stage;
use super::job::{DATA, Job};
use crate::{Dice, FaultMount, Rule, Script, Store};

/// A file of the user beside it, which nothing may change.
pub(crate) const BYSTANDER: &str = "letters";
const BYSTANDER_BYTES: usize = 10_000;

/// What is in them.
pub(crate) struct Before {
    data: Vec<u8>,
    letters: Vec<u8>,
}

impl Stage<'_> {
    /// The job's file and another beside it, on storage that fails by `rules`.
    pub(crate) fn store(&mut self, job: &Job, rules: Vec<Rule>) -> (Store, Before) {
        let data = content(&mut self.dice, job.bytes());
        let letters = content(&mut self.dice, BYSTANDER_BYTES);
        let store = Store::new(Script::new(self.seed, rules), DATA)
            .with_file(DATA, data.clone())
            .with_file(BYSTANDER, letters.clone());
        (store, Before { data, letters })
    }

    /// Mount it as the job's engine needs it.
    pub(crate) fn serve(&self, store: Store, job: &Job) -> Result<FaultMount, String> {
        FaultMount::mount(store, job.engine.caching, &self.mount)
    }
}

impl Before {
    /// The file beside is as it was, and the job's own, too, if it only reads.
    pub(crate) fn compare(&self, store: &Store, pattern: &str, findings: &mut Findings<'_>) {
        if pattern.ends_with("read") {
            let is_same = store.content(DATA) == Some(&self.data[..]);
            findings.must(is_same, || "a job of reads changed its file".to_owned());
        }
        findings.must(store.content(BYSTANDER) == Some(&self.letters[..]), || {
            "it changed another file".to_owned()
        });
    }
}

/// Random bytes.
pub(crate) fn content(dice: &mut Dice, bytes: usize) -> Vec<u8> {
    let mut content = vec![0; bytes];
    dice.fill(&mut content);
    content
}

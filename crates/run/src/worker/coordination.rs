//! A job among others: turns at files that are locked, commands around it.

use super::Worker;
use super::commands::{self, When};
use crate::job::JobError;
use iosonde_base::Errno;
use iosonde_engine::{Ended, Failure};

impl Worker<'_> {
    /// `exec_prerun`: after the delay, and the job starts after it.
    pub(super) fn prerun(&mut self) {
        let Some(command) = &self.job.coordination.before else { return };
        if self.job.layout.only || self.error.is_some() {
            return;
        }
        let control = &self.shared.control;
        let done = commands::run(&self.job.name, When::Before, command, &|| control.stop_asked());
        if let Err(words) = done {
            self.error = Some(JobError::other("exec_prerun", Errno::ECANCELED, &words));
        }
        self.start = self.clock.now();
        self.end_phase("prerun");
    }

    /// `exec_postrun`: however the job ended. A failure is only noted.
    pub(super) fn postrun(&mut self) {
        let Some(command) = &self.job.coordination.after else { return };
        if self.job.layout.only {
            return;
        }
        if let Err(words) = commands::run(&self.job.name, When::After, command, &|| false) {
            self.notes.push(format!("exec_postrun of job {}: {words}", self.job.name));
        }
    }

    /// Run until the slice ends. A page of the buffers' file that is lost ends the job.
    pub(super) fn run_slice(&mut self, ends: u64) -> Ended {
        let ended = self.run_turn(ends);
        // Blocks are wrong where the buffers that they were written from are.
        let is_other = matches!(&ended, Ended::Failed(failure) if failure.doing != "verify");
        if is_other || !self.drive.memory.has_lost_pages() {
            return ended;
        }
        Ended::Failed(Failure {
            detail: Some(
                "I/O error on a page of the file of iomem (SIGBUS): was the file truncated?",
            ),
            ..Failure::engine("use the buffers", Errno::EIO)
        })
    }

    /// Where files are locked, in turns with others.
    fn run_turn(&mut self, ends: u64) -> Ended {
        /// Long enough that taking turns costs little, short enough to be fair.
        const TURN_NS: u64 = 1_000_000;
        let shared = self.shared;
        let Some(turn) = &shared.with_others.turn else {
            return self.engine.run(&mut self.drive);
        };
        let _held = turn.take();
        shared.control.arm(ends.min(self.clock.after(self.clock.now(), TURN_NS)));
        let ended = self.engine.run(&mut self.drive);
        // What flies is I/O to the files: it comes back before they are let go.
        match self.engine.drain(&mut self.drive) {
            Err(failure) if matches!(ended, Ended::Time) => Ended::Failed(failure),
            _ => ended,
        }
    }
}

//! Name of a job, number of clones, order of jobs.

use iosonde_options::{Built, Category, FioSupport, options};

use crate::values::Profile;

options! {
    /// Job
    pub struct JobOptions in Category::General {
        /// Text that is repeated in reports.
        description: Option<String> = "" as "description" {
            good: &["nightly run"],
        }
        /// The name of the job.
        ///
        /// On the command line it also begins a new job.
        name: Option<String> = "" as "name" {
            good: &["reader"],
        }
        /// Number of times the job is run.
        ///
        /// Ignored with `time_based`.
        loops: u32 = "1" as "loops" {
            min: Some(0),
            good: &["1", "3"],
        }
        /// Number of clones of the job that run at the same time.
        numjobs: u32 = "1" as "numjobs" {
            min: Some(0),
            good: &["1", "16"],
        }
        /// Wait for all earlier jobs to end before this one starts.
        ///
        /// Later jobs wait as well, and a new reporting group begins.
        stonewall: bool = "0" as "stonewall" | "wait_for_previous" {
            category: Category::Process,
            bare: Some("1"),
        }
        /// Begin a new reporting group with this job.
        new_group: bool = "0" as "new_group" {
            category: Category::Stat,
            bare: Some("1"),
        }
        /// Report the jobs of a reporting group as one.
        group_reporting: bool = "0" as "group_reporting" {
            category: Category::Stat,
            bare: Some("1"),
        }
        /// Run as a thread rather than as a process.
        thread: bool = "0" as "thread" {
            category: Category::Process,
            bare: Some("1"),
            fio: FioSupport::Differs("jobs are threads either way; `thread=0` is accepted"),
        }
        /// Wait for all clones of the named job to end before this one starts.
        ///
        /// The named job must be defined before this one, and its name must be unique.
        wait_for: Option<String> = "" as "wait_for" {
            category: Category::Process,
            good: &["writer"],
        }
        /// End the other jobs when one ends; set in any job, it applies to all.
        exitall: bool = "0" as "exitall" {
            category: Category::Process,
            bare: Some("1"),
        }
        /// Which jobs `exitall` ends.
        exit_what: crate::values::ExitWhat = "group" as "exit_what" {
            category: Category::Process,
            needs: &["exitall"],
            with: &["exitall=1"],
            good: &["group", "stonewall", "all"],
        }
        /// Shell command to run before the job; its output goes to `<name>.prerun.txt`.
        ///
        /// It runs after `startdelay`; if it fails, so does the job.
        exec_prerun: Option<String> = "" as "exec_prerun" {
            category: Category::Process,
            fio: FioSupport::Differs("all output of the command goes to the file, where fio keeps only that of `b` in `a; b`; a job with a command that fails is reported as failed, where fio leaves it out and exits with 0"),
            good: &["true"],
        }
        /// Shell command to run after the job; its output goes to `<name>.postrun.txt`.
        exec_postrun: Option<String> = "" as "exec_postrun" {
            category: Category::Process,
            good: &["true"],
        }
        /// Process name of the job.
        comm: Option<String> = "" as "comm" {
            category: Category::Process,
            good: &["worker"],
        }
        /// Name a built-in workload, which the flag `--profile` runs.
        profile: Option<Profile> = "" as "profile" {
            category: Category::Profile,
            built: Built::Ignored("the flag --profile runs it; fio takes it in a job without effect"),
            good: &["tiobench", "act"],
        }
    }
}

//! What a job is called, how many copies of it run, and in which order.

use iosonde_options::{Built, Category, FioSupport, options};

use crate::values::Profile;

options! {
    /// Job
    pub struct JobOptions in Category::General {
        /// A text that reports repeat.
        description: Option<String> = "" as "description" {
            good: &["nightly run"],
        }
        /// The name of the job.
        ///
        /// On the command line it also begins a new job.
        name: Option<String> = "" as "name" {
            good: &["reader"],
        }
        /// How many times the job's work is done over.
        ///
        /// Ignored where `time_based` says when to end.
        loops: u32 = "1" as "loops" {
            min: Some(0),
            good: &["1", "3"],
            bad: &["often"],
        }
        /// How many copies of the job run at once.
        numjobs: u32 = "1" as "numjobs" {
            min: Some(0),
            good: &["1", "16"],
            bad: &["many"],
        }
        /// Wait until all earlier jobs have ended before this one starts.
        ///
        /// Jobs after it wait as well, and it begins a new group of reports.
        stonewall: bool = "0" as "stonewall" | "wait_for_previous" {
            category: Category::Process,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Begin a new group of reports with this job.
        new_group: bool = "0" as "new_group" {
            category: Category::Stat,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Report the job and its copies, and the jobs of its group, as one.
        group_reporting: bool = "0" as "group_reporting" {
            category: Category::Stat,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Run as a thread rather than as a process.
        thread: bool = "0" as "thread" {
            category: Category::Process,
            bare: Some("1"),
            fio: FioSupport::Differs("jobs are threads either way; `thread=0` is accepted"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Wait until all copies of the job of this name have ended before this one starts.
        ///
        /// That job must come before, and be the only one of its name.
        wait_for: Option<String> = "" as "wait_for" {
            category: Category::Process,
            good: &["writer"],
        }
        /// End the other jobs when one ends; given for any job, it holds for all.
        exitall: bool = "0" as "exitall" {
            category: Category::Process,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Which jobs `exitall` ends.
        exit_what: crate::values::ExitWhat = "group" as "exit_what" {
            category: Category::Process,
            needs: &["exitall"],
            good: &["group", "stonewall", "all"],
            bad: &["none"],
        }
        /// A command for the shell before the job; it is told in `<name>.prerun.txt`.
        ///
        /// After `startdelay`; a command that fails ends the job.
        exec_prerun: Option<String> = "" as "exec_prerun" {
            category: Category::Process,
            fio: FioSupport::Differs("all that the command prints goes to the file; of `a; b` fio keeps that of `b`; fio leaves a job whose command fails out of the report and ends with 0"),
            good: &["true"],
        }
        /// A command for the shell after the job; it is told in `<name>.postrun.txt`.
        exec_postrun: Option<String> = "" as "exec_postrun" {
            category: Category::Process,
            good: &["true"],
        }
        /// What the system's list of processes calls the job.
        comm: Option<String> = "" as "comm" {
            category: Category::Process,
            good: &["worker"],
        }
        /// Start from a ready-made workload.
        profile: Option<Profile> = "" as "profile" {
            category: Category::Profile,
            built: Built::No,
            good: &["tiobench", "act"],
            bad: &["mine"],
        }
    }
}

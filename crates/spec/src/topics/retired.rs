//! Options that fio has retired, and those of its profiles, which it takes in every job: known, so
//! that a job file that names one gets an answer.

use iosonde_options::{Built, Category, options};

/// Why an option of a profile changes nothing in a job.
const OF_PROFILES: &str = "it is an option of --profile, which fio takes everywhere without effect";

options! {
    /// Retired
    pub struct RetiredOptions in Category::General {
        /// Retired: percentage of sequential I/Os in a random job.
        percentage_sequential: u32 = "0" as "percentage_sequential" {
            built: Built::No,
            deprecated: Some("use percentage_random"),
        }
        /// Retired: number of I/Os between two changes of direction.
        rwmixcycle: u32 = "0" as "rwmixcycle" {
            built: Built::No,
            deprecated: Some("leave it out"),
        }
        /// Retired: verify blocks in the order of their offsets.
        verifysort: bool = "1" as "verifysort" {
            built: Built::Ignored("fio ignores it too"),
            deprecated: Some("leave it out"),
            good: &["0", "1"],
            bad: &[],
        }
        /// Retired: number of blocks that are sorted at once.
        verifysort_nr: u32 = "1024" as "verifysort_nr" {
            built: Built::Ignored("fio ignores it too"),
            deprecated: Some("leave it out"),
            good: &["1024"],
        }
        /// Retired: how far jobs of a flow may drift apart.
        flow_watermark: u32 = "1024" as "flow_watermark" {
            built: Built::Ignored("fio ignores it too"),
            deprecated: Some("leave it out"),
            good: &["1024"],
        }
        /// Of a profile: number of threads of tiobench.
        profile_threads: Option<String> = "" as "threads" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: number of runs of tiobench.
        profile_numruns: Option<String> = "" as "numruns" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: block size of tiobench.
        tiobench_block: Option<String> = "" as "block" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: directory of tiobench.
        profile_dir: Option<String> = "" as "dir" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: devices of act.
        device_names: Option<String> = "" as "device-names" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: load of act.
        profile_load: Option<String> = "" as "load" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: how long act runs.
        test_duration: Option<String> = "" as "test-duration" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: threads of act for each device.
        threads_per_queue: Option<String> = "" as "threads-per-queue" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: sectors of a read of act.
        read_req_num_512_blocks: Option<String> = "" as "read-req-num-512-blocks" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: size of large writes of act.
        large_block_op_kbytes: Option<String> = "" as "large-block-op-kbytes" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
        /// Of a profile: whether act prepares devices.
        profile_prep: Option<String> = "" as "prep" {
            bare: Some("1"),
            built: Built::Ignored(OF_PROFILES),
            good: &["1"],
        }
    }
}

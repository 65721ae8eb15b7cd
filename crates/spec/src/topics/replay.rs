//! Recording the I/O of a job, and doing a recorded one again.

use iosonde_options::{Bytes, Category, FioSupport, FloatList, NamedList, PathList, options};

use crate::values::ReplayKind;

options! {
    /// Recording and replay
    pub struct ReplayOptions in Category::Replay {
        /// Record each I/O of the job to this file, in the format of `read_iolog`.
        write_iolog: Option<String> = "" as "write_iolog" {
            good: &["trace.log"],
        }
        /// Replay the I/Os recorded in this file.
        ///
        /// An iolog of version 2 or 3, or a binary blktrace (`blkparse -d`), detected by its first
        /// bytes; `-` is standard input, and a Unix socket is connected to. A colon-separated
        /// list is distributed over the clones of the job. I/Os start at their recorded times,
        /// and the report shows how late they started.
        read_iolog: Option<PathList> = "" as "read_iolog" {
            good: &["trace.log"],
        }
        /// Read the recording in chunks, rather than keep it in memory.
        ///
        /// It is read once before the job starts; data from a pipe or a socket is kept in a
        /// temporary file until then.
        read_iolog_chunked: bool = "0" as "read_iolog_chunked" {
            parent: Some("read_iolog"),
            with: &["read_iolog=trace.log"],
        }
        /// Replay without the recorded pauses.
        replay_no_stall: bool = "0" as "replay_no_stall" {
            parent: Some("read_iolog"),
            with: &["read_iolog=trace.log"],
        }
        /// Replay all I/Os on this file or device.
        replay_redirect: Option<String> = "" as "replay_redirect" {
            parent: Some("read_iolog"),
            with: &["read_iolog=trace.log"],
            good: &["/dev/loop0"],
        }
        /// Divide offsets by this, before they are aligned.
        replay_scale: u32 = "1" as "replay_scale" {
            parent: Some("read_iolog"),
            min: Some(0),
            with: &["read_iolog=trace.log"],
            good: &["1", "2"],
        }
        /// Round offsets down to a multiple of this, a power of two.
        ///
        /// Lengths in a blktrace are rounded up to it.
        replay_align: Option<Bytes> = "" as "replay_align" {
            parent: Some("read_iolog"),
            min: Some(0),
            with: &["read_iolog=trace.log"],
            good: &["4k"],
        }
        /// Replay speed as a percentage: 50 takes twice the recorded time.
        replay_time_scale: u32 = "100" as "replay_time_scale" {
            parent: Some("read_iolog"),
            min: Some(1),
            with: &["read_iolog=trace.log"],
            good: &["100", "50"],
            bad: &["0", "half"],
        }
        /// Types of I/O to skip.
        replay_skip: NamedList<ReplayKind> = "" as "replay_skip" {
            fio: FioSupport::Differs("an unknown type of I/O is refused; fio ignores it"),
            parent: Some("read_iolog"),
            with: &["read_iolog=trace.log"],
            good: &["read", "write,trim", "read,write,trim,sync"],
        }
        /// Merge the recordings of `read_iolog` into this file.
        merge_blktrace_file: Option<String> = "" as "merge_blktrace_file" {
            with: &["read_iolog=a.bin:b.bin"],
            good: &["merged.bin"],
        }
        /// Time scale of each merged recording, in percent.
        merge_blktrace_scalars: FloatList = "" as "merge_blktrace_scalars" {
            needs: &["merge_blktrace_file"],
            with: &["read_iolog=a.bin:b.bin", "merge_blktrace_file=merged.bin"],
            good: &["100", "50:100"],
        }
        /// Number of repetitions of each merged recording.
        merge_blktrace_iters: FloatList = "" as "merge_blktrace_iters" {
            needs: &["merge_blktrace_file"],
            with: &["read_iolog=a.bin:b.bin", "merge_blktrace_file=merged.bin"],
            good: &["1", "1:2"],
        }
    }
}

//! Recording the I/O of a job, and doing a recorded one again.

use iosonde_options::{Bytes, Category, FioSupport, FloatList, NamedList, PathList, options};

use crate::values::ReplayKind;

options! {
    /// Recording and replay
    pub struct ReplayOptions in Category::Replay {
        /// Write each I/O of the job to this file, as `read_iolog` reads it.
        write_iolog: Option<String> = "" as "write_iolog" {
            good: &["trace.log"],
        }
        /// Do the I/Os that this file lists, in place of drawing any.
        ///
        /// An iolog of version 2 or 3, or a binary blktrace (`blkparse -d`), told by its first
        /// bytes; `-` is standard input, and a socket in the file system is connected to.
        /// Several, parted by colons, are dealt out to the copies of the job. The I/Os are due
        /// at their recorded times, and the report tells how late they started.
        read_iolog: Option<PathList> = "" as "read_iolog" {
            good: &["trace.log"],
        }
        /// Read the list piece by piece, rather than keep it in memory.
        ///
        /// It is read through once before the job starts; what comes from a pipe or a socket
        /// goes to a temporary file meanwhile.
        read_iolog_chunked: bool = "0" as "read_iolog_chunked" {
            parent: Some("read_iolog"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Do the I/Os one after another, without the recorded pauses.
        replay_no_stall: bool = "0" as "replay_no_stall" {
            parent: Some("read_iolog"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Do all I/Os on this file or device, whatever the recording names.
        replay_redirect: Option<String> = "" as "replay_redirect" {
            parent: Some("read_iolog"),
            good: &["/dev/loop0"],
        }
        /// Divide offsets by this, before they are aligned.
        replay_scale: u32 = "1" as "replay_scale" {
            parent: Some("read_iolog"),
            min: Some(0),
            good: &["1", "2"],
            bad: &["half"],
        }
        /// Round offsets down to a multiple of this, a power of two.
        ///
        /// Lengths in a blktrace are rounded up to it.
        replay_align: Option<Bytes> = "" as "replay_align" {
            parent: Some("read_iolog"),
            min: Some(0),
            good: &["4k"],
            bad: &["even"],
        }
        /// How fast to go, in percent of the recording: 50 takes twice the time.
        replay_time_scale: u32 = "100" as "replay_time_scale" {
            parent: Some("read_iolog"),
            min: Some(1),
            good: &["100", "50"],
            bad: &["0", "half"],
        }
        /// Kinds of I/O to leave out.
        replay_skip: NamedList<ReplayKind> = "" as "replay_skip" {
            fio: FioSupport::Differs("a word that is no kind of I/O is refused; fio ignores it"),
            parent: Some("read_iolog"),
            good: &["read", "write,trim", "read,write,trim,sync"],
        }
        /// Where to write the recordings of `read_iolog` merged into one.
        merge_blktrace_file: Option<String> = "" as "merge_blktrace_file" {
            good: &["merged.bin"],
        }
        /// How much each of the merged recordings is stretched, in percent.
        merge_blktrace_scalars: FloatList = "" as "merge_blktrace_scalars" {
            needs: &["merge_blktrace_file"],
            good: &["100", "50:100"],
            bad: &["half"],
        }
        /// How often each of the merged recordings is repeated.
        merge_blktrace_iters: FloatList = "" as "merge_blktrace_iters" {
            needs: &["merge_blktrace_file"],
            good: &["1", "1:2"],
            bad: &["twice"],
        }
    }
}

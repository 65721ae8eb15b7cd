//! Recording the I/O of a job, and doing a recorded one again.

use iosonde_options::{Built, Bytes, Category, Fio, FloatList, NamedList, options};

use crate::values::ReplayKind;

options! {
    /// Recording and replay
    pub struct Replay in Category::Replay {
        /// Write each I/O of the job to this file, as `read_iolog` reads it.
        write_iolog: Option<String> = "" as "write_iolog" {
            good: &["trace.log"],
        }
        /// Do the I/Os that this file lists, in place of drawing any.
        ///
        /// An iolog of version 2 or 3, or a blktrace; `-` is standard input.
        read_iolog: Option<String> = "" as "read_iolog" {
            built: Built::No,
            good: &["trace.log"],
        }
        /// Read the list piece by piece.
        read_iolog_chunked: bool = "0" as "read_iolog_chunked" {
            built: Built::No,
            parent: Some("read_iolog"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Do the I/Os one after another, without the recorded pauses.
        replay_no_stall: bool = "0" as "replay_no_stall" {
            built: Built::No,
            parent: Some("read_iolog"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Do all I/Os on this device, whatever the recording names.
        replay_redirect: Option<String> = "" as "replay_redirect" {
            built: Built::No,
            parent: Some("read_iolog"),
            good: &["/dev/loop0"],
        }
        /// Divide offsets by this.
        replay_scale: u32 = "1" as "replay_scale" {
            built: Built::No,
            parent: Some("read_iolog"),
            min: Some(0),
            good: &["1", "2"],
            bad: &["half"],
        }
        /// Round offsets down to a multiple of this.
        replay_align: Option<Bytes> = "" as "replay_align" {
            built: Built::No,
            parent: Some("read_iolog"),
            min: Some(0),
            good: &["4k"],
            bad: &["even"],
        }
        /// Stretch the recorded pauses to this many percent.
        replay_time_scale: u32 = "100" as "replay_time_scale" {
            built: Built::No,
            parent: Some("read_iolog"),
            min: Some(1),
            good: &["100", "50"],
            bad: &["0", "half"],
        }
        /// Kinds of I/O to leave out.
        replay_skip: NamedList<ReplayKind> = "" as "replay_skip" {
            fio: Fio::Differs("a word that is no kind of I/O is refused; fio ignores it"),
            built: Built::No,
            parent: Some("read_iolog"),
            good: &["read", "write,trim", "read,write,trim,sync"],
        }
        /// Where to write the recordings of `read_iolog` merged into one.
        merge_blktrace_file: Option<String> = "" as "merge_blktrace_file" {
            built: Built::No,
            good: &["merged.bin"],
        }
        /// How much each of the merged recordings is stretched, in percent.
        merge_blktrace_scalars: FloatList = "" as "merge_blktrace_scalars" {
            built: Built::No,
            needs: &["merge_blktrace_file"],
            good: &["100", "50:100"],
            bad: &["half"],
        }
        /// How often each of the merged recordings is repeated.
        merge_blktrace_iters: FloatList = "" as "merge_blktrace_iters" {
            built: Built::No,
            needs: &["merge_blktrace_file"],
            good: &["1", "1:2"],
            bad: &["twice"],
        }
    }
}

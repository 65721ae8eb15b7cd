//! What to do about a failed call when its error number says too little.

use crate::job::{FileKind, JobPlan};
use iosonde_base::Errno;
use iosonde_direct::device::Device;
use iosonde_engine::Failure;
use std::fs::File;

/// Most file systems take multiples of this beside the page cache, if not
/// smaller ones.
const USUAL_BLOCK: u64 = 4096;

/// Words to go with a failure of `job`, where there are any.
pub(crate) fn remedy(job: &JobPlan, failure: &Failure) -> Option<String> {
    match failure.errno {
        Errno(libc::EMFILE) => Some(
            "raise the limit (ulimit -n), or set openfiles= to have fewer open at a time"
                .to_owned(),
        ),
        Errno(libc::EINVAL) if job.open.mode.direct => misaligned(job, failure),
        _ => None,
    }
}

/// An I/O with direct=1 that does not begin or end where it may.
fn misaligned(job: &JobPlan, failure: &Failure) -> Option<String> {
    let file = &job.files[failure.file?.0 as usize];
    let device = File::open(&file.path).ok().filter(|_| file.kind == FileKind::Block);
    let sector = device.and_then(|device| Device::of(&device).ok());
    let unit = sector.map_or(USUAL_BLOCK, |device| u64::from(device.logical_sector));
    let fits = failure.offset?.is_multiple_of(unit) && u64::from(failure.len).is_multiple_of(unit);
    (!fits).then(|| match sector {
        Some(_) => format!(
            "with direct=1 this device takes whole sectors of {unit} bytes: set bs= and offset= so"
        ),
        None => format!(
            "with direct=1 file systems take whole blocks, mostly of 512 or {unit} bytes: set bs= \
             and offset= so"
        ),
    })
}

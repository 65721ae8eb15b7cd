//! What to do about a failed call when its error number says too little.

use crate::job::{FileKind, JobPlan};
use iosonde_base::Errno;
use iosonde_direct::device::Device;
use iosonde_engine::Failure;
use iosonde_sys::zones::LinuxZones;
use std::fs::File;

/// Most file systems take multiples of this beside the page cache, if not
/// smaller ones.
const USUAL_BLOCK: u64 = 4096;

/// Words to go with a failure of `job`, where there are any.
pub(crate) fn remedy(job: &JobPlan, failure: &Failure) -> Option<String> {
    match failure.errno {
        Errno::EMFILE => Some(
            "raise the limit (ulimit -n), or set openfiles= to have fewer open at a time"
                .to_owned(),
        ),
        Errno::EOVERFLOW if job.zones.is_some() => Some(
            "the device has as many active zones as it may: zones outside the job's range may be \
             open or closed (blkzone report)"
                .to_owned(),
        ),
        Errno::EIO | Errno::EREMOTEIO if job.zones.is_none() => zoned(job, failure),
        Errno::EINVAL if job.open.mode.direct => misaligned(job, failure),
        _ => None,
    }
}

/// A write that a zoned device may have refused.
fn zoned(job: &JobPlan, failure: &Failure) -> Option<String> {
    let file = &job.files[failure.file?.0 as usize];
    let is_block = file.kind == FileKind::Block && failure.doing == "write";
    LinuxZones::at(&file.path).filter(|_| is_block)?;
    Some("it is a zoned block device: set zonemode=zbd".to_owned())
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

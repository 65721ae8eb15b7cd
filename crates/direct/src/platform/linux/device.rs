//! ioctl(2) on block devices.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use rustix::fs::FileType;
use rustix::ioctl::{Getter, NoArg, Setter, ioctl, opcode};

use crate::{Device, DeviceFacts, Fact};

// The numbers of <linux/fs.h>, all in group 0x12.
const BLKROGET: u32 = opcode::none(0x12, 94);
const BLKFLSBUF: u32 = opcode::none(0x12, 97);
const BLKGETSIZE64: u32 = opcode::read::<usize>(0x12, 114); // A size_t by name, a u64 in fact.
const BLKDISCARD: u32 = opcode::none(0x12, 119);
const BLKIOMIN: u32 = opcode::none(0x12, 120);
const BLKIOOPT: u32 = opcode::none(0x12, 121);
const BLKALIGNOFF: u32 = opcode::none(0x12, 122);
const BLKROTATIONAL: u32 = opcode::none(0x12, 126);
const BLKGETDISKSEQ: u32 = opcode::read::<u64>(0x12, 128);

pub(crate) fn device(file: &File) -> io::Result<Device> {
    Ok(Device {
        bytes: device_size(file)?,
        logical_sector: rustix::fs::ioctl_blksszget(file)?,
        physical_sector: rustix::fs::ioctl_blkpbszget(file)?,
        rotational: rotational(file),
        discard_bytes_max: queue_figure(file, "discard_max_bytes"),
    })
}

pub(crate) fn device_size(file: &File) -> io::Result<u64> {
    expect_block_device(file)?;
    // SAFETY: on a block device BLKGETSIZE64 stores one u64 where it is given.
    let size = unsafe { ioctl(file, Getter::<BLKGETSIZE64, u64>::new()) }?;
    Ok(size)
}

pub(crate) fn discard(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    expect_block_device(file)?;
    // SAFETY: on a block device BLKDISCARD reads two u64, start and length.
    unsafe { ioctl(file, Setter::<BLKDISCARD, [u64; 2]>::new([offset, bytes])) }?;
    Ok(())
}

pub(crate) fn flush_buffers(file: &File) -> io::Result<()> {
    expect_block_device(file)?;
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(file, NoArg::<BLKFLSBUF>::new()) }?;
    Ok(())
}

/// Fill what is unknown with what the device itself reports.
pub(crate) fn ask(file: &File, facts: &mut DeviceFacts) -> io::Result<()> {
    let reported = device(file)?;
    // SAFETY: on a block device (its size was read) each of these stores one
    // number of the type named here.
    let (io_min, io_opt, offset, read_only, sequence) = unsafe {
        (
            ioctl(file, Getter::<BLKIOMIN, u32>::new()).ok(),
            ioctl(file, Getter::<BLKIOOPT, u32>::new()).ok(),
            ioctl(file, Getter::<BLKALIGNOFF, i32>::new()).ok(),
            ioctl(file, Getter::<BLKROGET, i32>::new()).ok(),
            ioctl(file, Getter::<BLKGETDISKSEQ, u64>::new()).ok(),
        )
    };
    fill(&mut facts.bytes, Some(reported.bytes));
    fill(&mut facts.logical_sector, Some(reported.logical_sector));
    fill(&mut facts.physical_sector, Some(reported.physical_sector));
    fill(&mut facts.rotational, reported.rotational);
    fill(&mut facts.io_bytes_min, io_min);
    // Zero: the device states none.
    fill(&mut facts.io_bytes_optimal, io_opt.filter(|&bytes| bytes > 0));
    // -1: misaligned, by an amount that is not reported.
    fill(&mut facts.alignment_offset, offset.and_then(|bytes| u32::try_from(bytes).ok()));
    fill(&mut facts.read_only, read_only.map(|flag| flag != 0));
    fill(&mut facts.disk_sequence, sequence);
    Ok(())
}

fn fill<T: Copy>(fact: &mut Fact<T>, reported: Option<T>) {
    if let (Fact::Unknown(_), Some(reported)) = (&fact, reported) {
        *fact = Fact::Known(reported);
    }
}

fn rotational(file: &File) -> Option<bool> {
    // SAFETY: on a block device (the caller has read its size) BLKROTATIONAL
    // stores one unsigned short.
    let answer = unsafe { ioctl(file, Getter::<BLKROTATIONAL, libc::c_ushort>::new()) };
    answer.ok().map(|rotational| rotational != 0)
}

/// A number from the device's queue in sysfs; a partition's is its disk's.
fn queue_figure(file: &File, name: &str) -> Option<u64> {
    let device = rustix::fs::fstat(file).ok()?.st_rdev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let folder = format!("/sys/dev/block/{major}:{minor}");
    let text = std::fs::read_to_string(format!("{folder}/queue/{name}"))
        .or_else(|_| std::fs::read_to_string(format!("{folder}/../queue/{name}")))
        .ok()?;
    text.trim().parse().ok()
}

/// Another driver may know the same number by another name, so ask first.
fn expect_block_device(file: &File) -> io::Result<()> {
    match FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode) {
        FileType::BlockDevice => Ok(()),
        _ => Err(io::Error::from_raw_os_error(libc::ENOTBLK)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_kernel() {
        // <linux/fs.h> on a machine of 64 bits.
        assert_eq!(BLKROGET, 0x125e);
        assert_eq!(BLKFLSBUF, 0x1261);
        assert_eq!((BLKIOMIN, BLKIOOPT, BLKALIGNOFF), (0x1278, 0x1279, 0x127a));
        assert_eq!(BLKDISCARD, 0x1277);
        assert_eq!(BLKROTATIONAL, 0x127e);
        if size_of::<usize>() == 8 && cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert_eq!(BLKGETSIZE64, 0x8008_1272);
            assert_eq!(BLKGETDISKSEQ, 0x8008_1280);
        }
    }

    /// A device that sysfs does not report, in a container for example.
    #[test]
    fn facts_of_the_device_agree_with_sysfs() {
        use crate::sysfs::Tree;

        let here = Tree::here();
        // Loop devices come and go with other tests.
        let names = here.names().into_iter().filter(|name| !name.starts_with("loop"));
        let opened = names.into_iter().find_map(|name| {
            let id = here.id(&name)?;
            let file = File::open(format!("/dev/{name}")).ok()?;
            device(&file).is_ok().then_some((id, file))
        });
        let Some((id, file)) = opened else {
            iosonde_testing::skip!("no block device may be opened here");
        };
        let nowhere = Tree::at(std::path::Path::new("/nowhere"));
        let figures = |facts: &DeviceFacts| {
            let sectors = (facts.logical_sector.get(), facts.physical_sector.get());
            let sizes = (facts.io_bytes_min.get(), facts.io_bytes_optimal.get());
            let flags = (facts.rotational.get(), facts.read_only.get());
            let rest = (facts.alignment_offset.get(), facts.disk_sequence.get());
            (facts.bytes.get(), sectors, sizes, flags, rest)
        };
        let mut asked = nowhere.facts(id);
        assert!(asked.bytes.why().is_some());
        ask(&file, &mut asked).unwrap();
        assert_eq!(figures(&asked), figures(&here.facts(id)));
    }

    #[test]
    fn a_file_that_is_not_a_block_device_is_reported() {
        let null = File::open("/dev/null").unwrap();
        for error in [
            device(&null).unwrap_err(),
            device_size(&null).unwrap_err(),
            discard(&null, 0, 512).unwrap_err(),
            flush_buffers(&null).unwrap_err(),
        ] {
            assert_eq!(error.raw_os_error(), Some(libc::ENOTBLK));
        }
    }
}

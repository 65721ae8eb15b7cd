//! Requests of any length at any offset over direct I/O.
#![cfg(unix)]

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use iosonde_direct::durability::{CallError, ReadCaching, WriteFlags, read_with, write_with};
use iosonde_direct::{AlignedBuf, DirectIo, ExactIo, OpenOptions, RequestPart, Transfer};
use iosonde_testing::{Folder, skip};
use proptest::prelude::*;

/// A file that is open for direct I/O; `None` where the folder's file system has none.
fn direct(folder: &Folder) -> Option<File> {
    let options = OpenOptions::new().read(true).write(true).create(true).direct(true);
    let file = options.open(folder.join("file")).ok()?;
    DirectIo::of(&file).unwrap().possible.then_some(file)
}

/// The first byte of the memory is at any address.
fn at_any_address(bytes: usize, shift: usize) -> (Vec<u8>, std::ops::Range<usize>) {
    (vec![0; bytes + shift], shift..shift + bytes)
}

#[test]
fn a_misaligned_request_names_each_rule_that_it_breaks() {
    let folder = Folder::new("exact-rules");
    let Some(file) = direct(&folder) else { skip!("no direct I/O in the target folder") };
    let needs = DirectIo::of(&file).unwrap();
    let unit = needs.offset_alignment as usize;
    let buffer = AlignedBuf::new(2 * unit, unit.max(4096)).unwrap();
    write_with(&file, &buffer, 0, WriteFlags::new()).unwrap();
    let odd = &buffer[..unit - 1];
    let error = match write_with(&file, odd, 1, WriteFlags::new()) {
        Err(error) => error,
        Ok(_) => skip!("the file system takes any alignment"),
    };
    let CallError::Misaligned { transfer: Transfer::Write, broken } = &error else {
        panic!("{error}");
    };
    let parts: Vec<_> = broken.iter().map(|rule| (rule.part, rule.value, rule.required)).collect();
    let required = needs.offset_alignment;
    assert_eq!(
        parts,
        [(RequestPart::Length, unit as u64 - 1, required), (RequestPart::Offset, 1, required)]
    );
    assert_eq!(
        error.to_string(),
        format!(
            "write with direct I/O: the length {} is not a multiple of {required}, \
             the offset 1 is not a multiple of {required}",
            unit - 1
        )
    );
    assert_eq!(std::io::Error::from(error).kind(), ErrorKind::InvalidInput);
    let mut memory = AlignedBuf::new(unit, unit).unwrap();
    let error = read_with(&file, &mut memory[..unit - 1], 0, ReadCaching::Cached).unwrap_err();
    assert!(error.to_string().starts_with("read with direct I/O: the length"), "{error}");
    // An error of another cause stays what it is.
    let closed = OpenOptions::new().read(true).direct(true).open(folder.join("file")).unwrap();
    let error = write_with(&closed, odd, 1, WriteFlags::new()).unwrap_err();
    assert!(matches!(error, CallError::System(_)), "{error}");
}

/// Bytes that differ from block to block.
fn marked(memory: &mut [u8]) {
    memory.iter_mut().zip((0..=250_u8).cycle()).for_each(|(byte, at)| *byte = at);
}

#[test]
fn memory_at_any_distance_from_the_alignment_is_transferred() {
    let folder = Folder::new("exact-memory");
    let Some(file) = direct(&folder) else { skip!("no direct I/O in the target folder") };
    let needs = DirectIo::of(&file).unwrap();
    let block = needs.offset_alignment as usize;
    let mut exact = ExactIo::of(&file).unwrap();
    // From memory at the alignment, whole blocks go as they are; what is beside them does not.
    for (shift, bytes, offset) in
        [(0, 3 * block, 0), (0, 3 * block + 5, block), (1, 2 * block, block), (0, 7, 3), (3, 1, 0)]
    {
        let mut written = AlignedBuf::new(4 * block + 8, block.max(4096)).unwrap();
        marked(&mut written);
        let data = &written[shift..shift + bytes];
        exact.write_all(data, offset as u64).unwrap();
        let mut read = AlignedBuf::new(4 * block + 8, block.max(4096)).unwrap();
        exact.read_exact(&mut read[shift..shift + bytes], offset as u64).unwrap();
        assert!(read[shift..shift + bytes] == *data, "{bytes} bytes at {offset}, {shift} off");
    }
}

#[test]
fn whole_blocks_are_written_without_being_read_from_any_memory() {
    let folder = Folder::new("exact-whole");
    let Some(file) = direct(&folder) else { skip!("no direct I/O in the target folder") };
    let block = DirectIo::of(&file).unwrap().offset_alignment as usize;
    let writes = OpenOptions::new().write(true).direct(true).open(folder.join("file")).unwrap();
    let mut memory = AlignedBuf::new(3 * block, block.max(4096)).unwrap();
    marked(&mut memory);
    for shift in [0, 1] {
        // The file is not open for reading.
        let data = &memory[shift..shift + 2 * block];
        ExactIo::of(&writes).unwrap().write_all(data, block as u64).unwrap();
        let plain = std::fs::read(folder.join("file")).unwrap();
        assert!(plain[block..] == *data, "{shift} off");
    }
}

/// The bytes that this thread has read, and in how many calls.
#[cfg(target_os = "linux")]
fn reads_of_this_thread() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    let figure = |name| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Some((figure("rchar:")?, figure("syscr:")?))
}

#[cfg(target_os = "linux")]
#[test]
fn no_more_is_read_than_the_blocks_around_what_is_wanted() {
    let folder = Folder::new("exact-little");
    let Some(file) = direct(&folder) else { skip!("no direct I/O in the target folder") };
    let block = DirectIo::of(&file).unwrap().offset_alignment as u64;
    file.set_len(1 << 20).unwrap();
    let mut exact = ExactIo::of(&file).unwrap();
    let Some((before, _)) = reads_of_this_thread() else { skip!("no /proc/thread-self/io") };
    exact.read_exact(&mut [0; 3], 512 << 10).unwrap();
    let (after, _) = reads_of_this_thread().unwrap();
    // Beside the figures themselves, which are a few hundred bytes.
    assert!(after - before < block + 4096, "{} bytes for 3", after - before);
    // Memory at the alignment is filled at once, not 64 KiB at a time.
    let mut memory = AlignedBuf::new(1 << 20, 4096).unwrap();
    let (_, before) = reads_of_this_thread().unwrap();
    exact.read_exact(&mut memory, 0).unwrap();
    let (_, after) = reads_of_this_thread().unwrap();
    assert!(after - before < 8, "{} calls for 1 MiB", after - before);
}

#[test]
fn a_read_beyond_the_end_is_an_error_and_a_write_ends_where_its_data_do() {
    let folder = Folder::new("exact-end");
    let Some(file) = direct(&folder) else { skip!("no direct I/O in the target folder") };
    let mut exact = ExactIo::of(&file).unwrap();
    exact.write_all(&[7; 1000], 3000).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 4000);
    let mut data = [1; 4000];
    exact.read_exact(&mut data, 0).unwrap();
    assert!(data[..3000].iter().all(|&byte| byte == 0) && data[3000..] == [7; 1000]);
    let error = std::io::Error::from(exact.read_exact(&mut [0; 2], 3999).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
    let error = std::io::Error::from(exact.read_exact(&mut [0; 1], 1 << 40).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
    assert!(exact.write_all(&[0; 2], i64::MAX as u64).is_err());
    exact.write_all(&[], 1 << 40).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 4000);
}

#[test]
fn a_part_of_a_block_needs_a_file_that_can_be_read() {
    let folder = Folder::new("exact-write-only");
    let Some(file) = direct(&folder) else { skip!("no direct I/O in the target folder") };
    if DirectIo::of(&file).unwrap().offset_alignment < 2 {
        skip!("the file system takes any alignment");
    }
    let file = OpenOptions::new().write(true).direct(true).open(folder.join("file")).unwrap();
    let error = ExactIo::of(&file).unwrap().write_all(&[1; 3], 0).unwrap_err();
    assert!(error.to_string().contains("must be open for reading too"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Beside a vector: whatever the offsets, lengths and addresses are.
    #[test]
    fn a_file_holds_what_a_vector_would(
        steps in proptest::collection::vec(
            (any::<bool>(), 0_u64..150_000, 0_usize..140_000, 0_usize..9, any::<u8>()), 1..12),
    ) {
        let folder = Folder::new("exact-vector");
        let Some(file) = direct(&folder) else { return Ok(()) };
        let plain = File::open(folder.join("file")).unwrap();
        let mut exact = ExactIo::of(&file).unwrap();
        let mut model: Vec<u8> = Vec::new();
        for (write, offset, bytes, shift, mark) in steps {
            let (mut memory, data) = at_any_address(bytes, shift);
            let (start, end) = (offset as usize, offset as usize + bytes);
            if write {
                let data = &mut memory[data];
                data.iter_mut().zip((0..=255_u8).cycle()).for_each(|(byte, at)| *byte = mark.wrapping_add(at));
                exact.write_all(data, offset).unwrap();
                if bytes > 0 {
                    model.resize(model.len().max(end), 0);
                    model[start..end].copy_from_slice(data);
                }
            } else {
                let data = &mut memory[data];
                let read = exact.read_exact(data, offset);
                prop_assert_eq!(read.is_ok(), bytes == 0 || end <= model.len());
                if read.is_ok() && bytes > 0 {
                    prop_assert!(*data == model[start..end]);
                }
            }
            prop_assert_eq!(plain.metadata().unwrap().len(), model.len() as u64);
        }
        let mut all = vec![0; model.len()];
        plain.read_exact_at(&mut all, 0).unwrap();
        prop_assert!(all == model);
    }
}

//! Two engines of the record benchmark: a stream through a buffer in memory,
//! and rows of a table. Not in the catalogue: both go by the order of the
//! records alone, which no job could rely on.
#![allow(unsafe_code)]

use super::always;
use crate::drive::Failure;
use crate::platform::{self, RawFile};
use crate::{Accounting, Caps, Drive, Ended, EngineDef, Io, Loop, OneShot, OneShotLoop, OpenWith};
use iosonde_base::{Errno, FileId, Op};
use std::cell::RefCell;
use std::rc::Rc;

const CAPS: Caps = Caps { sync: true, ..Caps::NONE };

/// Records through a buffer: as Java's BufferedOutputStream of 1 MiB and
/// BufferedInputStream of 8 KiB.
pub static BUFFERED: EngineDef = EngineDef {
    name: "buffered",
    aliases: &[],
    summary: "records through a buffer in memory",
    doc: "Records one after another through a buffer in memory; a sync empties the buffer.",
    caps: CAPS,
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(open(with, accounting, StreamForm::Plain, 1 << 20)),
};

/// Rows `number,text` under a header `key,text`, as SBK's csv driver has them.
pub static CSV: EngineDef = EngineDef {
    name: "csv",
    aliases: &[],
    summary: "records as rows of a table",
    doc: "Rows of a table: each record is the text of one. A sync empties the buffer.",
    caps: CAPS,
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(open(with, accounting, StreamForm::Rows, 8 << 10)),
};

const HEADER: &[u8] = b"key,text\r\n";
/// What is read ahead, in bytes.
const READ_AHEAD: usize = 8 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamForm {
    Plain,
    Rows,
}

fn open(_: &OpenWith, accounting: Accounting, shape: StreamForm, bytes: usize) -> Box<dyn Loop> {
    let pipe = Rc::new(RefCell::new(StreamPipe::new(bytes)));
    let stream = MemoryStream { pipe: pipe.clone(), shape, row: Vec::new(), rows: 0, odd: None };
    match accounting {
        Accounting::Full => Box::new(Emptied { inner: OneShotLoop::<_, true>::new(stream), pipe }),
        Accounting::CountsOnly => {
            Box::new(Emptied { inner: OneShotLoop::<_, false>::new(stream), pipe })
        }
    }
}

/// A loop that empties its engine's buffer when it has done all.
struct Emptied<L> {
    inner: L,
    pipe: Rc<RefCell<StreamPipe>>,
}

impl<L: Loop> Loop for Emptied<L> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        self.inner.run(drive)
    }

    fn drain(&mut self, drive: &mut Drive) -> Result<(), Failure> {
        self.inner.drain(drive)?;
        let mut pipe = self.pipe.borrow_mut();
        let offset = Some(pipe.at);
        let len = pipe.bytes.len() as u32;
        pipe.empty().map_err(|errno| Failure {
            file: Some(FileId(0)),
            offset,
            len,
            ..Failure::engine("write what was buffered", errno)
        })
    }

    fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.inner.open(drive, file)
    }

    fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.inner.close(drive, file)
    }
}

/// A buffer between records and a file, in one direction.
#[derive(Debug)]
struct StreamPipe {
    fd: RawFile,
    /// Written but not yet down, or read ahead.
    bytes: Vec<u8>,
    /// How many of those read ahead were taken.
    taken: usize,
    capacity: usize,
    /// Where in the file the next write or read goes.
    at: u64,
    writes: bool,
    begun: bool,
}

impl StreamPipe {
    fn new(capacity: usize) -> StreamPipe {
        let bytes = Vec::new();
        StreamPipe { fd: -1, bytes, taken: 0, capacity, at: 0, writes: false, begun: false }
    }

    /// The first record says where the stream begins.
    fn begin(&mut self, io: &Io) -> bool {
        let first = !self.begun;
        if first {
            *self = StreamPipe {
                fd: io.fd,
                at: io.offset,
                begun: true,
                ..StreamPipe::new(self.capacity)
            };
            self.writes = io.op == Op::Write;
        }
        first
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.len() > self.capacity - self.bytes.len() {
            self.empty()?;
        }
        if bytes.len() >= self.capacity {
            return self.put(bytes);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Write what is buffered.
    fn empty(&mut self) -> Result<(), Errno> {
        if !self.writes || self.bytes.is_empty() {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        let put = self.put(&bytes);
        bytes.clear();
        self.bytes = bytes;
        put
    }

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match platform::write_at(self.fd, bytes, self.at) {
                Ok(0) => return Err(Errno::ENOSPC),
                Ok(n) => {
                    self.at += n as u64;
                    bytes = &bytes[n..];
                }
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// Bytes that are there to be taken; none at the end of the file.
    fn ahead(&mut self) -> Result<&[u8], Errno> {
        if self.taken == self.bytes.len() {
            self.bytes.resize(READ_AHEAD, 0);
            self.taken = 0;
            let mut bytes = std::mem::take(&mut self.bytes);
            let read = loop {
                match platform::read_at(self.fd, &mut bytes[..], self.at) {
                    Err(Errno::EINTR) => {}
                    read => break read,
                }
            };
            bytes.truncate(*read.as_ref().unwrap_or(&0));
            self.bytes = bytes;
            self.at += read? as u64;
        }
        Ok(&self.bytes[self.taken..])
    }

    /// Fill `bytes` as far as the file goes; how far that was.
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let mut moved = 0;
        while moved < bytes.len() {
            let ahead = self.ahead()?;
            let n = ahead.len().min(bytes.len() - moved);
            if n == 0 {
                break;
            }
            bytes[moved..moved + n].copy_from_slice(&ahead[..n]);
            self.taken += n;
            moved += n;
        }
        Ok(moved)
    }

    /// The next byte; none at the end of the file.
    fn byte(&mut self) -> Result<Option<u8>, Errno> {
        let byte = self.ahead()?.first().copied();
        self.taken += usize::from(byte.is_some());
        Ok(byte)
    }
}

struct MemoryStream {
    pipe: Rc<RefCell<StreamPipe>>,
    shape: StreamForm,
    row: Vec<u8>,
    rows: u64,
    /// What is wrong with the table, where it is that.
    odd: Option<&'static str>,
}

impl OneShot for MemoryStream {
    fn syncs(&self) -> bool {
        true
    }

    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's
        // alone until the call returns; syncs have a length of zero.
        let memory = unsafe { std::slice::from_raw_parts_mut(io.buffer, io.len as usize) };
        let mut pipe = self.pipe.borrow_mut();
        match (io.op, self.shape) {
            (Op::Write, StreamForm::Plain) => {
                pipe.begin(io);
                pipe.write(memory).map(|()| io.len)
            }
            (Op::Read, StreamForm::Plain) => {
                pipe.begin(io);
                pipe.read(memory).map(|n| n as u32)
            }
            (Op::Write, StreamForm::Rows) => {
                if pipe.begin(io) {
                    pipe.write(HEADER)?;
                }
                self.rows += 1;
                self.row.clear();
                self.row.extend_from_slice(self.rows.to_string().as_bytes());
                self.row.push(b',');
                self.row.extend_from_slice(memory);
                self.row.extend_from_slice(b"\r\n");
                pipe.write(&self.row).map(|()| io.len)
            }
            (Op::Read, StreamForm::Rows) => {
                if pipe.begin(io) {
                    if !text_of_row(&mut pipe, &mut self.row, 0)? {
                        return Ok(0);
                    }
                    if self.row != b"text" {
                        self.odd = Some("it does not begin with the header key,text of a table");
                        return Err(Errno::EINVAL);
                    }
                }
                if !text_of_row(&mut pipe, &mut self.row, io.len)? {
                    return Ok(0);
                }
                if self.row.len() != memory.len() {
                    self.odd = Some("the text of this row is not as long as -size says");
                    return Err(Errno::EINVAL);
                }
                memory.copy_from_slice(&self.row);
                Ok(io.len)
            }
            _ => pipe.empty().map(|()| 0),
        }
    }

    fn explain(&self, _: Op, _: Errno) -> Option<&'static str> {
        self.odd
    }
}

/// The second column of the next row; whether there was a row. Quoted fields
/// may hold commas, line ends and doubled quotes (RFC 4180). A row that does not
/// end has no text: a file without lines is not read to its end, which
/// `/dev/zero` does not have.
fn text_of_row(pipe: &mut StreamPipe, text: &mut Vec<u8>, len: u32) -> Result<bool, Errno> {
    /// More than keys and other columns need beside the text.
    const BESIDE: u64 = 1 << 20;
    // Each letter of the text may be a doubled quote.
    let most = BESIDE + 2 * u64::from(len);
    text.clear();
    let (mut column, mut quoted, mut bytes) = (0, false, 0);
    while let Some(byte) = pipe.byte()? {
        bytes += 1;
        if bytes > most {
            text.clear();
            break;
        }
        match byte {
            b'"' if quoted && pipe.ahead()?.first() == Some(&b'"') => {
                pipe.byte()?;
                if column == 1 {
                    text.push(b'"');
                }
            }
            b'"' => quoted = !quoted,
            b',' if !quoted => column += 1,
            b'\n' if !quoted => break,
            b'\r' if !quoted => {}
            byte if column == 1 => text.push(byte),
            _ => {}
        }
    }
    Ok(bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(file: &std::fs::File, op: Op, buffer: &mut [u8]) -> Io {
        let (len, fd) = (buffer.len() as u32, platform::raw(file));
        Io { offset: 0, buffer: buffer.as_mut_ptr(), len, op, file: FileId(0), fd }
    }

    fn stream(shape: StreamForm, capacity: usize) -> MemoryStream {
        let pipe = Rc::new(RefCell::new(StreamPipe::new(capacity)));
        MemoryStream { pipe, shape, row: Vec::new(), rows: 0, odd: None }
    }

    fn temporary(name: &str) -> std::fs::File {
        let path = std::env::temp_dir().join(format!("iosonde-{name}-{}", std::process::id()));
        let mut options = std::fs::File::options();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file
    }

    #[test]
    fn rows_that_were_written_are_read_back_and_end_with_the_file() {
        let file = temporary("rows");
        let mut text = *b"AB";
        let mut out = stream(StreamForm::Rows, 16);
        for _ in 0..3 {
            assert_eq!(out.perform(&io(&file, Op::Write, &mut text)), Ok(2));
        }
        assert_eq!(out.perform(&io(&file, Op::DataSync, &mut [])), Ok(0));
        let all = super::super::tests_read_all(&file);
        assert_eq!(all, b"key,text\r\n1,AB\r\n2,AB\r\n3,AB\r\n");
        let mut back = stream(StreamForm::Rows, 16);
        let mut room = [0; 2];
        let read = [(); 4].map(|()| back.perform(&io(&file, Op::Read, &mut room)));
        assert_eq!(read, [Ok(2), Ok(2), Ok(2), Ok(0)]);
        assert_eq!(&room, b"AB");
    }

    #[test]
    fn quoted_fields_hold_commas_line_ends_and_quotes() {
        let file = temporary("quoted");
        let table = b"key,text\n\"1,\n\",\"a\"\"b,\nc\"\n2,short\n";
        platform::write_at(platform::raw(&file), table, 0).unwrap();
        let mut rows = stream(StreamForm::Rows, 16);
        let mut room = [0; 6];
        assert_eq!(rows.perform(&io(&file, Op::Read, &mut room)), Ok(6));
        assert_eq!(&room, b"a\"b,\nc");
        assert_eq!(rows.perform(&io(&file, Op::Read, &mut room)), Err(Errno::EINVAL));
        assert!(rows.explain(Op::Read, Errno::EINVAL).is_some());
    }

    #[test]
    fn a_file_that_is_no_table_is_an_error_and_not_an_empty_table() {
        for contents in [&b"\x00\x01\x02 no line at all"[..], b"a,b\n1,AB\n", b"one\ntwo\n"] {
            let file = temporary("no-table");
            platform::write_at(platform::raw(&file), contents, 0).unwrap();
            let mut rows = stream(StreamForm::Rows, 16);
            let read = rows.perform(&io(&file, Op::Read, &mut [0; 2]));
            assert_eq!(read, Err(Errno::EINVAL));
            assert!(rows.explain(Op::Read, Errno::EINVAL).unwrap().contains("key,text"));
        }
        let endless = std::fs::File::open("/dev/zero").unwrap();
        let mut rows = stream(StreamForm::Rows, 8192);
        assert_eq!(rows.perform(&io(&endless, Op::Read, &mut [0; 2])), Err(Errno::EINVAL));
        let mut none = stream(StreamForm::Rows, 16);
        assert_eq!(none.perform(&io(&temporary("no-rows"), Op::Read, &mut [0; 2])), Ok(0));
    }

    #[test]
    fn a_buffer_goes_down_when_full_and_when_it_is_emptied() {
        let file = temporary("buffered");
        let mut out = stream(StreamForm::Plain, 8);
        let mut record = *b"abc";
        for _ in 0..3 {
            out.perform(&io(&file, Op::Write, &mut record)).unwrap();
        }
        assert_eq!(super::super::tests_read_all(&file), b"abcabc");
        out.pipe.borrow_mut().empty().unwrap();
        let mut large = *b"0123456789";
        out.perform(&io(&file, Op::Write, &mut large)).unwrap();
        assert_eq!(super::super::tests_read_all(&file), b"abcabcabc0123456789");
        let mut back = stream(StreamForm::Plain, 8);
        let mut room = [0; 15];
        assert_eq!(back.perform(&io(&file, Op::Read, &mut room)), Ok(15));
        assert_eq!(back.perform(&io(&file, Op::Read, &mut room)), Ok(4), "then the file ends");
    }
}

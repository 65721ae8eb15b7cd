//! Binary traces of block devices, as `blkparse -d` writes them: `struct
//! blk_io_trace` of linux/blktrace_api.h, records of 48 bytes in the byte order
//! of the machine they come from, each with some bytes of payload behind it.

use super::{LogError, Name, Place, Shape, Step};
use iosonde_base::{FileId, Op, Planned};

/// Bytes of a record without its payload.
pub(crate) const RECORD_BYTES: usize = 48;

/// The first three bytes of each record's magic number; the fourth is the
/// version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

/// Offsets are counted in these.
const SECTOR_BYTES: u64 = 512;

/// The low half of the action says what happened; this is the I/O being asked
/// for, which is what a program did.
const QUEUED: u32 = 1;

// Bits of the high half: of what kind it is.
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// The order of bytes in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// The byte order of a trace that begins so; none if it is no trace.
pub(super) fn order(bytes: &[u8]) -> Option<Order> {
    let magic: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    match MAGIC >> 8 {
        wanted if u32::from_le_bytes(magic) >> 8 == wanted => Some(Order::Little),
        wanted if u32::from_be_bytes(magic) >> 8 == wanted => Some(Order::Big),
        _ => None,
    }
}

/// What one record says, as far as anybody here wants to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds, since whenever.
    pub time_ns: u64,
    /// Where.
    pub sector: u64,
    /// How many bytes.
    pub bytes: u32,
    /// What happened, and of what kind it is: `BLK_TA_*`, `BLK_TC_*`.
    pub action: u32,
    /// The device: 12 bits of major number, 20 of minor.
    pub device: u32,
    /// Which processor it happened on.
    pub cpu: u32,
    /// Which process asked.
    pub pid: u32,
}

impl Event {
    /// Whether this is an I/O that a program asked for.
    pub fn is_queued(&self) -> bool {
        self.action & 0xffff == QUEUED && self.action & NOTIFY == 0
    }

    fn op(&self) -> Op {
        match self.action {
            kind if kind & DISCARD != 0 => Op::Trim,
            kind if kind & FLUSH != 0 => Op::Sync,
            kind if kind & WRITE != 0 => Op::Write,
            _ => Op::Read,
        }
    }
}

/// Reads records.
#[derive(Clone, Debug)]
pub(super) struct Blktrace {
    order: Order,
    /// Bytes read so far.
    at: u64,
    /// When the first I/O was asked for.
    began_ns: Option<u64>,
    /// The devices, in the order of their numbers as files.
    devices: Vec<u32>,
    /// The device of the last I/O, and its file.
    last: Option<(u32, FileId)>,
}

impl Blktrace {
    pub fn new(order: Order) -> Blktrace {
        Blktrace { order, at: 0, began_ns: None, devices: Vec::new(), last: None }
    }

    pub fn feed(
        &mut self,
        bytes: &[u8],
        shape: &Shape,
        names: &mut Vec<Name>,
        steps: &mut Vec<Step>,
    ) -> Result<usize, LogError> {
        let mut rest = bytes;
        while let Some((event, len)) = self.record(rest)? {
            if event.is_queued() {
                self.take(&event, shape, names, steps);
            }
            self.at += len as u64;
            rest = &rest[len..];
        }
        Ok(bytes.len() - rest.len())
    }

    /// The record at the start of `bytes` and its length with the payload; none
    /// if it is not there as a whole.
    fn record(&self, bytes: &[u8]) -> Result<Option<(Event, usize)>, LogError> {
        let Some(record) = bytes.first_chunk::<RECORD_BYTES>() else { return Ok(None) };
        let found = order(record);
        if found != Some(self.order) {
            return Err(LogError {
                place: Place::Byte(self.at),
                message: "there is no record of a blktrace here".to_owned(),
                help: Some("make the file again: blkparse DEVICE -o /dev/null -d FILE"),
            });
        }
        let word = |at: usize| {
            let word: [u8; 4] = [record[at], record[at + 1], record[at + 2], record[at + 3]];
            match self.order {
                Order::Little => u32::from_le_bytes(word),
                Order::Big => u32::from_be_bytes(word),
            }
        };
        let long = |at: usize| {
            let (first, second) = (u64::from(word(at)), u64::from(word(at + 4)));
            match self.order {
                Order::Little => second << 32 | first,
                Order::Big => first << 32 | second,
            }
        };
        let version = word(0) & 0xff;
        if version != VERSION {
            return Err(LogError {
                place: Place::Byte(self.at),
                message: format!("the blktrace is of version {version}, and {VERSION} is read"),
                help: None,
            });
        }
        let payload = match self.order {
            Order::Little => u16::from_le_bytes([record[46], record[47]]),
            Order::Big => u16::from_be_bytes([record[46], record[47]]),
        };
        let len = RECORD_BYTES + usize::from(payload);
        if bytes.len() < len {
            return Ok(None);
        }
        let event = Event {
            time_ns: long(8),
            sector: long(16),
            bytes: word(24),
            action: word(28),
            pid: word(32),
            device: word(36),
            cpu: word(40),
        };
        Ok(Some((event, len)))
    }

    fn take(&mut self, event: &Event, shape: &Shape, names: &mut Vec<Name>, steps: &mut Vec<Step>) {
        let began = *self.began_ns.get_or_insert(event.time_ns);
        let op = event.op();
        if !shape.keeps(op) || event.bytes == 0 && op != Op::Sync {
            return;
        }
        let due_ns = shape.moment(event.time_ns.saturating_sub(began));
        let file = self.file(event.device, shape, due_ns, names, steps);
        // A sync is of the whole device.
        let entry = match op {
            Op::Sync => Planned { offset: 0, len: 0, file, op },
            _ => {
                let offset = event.sector.saturating_mul(SECTOR_BYTES).min(MOST_OFFSET);
                let entry = shape.place(Planned { offset, len: event.bytes, file, op });
                Planned { len: shape.whole(event.bytes), ..entry }
            }
        };
        steps.push(Step { due_ns, entry });
    }

    /// The file that stands for a device, opened at its first I/O.
    fn file(
        &mut self,
        device: u32,
        shape: &Shape,
        due_ns: u64,
        names: &mut Vec<Name>,
        steps: &mut Vec<Step>,
    ) -> FileId {
        if let Some((last, file)) = self.last
            && last == device
        {
            return file;
        }
        let known = if shape.one_file {
            (!self.devices.is_empty()).then_some(0)
        } else {
            self.devices.iter().position(|&known| known == device)
        };
        let index = known.unwrap_or_else(|| {
            self.devices.push(device);
            names.push(Name::Device { major: device >> 20, minor: device & 0xf_ffff });
            let file = FileId(names.len() as u32 - 1);
            let entry = Planned { op: Op::Open, file, ..Planned::default() };
            steps.push(Step { due_ns, entry });
            names.len() - 1
        });
        let file = FileId(index as u32);
        self.last = Some((device, file));
        file
    }
}

/// No I/O begins behind this, so that no sum of places overflows.
const MOST_OFFSET: u64 = i64::MAX as u64 - u32::MAX as u64;

/// Append `event` as a record without payload, in the byte order of x86.
/// `sequence` counts the records.
pub fn write(event: &Event, sequence: u32, bytes: &mut Vec<u8>) {
    let words = [MAGIC | VERSION, sequence];
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    [event.time_ns, event.sector].iter().for_each(|long| bytes.extend(long.to_le_bytes()));
    let words = [event.bytes, event.action, event.pid, event.device, event.cpu];
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    // No error, no payload.
    bytes.extend([0; 4]);
}

/// Every event of a trace, in its order, with those that are no I/O.
///
/// # Errors
/// Where there is no record.
pub(super) fn events(bytes: &[u8]) -> Result<Vec<Event>, LogError> {
    let no_trace = LogError {
        place: Place::Byte(0),
        message: "this is no binary blktrace".to_owned(),
        help: Some("only those can be merged"),
    };
    let mut trace = Blktrace::new(order(bytes).ok_or(no_trace)?);
    let (mut rest, mut events) = (bytes, Vec::new());
    while let Some((event, len)) = trace.record(rest)? {
        events.push(event);
        trace.at += len as u64;
        rest = &rest[len..];
    }
    Ok(events)
}

//! What was read beside what should be there.

use super::block::BlockFound;
use super::planned::{PlannedBlock, PlannedWrite};
use iosonde_verify::{
    BlockType, Diagnosis, HEADER_BYTES, Header, HeaderError, MAGIC, MismatchKind, VERSION,
    diagnose, hex, remake,
};

/// The source of a block's expected contents.
#[derive(Clone, Debug)]
pub enum ExpectedFrom {
    /// A job's writes, drawn again.
    Job(PlannedWrite),
    /// The form that options give, and the header that was read.
    Form,
    /// The header that was read.
    Header,
    /// It is not known.
    Unknown,
}

/// A field of the header, as read and as it should be.
#[derive(Clone, Debug)]
pub struct HeaderField {
    /// Its name.
    pub name: &'static str,
    /// As read.
    pub found: String,
    /// As it should be, if that is known and compared.
    pub wanted: Option<String>,
}

impl HeaderField {
    /// Whether it is another than it should be.
    pub fn is_wrong(&self) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| *wanted != self.found)
    }
}

/// The checksum behind the header.
#[derive(Clone, Debug)]
pub struct StoredChecksum {
    /// Its type.
    pub block_type: BlockType,
    /// As read.
    pub stored: String,
    /// Of the content as read.
    pub calculated: String,
}

/// Bytes of the content that differ from what should be there.
#[derive(Clone, Debug)]
pub struct DifferingBytes {
    /// How many.
    pub bytes: usize,
    /// Bits.
    pub bits: u64,
    /// The first, from the beginning of the interval.
    pub first: usize,
    /// From there on, as read and as it should be: up to 16 bytes.
    pub found: Vec<u8>,
    /// As it should be.
    pub wanted: Vec<u8>,
}

/// An interval, judged.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What was read.
    pub found: BlockFound,
    /// The fields of the header; empty for types without one.
    pub header: Vec<HeaderField>,
    /// The checksum, for types with one.
    pub sum: Option<StoredChecksum>,
    /// From where it is known what should be there.
    pub source: ExpectedFrom,
    /// Why no write of the job is known to it, where a job was named.
    pub why_no_write: Option<String>,
    /// How the content differs from that, if it is known and differs.
    pub differing: Option<DifferingBytes>,
    /// What is wrong, if anything is.
    pub diagnosis: Option<Judgement>,
}

/// How a block is wrong.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Its name for programs.
    pub id: &'static str,
    /// In words.
    pub words: String,
}

impl Compared {
    /// Compare `found` with what `planned`, or else its own header, says.
    pub fn new(found: BlockFound, planned: Option<PlannedBlock>) -> Compared {
        let given = planned.as_ref().map(|planned| planned.format.block_type());
        let write = planned.as_ref().and_then(|planned| planned.write.clone());
        let has_header = given.is_none_or(BlockType::has_header);
        let long = found.bytes.len() > HEADER_BYTES;
        let header = (has_header && long).then(|| Header::decode(&found.bytes));
        // Without a job, what does not begin with a header is no block.
        let header = header.filter(|header| header.magic == MAGIC || planned.is_some());
        let fields = header.map(|header| fields(&header, &found, given, write.as_ref()));
        let fields = fields.unwrap_or_default();
        let block_type = given.or_else(|| {
            let header = header.filter(|header| header.magic == MAGIC)?;
            BlockType::from_number(header.block_type)
        });
        let sum = block_type.and_then(|block_type| sum(block_type, &found.bytes));
        let wanted = wanted(&found, planned.as_ref(), header.as_ref());
        let source = match (&write, &wanted) {
            (Some(write), _) => ExpectedFrom::Job(write.clone()),
            (None, None) => ExpectedFrom::Unknown,
            (None, Some(_)) if planned.is_some() => ExpectedFrom::Form,
            (None, Some(_)) => ExpectedFrom::Header,
        };
        let mut compared = Compared {
            why_no_write: planned.and_then(|planned| planned.why_none),
            differing: wanted.as_deref().and_then(|wanted| {
                differing(&found.bytes, wanted, block_type.filter(|_| has_header))
            }),
            header: fields,
            sum,
            source,
            found,
            diagnosis: None,
        };
        if !compared.agrees(header.is_some()) {
            compared.diagnosis = Some(compared.judge(wanted.as_deref()));
        }
        compared
    }

    /// Whether nothing is wrong with the block.
    pub fn is_right(&self) -> bool {
        self.diagnosis.is_none()
    }

    fn agrees(&self, has_header: bool) -> bool {
        let sum = self.sum.as_ref().is_none_or(|sum| sum.stored == sum.calculated);
        let header = !self.header.iter().any(HeaderField::is_wrong);
        let known = has_header || !matches!(self.source, ExpectedFrom::Unknown);
        known && header && sum && self.differing.is_none()
    }

    fn judge(&self, wanted: Option<&[u8]>) -> Judgement {
        let BlockFound { bytes, len, offset, .. } = &self.found;
        if bytes.len() < *len {
            let words = format!("the file ends after {} of {len} bytes of it", bytes.len());
            return Judgement { id: "truncated", words };
        }
        // Only whether it is the header that is wrong decides.
        let kind = if self.header.iter().any(HeaderField::is_wrong) {
            MismatchKind::Header(HeaderError::Magic { found: 0 })
        } else {
            MismatchKind::NotZero { at: 0 }
        };
        let diagnosis = diagnose(bytes, wanted, &kind, *offset);
        let words = match (&diagnosis, &self.source, self.header.is_empty()) {
            (Diagnosis::Unknown, ExpectedFrom::Unknown, true) => {
                "no header of a verified block here; name the job that wrote it".to_owned()
            }
            (Diagnosis::Unknown, ExpectedFrom::Unknown | ExpectedFrom::Header, _) => {
                "damaged; the job that wrote it would show how: name it".to_owned()
            }
            _ => diagnosis.to_string(),
        };
        Judgement { id: diagnosis.id(), words }
    }
}

fn fields(
    header: &Header,
    found: &BlockFound,
    given: Option<BlockType>,
    write: Option<&PlannedWrite>,
) -> Vec<HeaderField> {
    let field = |name, found: String, wanted: Option<String>| HeaderField { name, found, wanted };
    let kind = match BlockType::from_number(header.block_type) {
        Some(known) => known.name().to_owned(),
        None => format!("{} (unknown)", header.block_type),
    };
    // Old versions of fio wrote another number for the same type.
    let kind = if kind == "crc32c-intel" { "crc32c".to_owned() } else { kind };
    let known = |value: fn(&PlannedWrite) -> u64| write.map(|write| value(write).to_string());
    let crc = Header::crc_of(&found.bytes);
    let seed = |write: &PlannedWrite| write.identity.seed;
    let number = |write: &PlannedWrite| write.identity.number;
    let job = |write: &PlannedWrite| u64::from(write.identity.thread);
    let written = format!("{}.{:09} s", header.time_sec, header.time_nsec);
    let magic = field("magic", format!("{:04x}", header.magic), Some(format!("{MAGIC:04x}")));
    if header.magic != MAGIC {
        // What follows is no header.
        return vec![magic];
    }
    vec![
        magic,
        field("version", format!("{:x}", header.version), Some(format!("{VERSION:x}"))),
        field("type", kind, given.map(|given| given.name().to_owned())),
        field("length", header.len.to_string(), Some(found.len.to_string())),
        field("seed", header.seed.to_string(), known(seed)),
        field("offset", header.offset.to_string(), Some(found.offset.to_string())),
        field("written", written, None),
        field("number", header.number.to_string(), known(number)),
        field("job", header.thread.to_string(), known(job)),
        field("checksum", format!("{:08x}", header.crc), Some(format!("{crc:08x}"))),
    ]
}

fn sum(block_type: BlockType, bytes: &[u8]) -> Option<StoredChecksum> {
    let taken = HEADER_BYTES + block_type.trailer_bytes();
    if block_type.trailer_bytes() == 0 || bytes.len() <= taken {
        return None;
    }
    let calculated = block_type.checksum(&bytes[taken..]);
    Some(StoredChecksum {
        block_type,
        stored: hex(&bytes[HEADER_BYTES..taken]),
        calculated: hex(calculated.as_bytes()),
    })
}

/// What the interval should hold, its header in front.
fn wanted(
    found: &BlockFound,
    planned: Option<&PlannedBlock>,
    header: Option<&Header>,
) -> Option<Vec<u8>> {
    let Some(planned) = planned else { return remake(&found.bytes) };
    let (io, io_len) = found.io;
    let identity = match (&planned.write, header) {
        (Some(write), _) => write.identity,
        (None, _) if !planned.format.content().uses_seed() => iosonde_verify::BlockIdentity {
            offset: io,
            number: header.map_or(0, |header| header.number),
            ..Default::default()
        },
        (None, Some(header)) if header.magic == MAGIC => iosonde_verify::BlockIdentity {
            seed: header.seed,
            offset: io,
            number: header.number,
            thread: header.thread,
            ..Default::default()
        },
        _ => return None,
    };
    let block = planned.format.expected_bytes(io_len, &identity);
    let from = usize::try_from(found.offset - io).ok()?;
    let mut wanted = block.get(from..from + found.bytes.len())?.to_vec();
    planned.format.header_to_front(&mut wanted);
    Some(wanted)
}

/// How the content differs, header and trailer left out.
fn differing(
    bytes: &[u8],
    wanted: &[u8],
    with_header: Option<BlockType>,
) -> Option<DifferingBytes> {
    const SHOWN: usize = 16;
    let skip = with_header.map_or(0, |kind| HEADER_BYTES + kind.trailer_bytes()).min(bytes.len());
    let pairs = || bytes.iter().zip(wanted).skip(skip);
    let first = skip + pairs().position(|(one, other)| one != other)?;
    let end = (first + SHOWN).min(bytes.len());
    Some(DifferingBytes {
        bytes: pairs().filter(|(one, other)| one != other).count(),
        bits: pairs().map(|(one, other)| u64::from((one ^ other).count_ones())).sum(),
        first,
        found: bytes[first..end].to_vec(),
        wanted: wanted[first..end].to_vec(),
    })
}

//! Recordings: what the lines and records of each format mean, what is refused
//! and where, and that no bytes at all make the parser panic.

#[path = "../../../fuzz/src/recordings.rs"]
mod recordings;

use iosonde_base::{FileId, Op, Planned, Ring};
use iosonde_testing::Mutations;
use iosonde_workload::replay::{
    Event, LogError, Name, NextPiece, Parser, Pieces, Place, Shape, Skip, Step, Steps, Unreadable,
    write_blktrace,
};
use iosonde_workload::{Refill, Source, SourceSpec};
use proptest::prelude::*;
use std::sync::Arc;

/// All of a recording, in portions of so many bytes.
fn parse_by(
    bytes: &[u8],
    shape: Shape,
    portion: usize,
) -> Result<(Vec<Name>, Vec<Step>), LogError> {
    let (mut parser, mut steps) = (Parser::new(shape), Vec::new());
    let (mut at, mut end) = (0, 0);
    while end < bytes.len() {
        end = (end + portion).min(bytes.len());
        at += parser.feed(&bytes[at..end], false, &mut steps)?;
    }
    at += parser.feed(&bytes[at..], true, &mut steps)?;
    parser.finish(bytes.len() - at)?;
    Ok((parser.names().to_vec(), steps))
}

fn parse(bytes: &[u8]) -> Result<(Vec<Name>, Vec<Step>), LogError> {
    parse_by(bytes, Shape::default(), usize::MAX / 2)
}

fn shaped(text: &str, shape: Shape) -> Vec<Step> {
    parse_by(text.as_bytes(), shape, 7).unwrap().1
}

/// `line:column` of the objection to a text, and its words.
fn objection(text: &str) -> (u64, u64, String) {
    let error = parse(text.as_bytes()).expect_err(text);
    let Place::Text { line, column } = error.place else { panic!("{error}") };
    (line, column, error.message)
}

fn entry(op: Op, file: u32, offset: u64, len: u32) -> Planned {
    Planned { op, file: FileId(file), offset, len }
}

const THREE: &str = "fio version 3 iolog\n0 /a add\n5 /b c add\n6 /a open\n7 /b c open\n\
    10 /a read 0 4096\n20 /b c write 8192 512\n21 /b c sync 4096 0\n22 /b c datasync 0 0\n\
    23 /a trim 0 65536\n24 /a sync\n30 /a close\n";

#[test]
fn each_line_of_version_3_is_a_step_at_its_time() {
    let (names, steps) = parse(THREE.as_bytes()).unwrap();
    assert_eq!(names, [Name::Path("/a".into()), Name::Path("/b c".into())]);
    let wanted = [
        (6, entry(Op::Open, 0, 0, 0)),
        (7, entry(Op::Open, 1, 0, 0)),
        (10, entry(Op::Read, 0, 0, 4096)),
        (20, entry(Op::Write, 1, 8192, 512)),
        (21, entry(Op::Sync, 1, 4096, 0)),
        (22, entry(Op::DataSync, 1, 0, 0)),
        (23, entry(Op::Trim, 0, 0, 65536)),
        (24, entry(Op::Sync, 0, 0, 0)),
        (30, entry(Op::Close, 0, 0, 0)),
    ];
    let wanted = wanted.map(|(us, entry)| Step { due_ns: us * 1000, entry });
    assert_eq!(steps, wanted);
}

#[test]
fn waits_of_version_2_add_up_and_short_ones_are_left_out() {
    let text = "fio version 2 iolog\n/a add\n/a open\n/a read 0 512\n/a wait 1000 0\n/a wait 99 0\n\
        /a read 512 512\n/a wait 100\n/a write 0 512\n";
    let dues: Vec<u64> = shaped(text, Shape::default()).iter().map(|step| step.due_ns).collect();
    assert_eq!(dues, [0, 0, 1_000_000, 1_100_000]);
}

#[test]
fn portions_lines_without_end_and_carriage_returns_make_no_difference() {
    let whole = parse(THREE.as_bytes());
    for portion in [1, 2, 3, 47, 48, 49] {
        assert_eq!(parse_by(THREE.as_bytes(), Shape::default(), portion), whole, "{portion}");
    }
    assert_eq!(parse(THREE.trim_end().as_bytes()), whole);
    assert_eq!(parse(THREE.replace('\n', "\r\n").as_bytes()), whole);
    assert_eq!(parse(THREE.replace('\n', "\n\n \t\n").as_bytes()), whole);
}

#[test]
fn a_recording_appended_to_another_goes_on_where_that_ended() {
    let again = "fio version 3 iolog\n0 /a add\n1 /a open\n2 /a read 0 4096\n";
    let steps = shaped(&format!("{THREE}{again}"), Shape::default());
    assert_eq!(steps.last().unwrap().due_ns, 32_000);
}

#[test]
fn what_is_left_out_scaled_and_redirected_is_so() {
    let skip = Skip { reads: true, syncs: true, ..Skip::default() };
    let shape = Shape { skip, speed_percent: 200, scale: 2, align: 4096, ..Shape::default() };
    let steps = shaped(THREE, shape);
    let ops: Vec<Op> = steps.iter().map(|step| step.entry.op).collect();
    assert_eq!(ops, [Op::Open, Op::Open, Op::Write, Op::Trim, Op::Close]);
    assert_eq!((steps[2].entry.offset, steps[2].entry.len, steps[2].due_ns), (4096, 512, 10_000));

    let shape = Shape { one_file: true, ..Shape::default() };
    let (names, steps) = parse_by(THREE.as_bytes(), shape, 100).unwrap();
    assert_eq!(names.len(), 1);
    assert!(steps.iter().all(|step| step.entry.file == FileId(0)));
    // Open as long as either of the two is: the second never closes.
    let controls = steps.iter().filter(|step| step.entry.op.is_control());
    assert_eq!(controls.map(|step| step.entry.op).collect::<Vec<_>>(), [Op::Open]);
}

#[test]
fn every_objection_names_its_line_and_column() {
    let v2 = |line: &str| objection(&format!("fio version 2 iolog\n/a add\n/a open\n{line}\n"));
    let v3 = |line: &str| objection(&format!("fio version 3 iolog\n0 /a add\n0 /a open\n{line}\n"));
    let cases = [
        (v2("/a frob 0 1"), (4, 4, "frob is no action; there are")),
        (v2("/a read 0"), (4, 4, "read takes an offset and a length")),
        (v2("/a read"), (4, 4, "read takes an offset and a length")),
        (v2("/a read 0 4k"), (4, 11, "4k is no number of bytes")),
        (v2("/a read -1 4096"), (4, 9, "-1 is no number of bytes")),
        (v2("/a read 0 0"), (4, 11, "an I/O of 0 bytes")),
        (v2("/a read 0 4294967296"), (4, 11, "less than 4 GiB")),
        (v2("/a write 9223372036854775807 1"), (4, 10, "past 2^63")),
        (v2("/a read 99999999999999999999 1"), (4, 9, "99999999999999999999 is no number")),
        (v2("/b read 0 1"), (4, 1, "/b was not added")),
        (v2("read 0 1"), (4, 1, "the name of a file is missing")),
        (v2("/a close\n/a read 0 1"), (5, 1, "/a is not open")),
        (v2("fio version 4 iolog"), (4, 13, "only versions 2 and 3")),
        (v3("x /a read 0 1"), (4, 1, "x is no time")),
        (v3("5 /a wait 100 0"), (4, 6, "version 3 has no wait")),
        (v3("5 /a read 0 1 more"), (4, 15, "more is no action")),
        (objection("0, 0, 4096\n"), (1, 1, "neither an iolog")),
        (objection("fio version 1 iolog\n"), (1, 13, "only versions 2 and 3")),
        (objection(""), (1, 1, "empty")),
    ];
    for ((line, column, message), (wanted_line, wanted_column, words)) in cases {
        assert_eq!((line, column), (wanted_line, wanted_column), "{message}");
        assert!(message.contains(words), "{message}");
    }
}

const QUEUED: u32 = 1 | 1 << 20;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

fn event(time_ns: u64, sector: u64, bytes: u32, action: u32) -> Event {
    Event { time_ns, sector, bytes, action, device: 8 << 20 | 16, ..Event::default() }
}

fn trace(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    events.iter().zip(0..).for_each(|(event, n)| write_blktrace(event, n, &mut bytes));
    bytes
}

#[test]
fn a_trace_of_block_devices_is_the_queued_ios_since_the_first() {
    let events = [
        event(0, 0, 0, NOTIFY | 1),
        event(1000, 0, 4096, QUEUED),
        event(1500, 8, 4096, 7),
        event(2000, 8, 512, QUEUED | WRITE),
        event(3000, 0, 0, QUEUED | WRITE | FLUSH),
        event(4000, 16, 1 << 20, QUEUED | DISCARD | WRITE),
        event(5000, 16, 0, QUEUED | WRITE),
        Event { device: 7 << 20, ..event(500, 1, 512, QUEUED) },
    ];
    let (names, steps) = parse(&trace(&events)).unwrap();
    let device = |major, minor| Name::Device { major, minor };
    assert_eq!(names, [device(8, 16), device(7, 0)]);
    let wanted = [
        (0, entry(Op::Open, 0, 0, 0)),
        (0, entry(Op::Read, 0, 0, 4096)),
        (1000, entry(Op::Write, 0, 4096, 512)),
        (2000, entry(Op::Sync, 0, 0, 0)),
        (3000, entry(Op::Trim, 0, 8192, 1 << 20)),
        // Earlier than the first: at once.
        (0, entry(Op::Open, 1, 0, 0)),
        (0, entry(Op::Read, 1, 512, 512)),
    ];
    assert_eq!(steps, wanted.map(|(due_ns, entry)| Step { due_ns, entry }));
}

#[test]
fn a_trace_from_a_machine_of_the_other_byte_order_reads_the_same() {
    let little = trace(&[event(7, 8, 4096, QUEUED), event(9 << 32, 16 << 32, 512, QUEUED | WRITE)]);
    let mut big = little.clone();
    for record in big.chunks_mut(48) {
        // u32, u32, u64, u64, five u32, two u16.
        let mut at = 0;
        for size in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
            record[at..at + size].reverse();
            at += size;
        }
    }
    assert_eq!(parse(&big), parse(&little));
}

#[test]
fn moments_and_sectors_of_a_trace_have_64_bits() {
    let events = [event(1 << 32, 0, 512, QUEUED), event(5 << 32, 1 << 33, 512, QUEUED)];
    let (_, steps) = parse(&trace(&events)).unwrap();
    let last = steps.last().unwrap();
    assert_eq!((last.due_ns, last.entry.offset), (4 << 32, 1 << 42));
}

#[test]
fn a_trace_that_breaks_off_or_off_track_says_where() {
    let whole = trace(&[event(7, 8, 4096, QUEUED), event(9, 16, 512, QUEUED | WRITE)]);
    let mut parser = Parser::new(Shape::default());
    let mut steps = Vec::new();
    let taken = parser.feed(&whole[..90], true, &mut steps).unwrap();
    assert_eq!((taken, steps.len()), (48, 2));
    assert!(parser.finish(90 - taken).unwrap().unwrap().contains("42 bytes into a record"));

    let mut broken = whole.clone();
    broken[48] ^= 0xff;
    broken[50] ^= 0xff;
    assert_eq!(parse(&broken).unwrap_err().place, Place::Byte(48));
    let mut other = whole;
    other[0] = 9;
    assert!(parse(&other).unwrap_err().message.contains("version 9"));
}

#[test]
fn a_source_hands_out_the_steps_with_their_moments_and_then_ends() {
    let steps: Vec<Step> = (0..1000)
        .map(|n| Step { due_ns: n * 10, entry: entry(Op::Write, 0, n * 512, 512) })
        .collect();
    let replay = Some(Steps::Whole(Arc::new(steps.clone())));
    let mut source = Source::new(SourceSpec { replay, ..SourceSpec::default() }).unwrap();
    let (mut ring, mut seen) = (Ring::default(), Vec::new());
    while source.refill(&mut ring) == Refill::Planned {
        let dues = source.dues().to_vec();
        assert_eq!(dues.len(), ring.waiting() as usize);
        seen.extend(dues.into_iter().map(|due_ns| Step { due_ns, entry: ring.pop().unwrap() }));
    }
    assert_eq!(seen, steps);
    assert_eq!(source.refill(&mut ring), Refill::Done);
}

/// An action on one of three files, as it may be recorded.
fn actions() -> impl Strategy<Value = Vec<(u64, u32, Op, u64, u32)>> {
    let op = prop::sample::select(vec![Op::Read, Op::Write, Op::Trim, Op::Sync, Op::DataSync]);
    prop::collection::vec((0..5_000_000u64, 0..3u32, op, 0..1u64 << 50, 1..u32::MAX), 0..50)
}

#[test]
fn mutations_of_recordings_are_read_or_refused() {
    let events: Vec<Event> = (0..20)
        .map(|n| event(n * 1000, n * 8, 4096, QUEUED | if n % 2 == 0 { WRITE } else { 0 }))
        .collect();
    let two = "fio version 2 iolog\n/a add\n/a open\n/a wait 500 0\n/a write 512 4096\n/a close\n";
    let seeds = [THREE.as_bytes().to_vec(), two.into(), trace(&events)];
    Mutations { seeds: &seeds, pieces: &PIECES, count: 5000 }.run(recordings::recording);
    Mutations { seeds: &seeds, pieces: &PIECES, count: 5000 }.run(recordings::blktrace);
}

/// What matters in a recording.
const PIECES: [&str; 8] =
    ["\n", " ", "/a", " wait 1", "fio version 3 iolog\n", "18446744073709551615", "-1", "\x07tae"];

proptest! {
    #[test]
    fn what_is_written_down_reads_back(actions in actions(), portion in 1..200usize) {
        let mut text = "fio version 3 iolog\n".to_owned();
        let names = ["/dev/sda", "/a b/c", "d"];
        names.iter().for_each(|name| text += &format!("0 {name} add\n0 {name} open\n"));
        for &(us, file, op, offset, len) in &actions {
            let name = names[file as usize];
            let word = match op {
                Op::Read => "read",
                Op::Write => "write",
                Op::Trim => "trim",
                Op::Sync => "sync",
                _ => "datasync",
            };
            text += &format!("{us} {name} {word} {offset} {len}\n");
        }
        let (_, steps) = parse_by(text.as_bytes(), Shape::default(), portion).unwrap();
        let wanted = actions.iter().map(|&(us, file, op, offset, len)| Step {
            due_ns: us * 1000,
            entry: entry(op, file, offset, len),
        });
        prop_assert_eq!(&steps[3..], &wanted.collect::<Vec<_>>());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_by(&bytes, Shape::default(), 5);
        let text = [b"fio version 3 iolog\n", &bytes[..]].concat();
        let _ = parse(&text);
        let binary = [&[7, b't', b'a', b'e'], &bytes[..]].concat();
        let _ = parse(&binary);
    }
}

#[test]
fn lines_that_change_nothing_make_no_step() {
    let text = "fio version 2 iolog\n/a add\n/a close\n/a open\n/a open\n/a read 0 512\n\
        /a sync_file_range 512 1024\n/a close\n/a close\n";
    let entries: Vec<Planned> =
        shaped(text, Shape::default()).iter().map(|step| step.entry).collect();
    let wanted = [
        entry(Op::Open, 0, 0, 0),
        entry(Op::Read, 0, 0, 512),
        entry(Op::SyncRange, 0, 512, 1024),
        entry(Op::Close, 0, 0, 0),
    ];
    assert_eq!(entries, wanted);
    let most = u64::MAX >> 1;
    let far = format!("fio version 2 iolog\n/a add\n/a open\n/a read {} 512\n", most - 512);
    assert_eq!(shaped(&far, Shape::default())[1].entry.offset, most - 512);
    let skip = Skip { writes: true, trims: true, ..Skip::default() };
    let left = shaped(THREE, Shape { skip, ..Shape::default() });
    assert!(left.iter().all(|step| !matches!(step.entry.op, Op::Write | Op::Trim)));
    assert_eq!(left.len(), 7);
    let cut = |line: &str| objection(&format!("fio version 2 iolog\n/a add\n/a open\n{line}\n"));
    assert!(cut("/a wait").2.contains("wait"));
    assert_eq!((cut("/a read 0 1 2").0, cut("/a read 0 1 2").1), (4, 9));
}

#[test]
fn whole_lines_and_records_are_read_as_they_come() {
    let mut parser = Parser::new(Shape::default());
    let mut steps = Vec::new();
    let end = THREE.len() - 1;
    let taken = parser.feed(&THREE.as_bytes()[..end], false, &mut steps).unwrap();
    assert_eq!(&THREE[taken..end], "30 /a close", "all but the line that is not whole");
    assert_eq!(steps.len(), 8);

    let bytes = trace(&[event(7, 8, 4096, QUEUED), event(9, 16, 512, QUEUED | WRITE)]);
    let mut parser = Parser::new(Shape::default());
    steps.clear();
    for few in [3, 47] {
        assert_eq!(parser.feed(&bytes[..few], false, &mut steps).unwrap(), 0);
    }
    assert_eq!(parser.feed(&bytes[..48], false, &mut steps).unwrap(), 48);
    assert_eq!(parser.feed(&bytes[48..], true, &mut steps).unwrap(), 48);
    assert_eq!((parser.finish(0).unwrap(), steps.len()), (None, 3));
}

#[test]
fn lengths_of_a_trace_become_whole_blocks_and_syncs_have_none() {
    let events = [
        event(0, 1, 512, QUEUED | WRITE),
        event(5, 9, 0, QUEUED | WRITE | FLUSH),
        event(6, 17, 4608, QUEUED),
    ];
    let shape = Shape { align: 4096, ..Shape::default() };
    let (_, steps) = parse_by(&trace(&events), shape, 1000).unwrap();
    let wanted = [
        entry(Op::Open, 0, 0, 0),
        entry(Op::Write, 0, 0, 4096),
        entry(Op::Sync, 0, 0, 0),
        entry(Op::Read, 0, 8192, 8192),
    ];
    assert_eq!(steps.iter().map(|step| step.entry).collect::<Vec<_>>(), wanted);
}

/// Steps two at a time, and then a failure.
#[derive(Clone, Debug)]
struct Twos(Vec<Step>);

impl Pieces for Twos {
    fn begin(&self) -> Box<dyn NextPiece> {
        Box::new(self.clone())
    }
}

impl NextPiece for Twos {
    fn next(&mut self, piece: &mut Vec<Step>) -> Result<(), Unreadable> {
        if self.0.is_empty() {
            return Err(Unreadable);
        }
        let count = self.0.len().min(2);
        piece.extend(self.0.drain(..count));
        Ok(())
    }
}

#[test]
fn pieces_are_handed_out_until_one_cannot_be_read() {
    let steps: Vec<Step> =
        (0..5).map(|n| Step { due_ns: n, entry: entry(Op::Read, 0, n * 512, 512) }).collect();
    let pieces = Steps::Pieces(Arc::new(Twos(steps.clone())));
    let whole = |steps: &[Step]| Steps::Whole(Arc::new(steps.to_vec()));
    assert_eq!(pieces, pieces.clone());
    assert_ne!(pieces, Steps::Pieces(Arc::new(Twos(steps.clone()))), "another reader");
    assert_ne!(pieces, whole(&steps));
    assert_eq!(whole(&steps), whole(&steps));
    assert_ne!(whole(&steps), whole(&steps[1..]));

    let spec = SourceSpec { replay: Some(pieces), ..SourceSpec::default() };
    let mut source = Source::new(spec).unwrap();
    let (mut ring, mut seen) = (Ring::default(), Vec::new());
    while source.refill(&mut ring) == Refill::Planned {
        assert!(ring.waiting() <= 2);
        let dues = source.dues().to_vec();
        seen.extend(dues.into_iter().map(|due_ns| Step { due_ns, entry: ring.pop().unwrap() }));
    }
    assert_eq!(seen, steps);
    assert_eq!(source.refill(&mut ring), Refill::Broken);
}

#[test]
fn objections_and_names_are_printed_as_they_are_searched_for() {
    let error = parse(b"fio version 2 iolog\n/a frob 0 1\n").unwrap_err();
    assert!(error.to_string().starts_with("2:4: frob is no action"), "{error}");
    let mut bytes = trace(&[event(7, 8, 4096, QUEUED)]);
    bytes[0] = 9;
    let error = parse(&bytes).unwrap_err().to_string();
    assert!(error.starts_with("byte 0: the blktrace is of version 9"), "{error}");
    assert_eq!(Name::Path("/a".into()).to_string(), "/a");
    assert_eq!(Name::Device { major: 8, minor: 16 }.to_string(), "device 8:16");
}

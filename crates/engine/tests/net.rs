//! net and netsplice: two jobs that talk to each other.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/job.rs"]
mod job;

use common::nowhere;
use iosonde_base::{Errno, Op};
use iosonde_engine::settings::{NetSettings, Protocol};
use iosonde_engine::{Accounting, Ended, EngineSettings, OpenWith, find};
use iosonde_testing::{Folder, free_port};
use job::{TestJob, one_file, ready};
use std::io::{Read, Write};
use std::net::TcpStream;

const BLOCK: u32 = 3000;
const BLOCKS: u64 = 50;

fn side(engine: &str, op: Op, blocks: u64, net: NetSettings) -> TestJob {
    let net = NetSettings { reads: op == Op::Read, ..net };
    let spec = one_file(op, BLOCK, blocks);
    ready(engine, EngineSettings::new(net), &spec, vec![nowhere(spec.total_bytes)], 1)
}

/// Counts of either side, the reader's ending, and the reader's last block.
fn talk(engine: &'static str, reader: NetSettings, writer: NetSettings, blocks: [u64; 2]) {
    let receiver = side(engine, Op::Read, blocks[0], reader);
    let (said, done) = std::sync::mpsc::channel();
    let sender = std::thread::spawn(move || {
        let mut sender = side(engine, Op::Write, blocks[1], writer);
        sender.drive.memory.bytes(0, BLOCK).fill(0xA7);
        let mut sender = sender.go();
        assert!(matches!(sender.ended, Ended::Done), "sender: {:?}", sender.ended);
        assert_eq!(sender.counts(Op::Write).0, blocks[1]);
        sender.close();
        // What was spliced is still in its buffers, not in the kernel's.
        done.recv().unwrap();
    });
    let mut receiver = receiver.go();
    assert!(matches!(receiver.ended, Ended::Done), "receiver: {:?}", receiver.ended);
    let whole = blocks[0].min(blocks[1]);
    assert_eq!(receiver.counts(Op::Read), (whole, whole * u64::from(BLOCK), whole));
    assert_eq!(receiver.counters.lanes[0].errors.get(), 0);
    let last = receiver.drive.memory.bytes(0, BLOCK);
    assert!(last[8..].iter().all(|&byte| byte == 0xA7), "what was sent came");
    receiver.close();
    said.send(()).unwrap();
    sender.join().unwrap();
}

fn tcp() -> (NetSettings, NetSettings) {
    let port = Some(free_port());
    let reader = NetSettings { port, listen: true, ..NetSettings::default() };
    let writer = NetSettings { port, host: "127.0.0.1".into(), ..NetSettings::default() };
    (reader, writer)
}

#[test]
fn blocks_go_over_tcp_whole_whatever_the_segments() {
    let (reader, writer) = tcp();
    talk("net", reader, writer, [BLOCKS, BLOCKS]);
    let (reader, writer) = tcp();
    let writer = NetSettings { nodelay: true, window_bytes: 4096, segment_bytes: 536, ..writer };
    talk("net", reader, writer, [BLOCKS, BLOCKS]);
}

#[test]
fn a_sender_that_is_done_first_ends_the_receiver_without_an_error() {
    let (reader, writer) = tcp();
    talk("net", reader, writer, [BLOCKS, BLOCKS / 2]);
}

#[test]
fn each_block_comes_back_before_the_next_in_pingpong() {
    let (reader, writer) = tcp();
    let both = |side| NetSettings { pingpong: true, nodelay: true, ..side };
    talk("net", both(reader), both(writer), [BLOCKS, BLOCKS]);
}

#[test]
fn blocks_go_through_a_pipe_in_the_kernel() {
    let (reader, writer) = tcp();
    talk("netsplice", reader, writer, [BLOCKS, BLOCKS]);
}

#[test]
fn blocks_go_as_datagrams() {
    let port = Some(free_port());
    let udp = NetSettings { protocol: Protocol::Udp, port, ..NetSettings::default() };
    // As few as the smallest buffer of a socket holds.
    talk("net", udp.clone(), NetSettings { host: "127.0.0.1".into(), ..udp }, [10, 10]);
}

#[test]
fn blocks_go_through_a_socket_in_the_file_system() {
    let folder = Folder::temporary("net");
    let path = folder.join("socket").to_str().unwrap().to_owned();
    let unix = NetSettings { protocol: Protocol::Unix, path, ..NetSettings::default() };
    talk("net", unix.clone(), unix.clone(), [BLOCKS, BLOCKS]);
    talk("net", unix.clone(), unix, [BLOCKS, BLOCKS]);
}

#[test]
fn the_end_of_a_slice_keeps_the_block_at_hand() {
    let (reader, _) = tcp();
    let port = reader.port.unwrap();
    let mut receiver = side("net", Op::Read, 1, reader);
    let mut sender = TcpStream::connect(("127.0.0.1", port)).unwrap();
    sender.write_all(&[1; 1000]).unwrap();
    receiver.engine.connect(&mut receiver.drive).unwrap();
    let clock = receiver.drive.clock;
    receiver.drive.control.arm(clock.after(clock.now(), 1_000_000));
    receiver.ended = receiver.engine.run(&mut receiver.drive);
    assert!(matches!(receiver.ended, Ended::Time), "{:?}", receiver.ended);
    sender.write_all(&[2; 2000]).unwrap();
    receiver.drive.control.arm(u64::MAX);
    receiver.ended = receiver.engine.run(&mut receiver.drive);
    assert_eq!(receiver.counts(Op::Read), (1, 3000, 1));
    let bytes = receiver.drive.memory.bytes(0, BLOCK);
    assert_eq!((bytes[999], bytes[1000]), (1, 2));
    receiver.close();
    let mut farewell = Vec::new();
    sender.read_to_end(&mut farewell).unwrap();
    assert_eq!(farewell, b"knil\x89\0\0\0");
}

#[test]
fn what_cannot_be_connected_is_said_before_or_when_the_sides_meet() {
    let refused = |engine: &str, net: NetSettings| {
        let with = OpenWith {
            depth: 1,
            files: 1,
            memory: (std::ptr::null_mut(), 0),
            clock: iosonde_sys::clock::Clock::monotonic(),
            settings: EngineSettings::new(net),
            sync_range: Default::default(),
        };
        (find(engine).unwrap().open)(&with, Accounting::Full).err().expect("refused").message
    };
    let (reader, writer) = tcp();
    let udp = NetSettings { protocol: Protocol::Udp, ..reader.clone() };
    let unix = NetSettings { protocol: Protocol::Unix, ..NetSettings::default() };
    assert!(refused("net", NetSettings { port: None, ..reader.clone() }).contains("port"));
    assert!(refused("net", NetSettings { host: "x".into(), ..reader.clone() }).contains("no host"));
    assert!(refused("net", NetSettings { host: String::new(), ..writer.clone() }).contains("host"));
    assert!(refused("net", udp.clone()).contains("listen"));
    assert!(refused("net", unix.clone()).contains("path"));
    assert!(refused("net", NetSettings { path: "x".repeat(200), ..unix.clone() }).contains("long"));
    assert!(refused("netsplice", NetSettings { listen: false, ..udp }).contains("TCP only"));
    assert!(
        refused("net", NetSettings { host: "no.such.invalid".into(), ..writer.clone() })
            .contains("find")
    );

    let mut alone = side("net", Op::Write, 1, writer);
    let failure = alone.engine.connect(&mut alone.drive).unwrap_err();
    assert_eq!((failure.doing, failure.errno), ("connect", Errno::ECONNREFUSED));
    assert!(failure.detail.unwrap().contains("start that side first"));
}

#[test]
fn a_stop_ends_the_waiting_for_the_other_side() {
    let (reader, _) = tcp();
    let mut alone = side("net", Op::Read, 1, reader);
    alone.drive.control.stop();
    alone.engine.connect(&mut alone.drive).unwrap();
    assert_eq!(alone.counts(Op::Read).0, 0);
}

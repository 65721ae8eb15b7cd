//! Images that fio 3.42 wrote, block for block: `images.json` holds what
//! cannot be computed (type, times, seeds, order) and the SHA-256 of each
//! image. What we make of it must have that digest, must be accepted by our
//! own checks, and must be refused with any byte changed.

use iosonde_verify::{BlockContent, BlockFormat, BlockIdentity, BlockType, Expected};
use iosonde_workload::content::Pattern;
use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

struct Image {
    name: String,
    block_type: BlockType,
    interval: usize,
    sha256: String,
    format: BlockFormat,
    ios: Vec<ImageIo>,
}

struct ImageIo {
    identity: BlockIdentity,
    len: usize,
    /// One for each interval, in order.
    times: Vec<(u32, u32)>,
}

impl ImageIo {
    fn expected(&self) -> Expected {
        let BlockIdentity { offset, seed, number, .. } = self.identity;
        Expected { offset, seed: Some(seed), number: Some(number) }
    }

    /// The I/O as fio wrote it: the clock was read for each interval.
    fn make(&self, image: &Image) -> Vec<u8> {
        let step = if image.interval == 0 { self.len } else { image.interval.min(self.len) };
        let mut io = vec![0; self.len];
        let times = if self.times.is_empty() { &[(0, 0)][..] } else { &self.times };
        for (i, &(time_sec, time_nsec)) in times.iter().enumerate() {
            let mut whole = vec![0; self.len];
            image.format.make(&mut whole, &BlockIdentity { time_sec, time_nsec, ..self.identity });
            let end = if self.times.is_empty() { self.len } else { (i + 1) * step };
            io[i * step..end].copy_from_slice(&whole[i * step..end]);
        }
        io
    }
}

fn images() -> Vec<Image> {
    let list: Value = serde_json::from_str(include_str!("images.json")).unwrap();
    list.as_array().unwrap().iter().map(image).collect()
}

fn image(entry: &Value) -> Image {
    let number = |key: &str| entry[key].as_u64().unwrap_or(0) as usize;
    let block_type = BlockType::from_name(entry["type"].as_str().unwrap()).unwrap();
    let content = match (entry["pattern"].as_str(), number("compress")) {
        (Some(pattern), _) => {
            let bytes = (0..pattern.len() / 2)
                .map(|i| u8::from_str_radix(&pattern[i * 2..i * 2 + 2], 16).unwrap())
                .collect();
            let offsets = entry["pattern_offsets"].as_array().unwrap();
            let offsets = offsets.iter().map(|at| at.as_u64().unwrap() as usize).collect();
            let pattern = Pattern::new(bytes, offsets);
            BlockContent::Pattern { pattern, interval: number("pattern_interval") }
        }
        (None, 0) => BlockContent::Seeded,
        (None, percent) => {
            BlockContent::Compressible { percent: percent as u8, filler: Vec::new() }
        }
    };
    let ios: Vec<ImageIo> = entry["ios"].as_array().unwrap().iter().map(io).collect();
    let shortest = ios.iter().map(|io| io.len).min().unwrap();
    let interval = number("interval");
    Image {
        name: entry["name"].as_str().unwrap().to_owned(),
        block_type,
        interval,
        sha256: entry["sha256"].as_str().unwrap().to_owned(),
        format: BlockFormat::new(block_type, interval, number("voffset"), content, shortest)
            .unwrap(),
        ios,
    }
}

fn io(entry: &Value) -> ImageIo {
    let number = |i: usize| entry[i].as_u64().unwrap_or(0);
    let time = |pair: &Value| (pair[0].as_u64().unwrap() as u32, pair[1].as_u64().unwrap() as u32);
    let identity = BlockIdentity {
        seed: number(3),
        offset: number(0),
        number: number(2),
        thread: 1,
        time_sec: 0,
        time_nsec: 0,
    };
    let times = entry[4].as_array().map_or(Vec::new(), |times| times.iter().map(time).collect());
    ImageIo { identity, len: number(1) as usize, times }
}

#[test]
fn blocks_are_byte_for_byte_those_of_fio() {
    let images = images();
    assert_eq!(images.len(), 37);
    // fio leaves its buffers' own random bytes to verify=null.
    for image in images.iter().filter(|image| image.block_type != BlockType::Null) {
        let bytes: Vec<u8> = image.ios.iter().flat_map(|io| io.make(image)).collect();
        let digest: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, image.sha256, "{}", image.name);
    }
}

#[test]
fn blocks_of_fio_are_accepted_with_every_check() {
    let mut scratch = Vec::new();
    for image in images() {
        for io in &image.ios {
            let mut bytes = io.make(&image);
            let result = image.format.check(&mut bytes, &io.expected(), &mut scratch);
            assert_eq!(result, Ok(()), "{} at {}", image.name, io.identity.offset);
        }
    }
}

/// Whether a change of this byte cannot be detected: only the header covers it,
/// or nothing does.
fn is_unseen(image: &Image, at: usize) -> bool {
    match image.block_type {
        BlockType::Null => true,
        BlockType::Meta => at >= 48,
        _ => false,
    }
}

#[test]
fn each_byte_of_a_block_is_looked_at() {
    let mut scratch = Vec::new();
    for image in images() {
        let io = &image.ios[1];
        let good = io.make(&image);
        for at in (0..io.len).filter(|&at| !is_unseen(&image, at)) {
            let mut bytes = good.clone();
            bytes[at] ^= 0xff;
            let result = image.format.check(&mut bytes, &io.expected(), &mut scratch);
            let mismatch = result.expect_err(&format!("{} byte {at}", image.name));
            let step = if image.interval == 0 { io.len } else { image.interval };
            let interval = io.identity.offset + (at / step * step) as u64;
            assert_eq!(mismatch.offset, interval, "{} byte {at}", image.name);
            assert_eq!(mismatch.intervals, 1, "{} byte {at}", image.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_bit_flipped_anywhere_is_seen(which in 0usize..34, io in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let image = images().swap_remove(which);
        let io = &image.ios[io.index(image.ios.len())];
        let at = at.index(io.len);
        prop_assume!(!is_unseen(&image, at));
        let mut bytes = io.make(&image);
        bytes[at] ^= 1 << bit;
        let result = image.format.check(&mut bytes, &io.expected(), &mut Vec::new());
        prop_assert!(result.is_err(), "{} byte {} bit {}", image.name, at, bit);
    }

    #[test]
    fn blocks_of_any_shape_are_accepted_as_made_and_refused_with_a_bit_flipped(
        block_type in prop::sample::select(iosonde_verify::TYPES.map(|(_, kind)| kind).to_vec()),
        units in 1usize..9, interval in 0usize..3, offset in 0u64..1 << 40, seed: u64, number: u64,
        shift in prop::option::of(0usize..200), content in contents(), compares: (bool, bool),
        at in any::<prop::sample::Index>(), bit in 0u8..8,
    ) {
        let taken = 48 + block_type.trailer_bytes();
        let len = units * 512;
        let interval = [0, 512, 256][interval];
        let step = if interval == 0 { len } else { interval.min(len) };
        let is_seeded = content.uses_seed();
        let header_offset = shift.map_or(0, |shift| taken + shift);
        let made = BlockFormat::new(block_type, interval, header_offset, content, len);
        let needs_pattern = matches!(block_type, BlockType::Pattern | BlockType::PatternHeader);
        let misfits = taken >= step || header_offset > 0 && header_offset + taken > step;
        if misfits && block_type.has_header() || needs_pattern && is_seeded {
            prop_assert!(made.is_err());
            return Ok(());
        }
        let format = made.unwrap();
        let mut io = vec![0; len];
        format.make(&mut io, &BlockIdentity { seed, offset, number, thread: 7, time_sec: 1, time_nsec: 2 });
        let (seed, number) = (compares.0.then_some(seed), compares.1.then_some(number));
        let expected = Expected { offset, seed, number };
        let good = io.clone();
        prop_assert_eq!(format.check(&mut io, &expected, &mut Vec::new()), Ok(()));
        let at = at.index(len);
        let moved_header = header_offset <= at % step && at % step < header_offset + 48;
        let is_unseen = match block_type {
            BlockType::Null => true,
            BlockType::Meta => is_seeded && !moved_header,
            _ => false,
        };
        io = good;
        io[at] ^= 1 << bit;
        let result = format.check(&mut io, &expected, &mut Vec::new());
        prop_assert_eq!(result.is_err(), !is_unseen, "byte {}", at);
    }
}

fn contents() -> impl Strategy<Value = BlockContent> {
    let interval = || prop::sample::select(vec![0usize, 100, 512, 4096]);
    let bytes = || prop::collection::vec(any::<u8>(), 8..3000);
    prop_oneof![
        Just(BlockContent::Seeded),
        (1u8..100, prop::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(percent, filler)| BlockContent::Compressible { percent, filler }),
        (bytes(), interval()).prop_map(|(bytes, interval)| BlockContent::Pattern {
            pattern: Pattern::from(bytes),
            interval
        }),
        // With an offset (`%o`) at its beginning and one at its end.
        (bytes(), interval()).prop_map(|(bytes, interval)| {
            let last = bytes.len() - 8;
            let offsets = if last >= 8 { vec![0, last] } else { vec![0] };
            BlockContent::Pattern { pattern: Pattern::new(bytes, offsets), interval }
        }),
    ]
}

#[test]
fn a_pattern_of_more_than_two_mebibytes_is_checked_to_its_end() {
    let bytes: Vec<u8> = (0..(2 << 20) + 3u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let len = 4 << 20;
    for block_type in [BlockType::Pattern, BlockType::PatternHeader, BlockType::Crc32c] {
        let pattern = Pattern::new(bytes.clone(), vec![(2 << 20) - 9]);
        let content = BlockContent::Pattern { pattern, interval: 0 };
        let format = BlockFormat::new(block_type, 0, 0, content, len).unwrap();
        let mut good = vec![0; len];
        let identity = BlockIdentity { offset: 1 << 33, number: 5, ..BlockIdentity::default() };
        format.make(&mut good, &identity);
        let expected = Expected { offset: 1 << 33, seed: Some(0), number: Some(5) };
        let mut scratch = Vec::new();
        let mut check = |mut io: Vec<u8>| format.check(&mut io, &expected, &mut scratch);
        assert_eq!(check(good.clone()), Ok(()), "{block_type}");
        for at in [0, 47, 48, (2 << 20) - 9, (2 << 20) + 2, (2 << 20) + 3, len - 1] {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert!(check(bad).is_err(), "{block_type} {at}");
        }
    }
}

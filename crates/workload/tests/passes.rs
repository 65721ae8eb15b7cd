//! What holds of every pass over the files, whatever the seed.

mod common;

use iosonde_base::{Op, PerDir, Planned, Ring};
use iosonde_workload::*;
use proptest::prelude::*;

/// Entries of each pass, `most` in all.
fn passes(spec: SourceSpec, most: usize) -> Vec<Vec<Planned>> {
    let mut source = Source::new(spec).unwrap();
    let mut ring = Ring::default();
    let mut passes = vec![Vec::new()];
    while passes.iter().map(Vec::len).sum::<usize>() < most {
        match source.refill(&mut ring) {
            Refill::Planned => passes.last_mut().unwrap().extend(std::iter::from_fn(|| ring.pop())),
            Refill::PassDone => {
                source.next_pass();
                passes.push(Vec::new());
            }
            Refill::Done | Refill::Broken => break,
        }
    }
    passes
}

fn file(offset: u64, size: u64) -> SourceFile {
    SourceFile { name: "vec".into(), offset, size, end: offset + size, later_offset: None }
}

fn random_read(offset: u64, size: u64) -> SourceSpec {
    SourceSpec {
        directions: Directions { read: true, random: true, ..Directions::default() },
        files: vec![file(offset, size)],
        total_bytes: size,
        ..SourceSpec::default()
    }
}

#[test]
fn a_job_that_is_to_end_after_some_more_ends_there_wherever_it_is() {
    let sequential = || SourceSpec {
        directions: Directions { write: true, ..Directions::default() },
        files: vec![file(0, 1 << 20)],
        total_bytes: 1 << 20,
        ..SourceSpec::default()
    };
    for spec in [random_read(0, 1 << 20), sequential()] {
        for (taken, more) in [(0, 0), (10, 0), (10, 3), (10, 54), (10, 55), (10, 200), (64, 1)] {
            let mut source = Source::new(spec.clone()).unwrap();
            let mut ring = Ring::default();
            source.refill(&mut ring);
            (0..taken).for_each(|_| assert!(ring.pop().is_some()));
            assert_eq!(source.taken(&ring), taken);
            source.end_after(&mut ring, more);
            let mut ios = std::iter::from_fn(|| ring.pop()).count() as u64;
            while source.refill(&mut ring) == Refill::Planned {
                ios += std::iter::from_fn(|| ring.pop()).count() as u64;
            }
            // There are 256 in all.
            assert_eq!(ios, more, "{taken} taken");
        }
    }
}

proptest! {
    #[test]
    fn each_block_comes_once_per_pass(
        blocks in 1u64..3000, tail in 0u64..4096, offset in 0u64..1_000_000, seed in any::<u64>(), lfsr in any::<bool>(),
        repeat in any::<bool>(),
    ) {
        let spec = SourceSpec {
            generator: if lfsr { Generator::Lfsr } else { Generator::Tausworthe },
            randseed: seed,
            loops: 2,
            repeat,
            ..random_read(offset, blocks * 4096 + tail)
        };
        let passes = passes(spec, usize::MAX);
        prop_assert_eq!(passes.len(), 2);
        for pass in &passes {
            let mut seen: Vec<u64> = pass.iter().map(|entry| entry.offset).collect();
            seen.sort_unstable();
            let all: Vec<u64> = (0..blocks).map(|block| offset + block * 4096).collect();
            prop_assert_eq!(&seen, &all);
        }
        // The first draw of a register takes a step more.
        prop_assert!(!repeat || lfsr || passes[0] == passes[1]);
    }

    #[test]
    fn a_zone_that_wants_more_than_it_has_is_begun_again(
        blocks in 1u64..20, rounds in 1u64..4, more in 0u64..20, gap in 0u64..10, lfsr in any::<bool>(),
    ) {
        let (range, most) = (blocks * 4096, 5 * (blocks + gap) * 4096);
        let ios = blocks * rounds + more % blocks;
        let spec = SourceSpec {
            generator: if lfsr { Generator::Lfsr } else { Generator::Tausworthe },
            strided: Some(Strided { size: ios * 4096, range, skip: gap * 4096 }),
            total_bytes: 5 * ios * 4096,
            ..random_read(0, most)
        };
        let passes = passes(spec, usize::MAX);
        prop_assert_eq!(passes.len(), 1);
        prop_assert_eq!(passes[0].len() as u64, 5 * ios);
        for (zone, in_zone) in passes[0].chunks(ios as usize).enumerate() {
            let start = zone as u64 * (blocks + gap);
            for round in in_zone.chunks(blocks as usize) {
                let mut seen: Vec<u64> = round.iter().map(|entry| entry.offset / 4096 - start).collect();
                seen.sort_unstable();
                let count = seen.len();
                seen.dedup();
                prop_assert_eq!(seen.len(), count, "none twice before all have come");
                prop_assert!(seen.iter().all(|block| *block < blocks));
            }
        }
    }

    #[test]
    fn each_byte_comes_once_with_sizes_that_vary(
        blocks in 1u64..2000, seed in any::<u64>(), split in any::<bool>(), most in 1u32..20, offset in 0u64..100_000,
    ) {
        let sizes = if split {
            Sizes::Split(vec![
                Share { bytes: 1024, percent: 50 },
                Share { bytes: 1024 * most, percent: 30 },
                Share { bytes: 3072, percent: 20 },
            ])
        } else {
            Sizes::Range { min: 1024, max: 1024 * most }
        };
        let spec = SourceSpec {
            randseed: seed,
            sizes: PerDir::all(sizes),
            ..random_read(offset, blocks * 1024)
        };
        let passes = passes(spec, usize::MAX);
        let mut covered = vec![0; blocks as usize];
        for entry in passes.iter().flatten() {
            prop_assert!(entry.len > 0 && entry.offset >= offset);
            let first = ((entry.offset - offset) / 1024) as usize;
            covered[first..first + entry.len as usize / 1024].iter_mut().for_each(|count| *count += 1);
        }
        prop_assert!(covered.iter().all(|count| *count == 1), "{:?}", covered);
    }

    #[test]
    fn sequential_ios_sum_up_to_the_size(
        blocks in 1u64..3000, tail in 0u64..4096, offset in 0u64..1_000_000, write in any::<bool>(),
    ) {
        let mut spec = random_read(offset, blocks * 4096 + tail);
        spec.directions = Directions { read: !write, write, ..Directions::default() };
        let passes = passes(spec, usize::MAX);
        prop_assert_eq!(passes.len(), 1);
        prop_assert_eq!(passes[0].iter().map(|entry| u64::from(entry.len)).sum::<u64>(), blocks * 4096);
        let mut next = offset;
        for entry in &passes[0] {
            prop_assert_eq!(entry.offset, next);
            next += u64::from(entry.len);
        }
    }

    #[test]
    fn nothing_leaves_its_file_and_all_replays(spec in any_spec()) {
        let Ok(mut source) = Source::new(spec.clone()) else { return Ok(()) };
        let mut again = Source::new(spec.clone()).unwrap();
        let (mut ring, mut ring_again) = (Ring::default(), Ring::default());
        for _ in 0..60 {
            let refill = source.refill(&mut ring);
            prop_assert_eq!(refill, again.refill(&mut ring_again));
            prop_assert_eq!(ring.as_slice(), ring_again.as_slice());
            prop_assert_eq!(refill == Refill::Planned, ring.waiting() > 0);
            while let Some(entry) = ring.pop() {
                ring_again.pop();
                let file = &spec.files[entry.file.0 as usize];
                if entry.op.dir().is_some() {
                    prop_assert!(entry.len > 0);
                    prop_assert!(entry.offset >= file.offset, "{entry:?}");
                    prop_assert!(entry.offset + u64::from(entry.len) <= file.end, "{entry:?}");
                    let d = spec.directions;
                    prop_assert!([d.read, d.write, d.trim][entry.op as usize]);
                }
            }
            match refill {
                Refill::Planned => {}
                Refill::PassDone => {
                    source.next_pass();
                    again.next_pass();
                }
                Refill::Done | Refill::Broken => {
                    prop_assert_eq!(source.refill(&mut ring), Refill::Done);
                    break;
                }
            }
        }
    }
}

/// Jobs of many kinds, sound or not.
fn any_spec() -> impl Strategy<Value = SourceSpec> {
    let pick = prop::sample::select(vec![
        FilePick::RoundRobin,
        FilePick::Sequential,
        FilePick::Random,
        FilePick::Zipf { theta: 1.1, center: None },
        FilePick::Normal { deviation: 20.0, center: Some(0.3) },
    ]);
    let strided = prop_oneof![
        3 => Just(None),
        1 => (1u64..40_000, 1u64..40_000, 0u64..9000)
            .prop_map(|(size, range, skip)| Some(Strided { size, range, skip })),
    ];
    let how = (
        any::<u64>(),
        1u64..4,
        0u64..200,
        any::<bool>(),
        any::<bool>(),
        1u32..5,
        -20_000i64..20_000,
        0u32..=100,
    );
    let map = prop::sample::select(vec![MapMode::On, MapMode::Off, MapMode::Soft]);
    let generator =
        prop::sample::select(vec![Generator::Tausworthe, Generator::Tausworthe64, Generator::Lfsr]);
    let more = (map, generator, 1u32..4, 1usize..5, 0u32..4, 0u64..5000);
    (directions(), sizes(), distribution(), files(), pick, strided, how, more).prop_map(
        |(directions, sizes, distribution, files, pick, strided, how, more)| {
            let (randseed, loops, number_ios, time_based, repeat, seq_nr, seq_add, percent) = how;
            let (map, generator, every, open_files, sync, align) = more;
            SourceSpec {
                total_bytes: files.iter().map(|file| file.size).sum(),
                directions,
                sizes: PerDir::all(sizes),
                distribution,
                files,
                file_service: FileService { pick, every },
                strided,
                randseed,
                loops,
                number_ios,
                time_based,
                repeat,
                seq_nr,
                seq_add: if seq_add % 3 == 0 { 0 } else { seq_add },
                rwmixread: percent,
                percentage_random: PerDir::all(if percent % 2 == 0 { 100 } else { percent }),
                map,
                generator,
                open_files,
                sync_every: SyncEvery { fsync: sync, ..SyncEvery::default() },
                align: PerDir::all(if align % 3 == 0 { align } else { 0 }),
                ..SourceSpec::default()
            }
        },
    )
}

/// Every combination of directions that a job can have, in order or at random.
fn directions() -> impl Strategy<Value = Directions> {
    prop::sample::select(vec![
        (true, false, false, false),
        (false, true, false, false),
        (false, false, true, false),
        (true, true, false, false),
        (false, true, true, true),
    ])
    .prop_flat_map(|(read, write, trim, trim_then_write)| {
        any::<bool>().prop_map(move |random| Directions {
            read,
            write,
            trim,
            random,
            trim_then_write,
        })
    })
}

/// One size, a range of sizes, or two with their shares.
fn sizes() -> impl Strategy<Value = Sizes> {
    prop_oneof![
        (1u32..9000).prop_map(Sizes::Fixed),
        (1u32..3000, 0u32..9000).prop_map(|(min, more)| Sizes::Range { min, max: min + more }),
        (1u32..5000, 1u32..5000, 0u32..=100).prop_map(|(a, b, percent)| {
            Sizes::Split(vec![
                Share { bytes: a, percent },
                Share { bytes: b, percent: 100 - percent },
            ])
        }),
    ]
}

/// Every law that places are drawn by.
fn distribution() -> impl Strategy<Value = Distribution> {
    let center = prop_oneof![Just(None), (0.0..=1.0f64).prop_map(Some)];
    let zones = PerDir::all(vec![
        Zone { percent: 60, size: 10 },
        Zone { percent: 30, size: 0 },
        Zone { percent: 10, size: 90 },
    ]);
    prop_oneof![
        3 => Just(Distribution::Random),
        1 => (0.1..3.0f64, center.clone()).prop_map(|(theta, center)| Distribution::Zipf { theta, center }),
        1 => (0.01..0.99f64, center.clone()).prop_map(|(h, center)| Distribution::Pareto { h, center }),
        1 => (0.0..=100.0f64, center).prop_map(|(deviation, center)| Distribution::Normal { deviation, center }),
        1 => Just(Distribution::Zoned(zones.clone())),
        1 => Just(Distribution::ZonedAbs(zones)),
    ]
}

/// A few files, alike but for their names.
fn files() -> impl Strategy<Value = Vec<SourceFile>> {
    (1usize..5, 0u64..100_000, 1u64..300_000, 0u64..10_000).prop_map(
        |(files, offset, size, rest)| {
            let file = |i| SourceFile {
                name: format!("f.{i}"),
                offset,
                size,
                end: offset + size + rest,
                later_offset: None,
            };
            (0..files).map(file).collect::<Vec<_>>()
        },
    )
}

#[test]
fn the_last_write_is_synced_where_each_is() {
    for (every, syncs, last) in [(1, 16, Op::Sync), (4, 3, Op::Write)] {
        let spec = SourceSpec {
            directions: Directions { write: true, ..Directions::default() },
            files: vec![file(0, 64 << 10)],
            total_bytes: 64 << 10,
            sync_every: SyncEvery { fsync: every, ..SyncEvery::default() },
            ..SourceSpec::default()
        };
        let entries = passes(spec, usize::MAX).concat();
        assert_eq!(entries.iter().filter(|entry| entry.op == Op::Sync).count(), syncs);
        assert_eq!(entries.last().unwrap().op, last);
    }
}

#[test]
fn a_sync_after_each_write_is_of_the_file_written() {
    let spec = SourceSpec {
        directions: Directions { write: true, ..Directions::default() },
        files: (0..3).map(|_| file(0, 64 << 10)).collect(),
        total_bytes: 192 << 10,
        sync_every: SyncEvery { fdatasync: 1, ..SyncEvery::default() },
        ..SourceSpec::default()
    };
    let entries = passes(spec, usize::MAX).concat();
    assert_eq!(entries.len(), 96);
    for pair in entries.chunks(2) {
        assert_eq!((pair[0].op, pair[1].op, pair[0].file), (Op::Write, Op::DataSync, pair[1].file));
    }
}

#[test]
fn a_sync_now_and_then_takes_the_turn_of_a_file() {
    // As fio 3.33 does: writes are w, syncs are s, of files 0 and 1.
    for (every, expected) in
        [(2, "w0 w1 s0 w1 w0 s1 w0 w1 s0 w1 w0"), (3, "w0 w1 w0 s1 w0 w1 w0 s1 w1 w1")]
    {
        let spec = SourceSpec {
            directions: Directions { write: true, ..Directions::default() },
            files: (0..2).map(|_| file(0, 16 << 10)).collect(),
            total_bytes: 32 << 10,
            sync_every: SyncEvery { fsync: every, ..SyncEvery::default() },
            ..SourceSpec::default()
        };
        let word = |entry: &Planned| {
            let kind = if entry.op == Op::Sync { 's' } else { 'w' };
            format!("{kind}{}", entry.file.0)
        };
        let entries: Vec<String> = passes(spec, usize::MAX).concat().iter().map(word).collect();
        assert_eq!(entries.join(" "), expected, "fsync={every}");
    }
}

#[test]
fn a_range_sync_covers_what_was_written_since_the_last() {
    let spec = SourceSpec {
        directions: Directions { write: true, ..Directions::default() },
        files: vec![file(4096, 64 << 10)],
        total_bytes: 64 << 10,
        sync_every: SyncEvery { range: 4, ..SyncEvery::default() },
        ..SourceSpec::default()
    };
    let entries = passes(spec, usize::MAX).concat();
    let ranges: Vec<(u64, u32)> = entries
        .iter()
        .filter(|entry| entry.op == Op::SyncRange)
        .map(|entry| (entry.offset, entry.len))
        .collect();
    let expected: Vec<(u64, u32)> = (0..3).map(|i| (4096 + i * 16384, 16384)).collect();
    assert_eq!(ranges, expected);
}

#[test]
fn the_greatest_share_takes_what_shares_leave_of_a_hundred() {
    let mut spec = random_read(0, 1 << 30);
    let share = |bytes, percent| Share { bytes, percent };
    let shares = vec![share(4096, 10), share(8192, 20), share(16384, 5)];
    (spec.directions.random, spec.number_ios) = (false, 20_000);
    spec.sizes = PerDir::all(Sizes::Split(shares));
    let entries = passes(spec, usize::MAX).concat();
    for (len, expected) in [(4096, 0.10), (8192, 0.85), (16384, 0.05)] {
        let count = entries.iter().filter(|entry| entry.len == len).count();
        let share = count as f64 / entries.len() as f64;
        assert!((share - expected).abs() < 0.01, "{len}: {share}, not {expected}");
    }
}

#[test]
fn a_job_by_time_goes_round_and_says_so() {
    let mut spec = random_read(0, 64 << 10);
    (spec.time_based, spec.number_ios) = (true, 5);
    let entries = passes(spec, 100).concat();
    assert_eq!(entries[16].op, Op::Invalidate);
    let mut second: Vec<u64> = entries[17..33].iter().map(|entry| entry.offset / 4096).collect();
    assert_ne!(second, entries[..16].iter().map(|entry| entry.offset / 4096).collect::<Vec<_>>());
    second.sort_unstable();
    assert_eq!(second, (0..16).collect::<Vec<_>>());
}

#[test]
fn a_huge_file_takes_the_wide_generator_and_a_note() {
    let mut spec = random_read(0, (1 << 44) + (1 << 20));
    spec.map = MapMode::Off;
    let source = Source::new(spec.clone()).unwrap();
    assert_eq!(
        source.notes(),
        ["a file has more than 2^32 blocks: random_generator is tausworthe64"]
    );
    spec.generator_chosen = true;
    assert!(Source::new(spec).unwrap().notes().is_empty());
}

#[test]
fn a_map_over_sixteen_tebibytes_starts_at_once() {
    let spec = SourceSpec { number_ios: 1000, ..random_read(0, 16 << 40) };
    let entries = passes(spec, usize::MAX).concat();
    assert_eq!(entries.len(), 1000);
    // A map that was written, if only with zeros, has been in memory: 512 MiB.
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak_kib < 400 << 10, "{peak_kib} KiB");
    }
}

#[test]
fn a_soft_map_that_does_not_fit_is_done_without() {
    let mut spec = random_read(0, u64::MAX / 2);
    spec.sizes = PerDir::all(Sizes::Fixed(1));
    assert!(matches!(Source::new(spec.clone()), Err(SpecError::NoMemory { .. })));
    spec.map = MapMode::Soft;
    let source = Source::new(spec).unwrap();
    assert!(source.notes().iter().any(|note| note.contains("no memory for the random map of vec")));
}

#[test]
fn unsound_specs_are_refused() {
    let sound = random_read(0, 1 << 20);
    let refused = |change: &dyn Fn(&mut SourceSpec)| {
        let mut spec = sound.clone();
        change(&mut spec);
        Source::new(spec).err()
    };
    assert_eq!(refused(&|_| {}), None);
    assert_eq!(refused(&|spec| spec.files.clear()), Some(SpecError::NoFile));
    assert_eq!(refused(&|spec| spec.directions.read = false), Some(SpecError::NoDirection));
    assert_eq!(
        refused(&|spec| spec.sizes = PerDir::all(Sizes::Fixed(0))),
        Some(SpecError::BadSizes)
    );
    assert_eq!(
        refused(&|spec| spec.sizes = PerDir::all(Sizes::Range { min: 8, max: 4 })),
        Some(SpecError::BadSizes)
    );
    assert_eq!(
        refused(
            &|spec| spec.sizes = PerDir::all(Sizes::Split(vec![Share { bytes: 4, percent: 101 }]))
        ),
        Some(SpecError::BadSizes)
    );
    assert_eq!(refused(&|spec| spec.rwmixread = 101), Some(SpecError::BadPercentage));
    assert_eq!(refused(&|spec| spec.seq_nr = 0), Some(SpecError::BadCount));
    assert_eq!(
        refused(&|spec| spec.strided = Some(Strided { size: 0, range: 4096, skip: 0 })),
        Some(SpecError::BadZones)
    );
    let center = Some(2.0);
    assert_eq!(
        refused(&|spec| spec.distribution = Distribution::Zipf { theta: 1.2, center }),
        Some(SpecError::BadDistribution)
    );
    assert!(matches!(
        refused(&|spec| {
            (spec.files[0].size, spec.files[0].end) = (1 << 60, 1 << 60);
            spec.generator = Generator::Lfsr;
        }),
        Some(SpecError::LfsrTooLarge { .. })
    ));
}

#[test]
fn numbers_whose_sums_would_overflow_make_no_source() {
    const MOST: u64 = i64::MAX as u64;
    let file = |offset, size, end, later_offset| {
        let name = "f".to_owned();
        let files = vec![SourceFile { name, offset, size, end, later_offset }];
        Source::new(SourceSpec { files, ..common::spec(&["--size=4096".to_owned()]) }).err()
    };
    let too_large = Some(SpecError::FileTooLarge { name: "f".into() });
    let half = MOST / 2;
    assert_eq!(file(MOST - 8192, 8192, MOST, None), None);
    assert_eq!(file(MOST - 8191, 8192, MOST, None), too_large);
    assert_eq!(file(0, half, MOST + 1, None), too_large);
    assert_eq!(file(0, 8192, MOST, Some(MOST - 8191)), too_large);
    assert_eq!(file(u64::MAX, 8192, MOST, None), too_large);
    let zones = |size, range, skip| {
        let strided = Some(Strided { size, range, skip });
        Source::new(SourceSpec { strided, ..common::spec(&["--size=8192".to_owned()]) }).err()
    };
    let bad = Some(SpecError::BadZones);
    assert_eq!(zones(4096, 4096, 0), None);
    assert_eq!(zones(0, 4096, 0), bad);
    assert_eq!(zones(4096, 0, 0), bad);
    assert_eq!(zones(4096, half + 1, 0), bad);
    assert_eq!(zones(4096, 4096, half + 1), bad);
    assert_eq!(zones(4096, 4096, half), None);
    let percent = |rwmixread| {
        let spec = common::spec(&["--rw=randrw".to_owned(), "--size=8192".to_owned()]);
        Source::new(SourceSpec { rwmixread, ..spec }).err()
    };
    assert_eq!(percent(100), None);
    assert_eq!(percent(101), Some(SpecError::BadPercentage));
}

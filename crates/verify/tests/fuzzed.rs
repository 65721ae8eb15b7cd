//! The fuzz targets' bodies over changed state files and blocks: the same each time.

#[path = "../../../fuzz/src/states.rs"]
mod states;

use iosonde_testing::Mutations;
use iosonde_verify::{BlockContent, BlockFormat, BlockIdentity, StateFile, TYPES};

#[test]
fn any_bytes_are_a_state_or_are_refused() {
    let state = StateFile {
        writes: 300,
        name: "job/a".to_owned(),
        in_flight: vec![Some(299), None, Some(280), None],
        failed: vec![7, 8],
        ..StateFile::default()
    };
    let empty = StateFile::default();
    let seeds = [&state, &empty].map(|state| [&[4], &state.encode()[..]].concat());
    Mutations { seeds: &seeds, pieces: &["\0\0\0\0\0\0\0\0"], count: 5000 }
        .run(states::verify_state);
}

#[test]
fn any_bytes_in_place_of_a_block_are_described() {
    let seeds: Vec<Vec<u8>> = (0..TYPES.len() as u8)
        .filter_map(|number| {
            let block_type = TYPES[usize::from(number)].1;
            let interval = usize::from(number % 4);
            let content = BlockContent::Seeded;
            let format = BlockFormat::new(block_type, interval * 512, 0, content, 1024).ok()?;
            let identity =
                BlockIdentity { seed: 7, offset: 8192, number: 1, ..BlockIdentity::default() };
            let choice = [number, interval as u8, 0];
            Some([&choice, &format.expected_bytes(1024, &identity)[..]].concat())
        })
        .collect();
    Mutations { seeds: &seeds, pieces: &["\0\0\0\0"], count: 2000 }.run(states::verify_block);
}

//! `--crctest` and `--memcpytest`: how fast the checksums of verify, and copies
//! of memory, are here. In fio's form; the figures are of our own code.

mod copies;
mod hashes;

use copies::COPIES;
use hashes::HASHES;
use iosonde_base::exit;
use iosonde_session::Personality;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use std::time::{Duration, Instant};

/// Each figure takes so long: some hundred turns of the slowest.
const TIME: Duration = Duration::from_millis(40);

/// Bytes that a checksum goes over in one turn, as in fio.
const HASHED_BYTES: usize = 128 << 10;

/// Sizes of copies, as fio has them.
const COPIED_BYTES: [usize; 11] = [8, 16, 96, 128, 256, 512, 2048, 8192, 131_072, 262_144, 524_288];

/// Measure the checksums that `list` names, or all; the exit code.
pub fn checksums(personality: Personality, list: Option<&str>) -> u8 {
    let names = HASHES.map(|(name, _)| name);
    let Some(wanted) = wanted(personality, list, &names, "hash") else { return exit::REFUSED };
    // Anything but zeroes, which some processors copy and multiply faster.
    let data: Vec<u8> = (0..HASHED_BYTES).map(|at| (at * 31 + at / 251) as u8).collect();
    for (name, hash) in HASHES.iter().filter(|(name, _)| wanted.contains(name)) {
        let rate = rate(HASHED_BYTES, || hash(&data));
        // The rates of short names stand below each other.
        let tabs = if name.len() < 7 { "\t\t" } else { "\t" };
        print(&format!("{name}:{tabs}{rate:8.2} MiB/sec\n"));
    }
    exit::OK
}

/// Measure the ways to copy memory that `list` names, or all; the exit code.
pub fn copies(personality: Personality, list: Option<&str>) -> u8 {
    let names = COPIES.map(|(name, _)| name);
    let Some(wanted) = wanted(personality, list, &names, "copy") else { return exit::REFUSED };
    for (name, copy) in COPIES.iter().filter(|(name, _)| wanted.contains(name)) {
        print(&format!("{name}\n"));
        for bytes in COPIED_BYTES {
            let mut buffer = vec![1; 2 * bytes];
            let rate = rate(bytes, || copy(&mut buffer));
            print(&format!("\t{bytes} bytes:\t{rate:8.2} MiB/sec\n"));
        }
    }
    exit::OK
}

/// The names in `list`, of those known. None, once the known ones are printed,
/// if it names none; in our own name also if it names one that is unknown.
fn wanted<'a>(
    personality: Personality,
    list: Option<&'a str>,
    known: &[&'a str],
    what: &str,
) -> Option<Vec<&'a str>> {
    let Some(list) = list else { return Some(known.to_vec()) };
    let (found, unknown): (Vec<&str>, Vec<&str>) =
        list.split(',').partition(|name| known.contains(name));
    let refused = match personality {
        Personality::Fio => found.is_empty(),
        Personality::Native => !unknown.is_empty(),
    };
    if !refused {
        return Some(found);
    }
    if let Some(name) = unknown.first().filter(|name| **name != "help") {
        let program = personality.program();
        print_error(&format!("{program}: unknown {what} `{name}`. Available:"));
    }
    print(&known.iter().map(|name| format!("{name}\n")).collect::<String>());
    None
}

/// MiB a second of something that goes over `bytes` bytes each time.
fn rate<T>(bytes: usize, mut work: impl FnMut() -> T) -> f64 {
    let (began, mut turns, mut batch) = (Instant::now(), 0u64, 1u64);
    loop {
        for _ in 0..batch {
            std::hint::black_box(work());
        }
        turns += batch;
        let took = began.elapsed();
        if took >= TIME {
            return (turns * bytes as u64) as f64 / took.as_secs_f64() / f64::from(1 << 20);
        }
        // The clock is read rarely beside copies of a few nanoseconds.
        batch = (batch * 2).min(1 << 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_the_bytes_and_the_time() {
        let pause = Duration::from_millis(1);
        let rate = rate(1 << 20, || std::thread::sleep(pause));
        assert!(rate > 0.0 && rate <= 1000.0, "a MiB takes a millisecond or more: {rate}");
    }

    #[test]
    fn names_that_are_unknown_are_ignored_by_fio_beside_known_ones_and_by_us_refused() {
        let known = ["a", "b"];
        let of = |personality, list| wanted(personality, list, &known, "hash");
        assert_eq!(of(Personality::Native, None), Some(vec!["a", "b"]));
        assert_eq!(of(Personality::Fio, Some("b,x")), Some(vec!["b"]));
        assert_eq!(of(Personality::Native, Some("b,x")), None);
        assert_eq!(of(Personality::Fio, Some("x")), None);
    }
}

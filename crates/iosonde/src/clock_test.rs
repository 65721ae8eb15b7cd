//! `--cpuclock-test`: whether the clocks of all processors agree, in fio's form.

use crate::exit;
use iosonde_sys::clock::{Clock, ClockSource};
use iosonde_sys::cpu::CpuList;
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};

/// Readings of each processor.
const READINGS: u32 = 100_000;

/// A processor may read its counter a little before what stands before it in the program.
const SLACK_NS: u64 = 1000;

/// A reading, and its place among those of all processors.
type Reading = (u32, u64);

/// Read the clock on all processors at once; the text and the exit code.
pub fn run() -> (String, u8) {
    let clock = match Clock::pick(ClockSource::default()) {
        Ok(clock) => clock,
        Err(error) => return (format!("cs: {error}\ncs: Fail\n"), exit::REFUSED),
    };
    let cpus = CpuList::allowed().map_or_else(|_| vec![0], |cpus| cpus.as_slice().to_vec());
    let mut text = format!("cs: Testing {} CPUs\n", cpus.len());
    let place = AtomicU32::new(0);
    let read: Vec<Vec<Reading>> = std::thread::scope(|scope| {
        let (clock, place) = (&clock, &place);
        let read = |&cpu: &u32| scope.spawn(move || readings(clock, cpu, place));
        let threads: Vec<_> = cpus.iter().map(read).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    });
    for (cpu, readings) in cpus.iter().zip(&read) {
        let first = readings.first().map_or(0, |reading| reading.1);
        let seen = readings.last().map_or(0, |reading| reading.1.saturating_sub(first));
        let _ = writeln!(text, "cs: cpu {cpu:2}: {seen} clocks seen, first {first}");
    }
    let backwards = steps_back(read.concat(), clock.ns_to_ticks(SLACK_NS));
    if backwards == 0 {
        text.push_str("cs: Pass!\n");
        return (text, exit::OK);
    }
    let _ = writeln!(text, "cs: {backwards} readings are earlier than one before them\ncs: Fail");
    (text, exit::REFUSED)
}

/// Readings on one processor. Each is taken after the one with the place before was.
fn readings(clock: &Clock, cpu: u32, place: &AtomicU32) -> Vec<Reading> {
    // A processor that cannot be had is read on another.
    let _ = CpuList::from_numbers(vec![cpu]).map(|cpu| cpu.pin());
    let mut readings = Vec::with_capacity(READINGS as usize);
    while readings.len() < READINGS as usize {
        let at = place.load(Ordering::SeqCst);
        let now = clock.now();
        let next = place.compare_exchange(at, at + 1, Ordering::SeqCst, Ordering::SeqCst);
        if next.is_ok() {
            readings.push((at, now));
        }
    }
    readings
}

/// How many readings are earlier than the one before, by more than `slack`.
fn steps_back(mut readings: Vec<Reading>, slack: u64) -> usize {
    readings.sort_unstable_by_key(|reading| reading.0);
    readings.windows(2).filter(|pair| pair[1].1 + slack < pair[0].1).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_between_two_readings_is_noticed() {
        assert_eq!(steps_back(vec![(1, 20), (0, 10), (2, 20)], 0), 0);
        assert_eq!(steps_back(vec![(1, 20), (0, 30), (2, 25)], 0), 1);
        assert_eq!(steps_back(vec![(1, 20), (0, 30), (2, 25)], 10), 0);
    }

    #[test]
    fn the_clocks_of_this_machine_agree() {
        let (text, code) = run();
        assert!(text.ends_with("cs: Pass!\n") && code == exit::OK, "{text}");
    }
}

//! Counters of one block device (/sys/block/*/stat, /proc/diskstats).

use std::io;

use crate::platform;

/// A struct of counters that is also an array of them, in the order of its fields.
macro_rules! counters {
    ($(#[$meta:meta])* pub struct $name:ident { $( $(#[$doc:meta])* $field:ident, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $( $(#[$doc])* pub $field: u64, )*
        }

        impl $name {
            fn fields(&self) -> [u64; FIELDS] {
                [$( self.$field, )*]
            }

            fn from_fields([$( $field, )*]: [u64; FIELDS]) -> $name {
                $name { $( $field, )* }
            }
        }
    };
}

counters! {
    /// Counters of a block device, since the machine started, in the order of the kernel's
    /// documentation (iostats.rst). Sectors are 512 bytes whatever the device's own are. What an old
    /// kernel does not count (discards before 4.18, flushes before 5.5) is zero.
    pub struct DiskCounters {
        /// Reads that ended.
        reads,
        /// Reads merged into others before they were sent.
        read_merges,
        /// Sectors read.
        read_sectors,
        /// Time of all reads together, queued and served, in milliseconds.
        read_ms,
        /// Writes that ended.
        writes,
        /// Writes merged into others.
        write_merges,
        /// Sectors written.
        write_sectors,
        /// Time of all writes together, in milliseconds.
        write_ms,
        /// Requests in flight now: a state, not a count; a difference keeps the
        /// later one.
        in_flight,
        /// Time with anything in flight, in milliseconds.
        busy_ms,
        /// Time of all requests together, in milliseconds; over `busy_ms` it is
        /// the mean depth of the queue.
        queue_ms,
        /// Discards that ended.
        discards,
        /// Discards merged into others.
        discard_merges,
        /// Sectors discarded.
        discard_sectors,
        /// Time of all discards together, in milliseconds.
        discard_ms,
        /// Cache flushes that ended.
        flushes,
        /// Time of all flushes together, in milliseconds.
        flush_ms,
    }
}

/// How many counters every kernel since 2.6.25 shows.
const FIELDS_MIN: usize = 11;
const FIELDS: usize = 17;

impl DiskCounters {
    /// Of the device or partition named `name` as in /sys/class/block.
    ///
    /// # Errors
    /// If there is no such device (any more).
    pub fn of(name: &str) -> io::Result<DiskCounters> {
        platform::disk_counters(name)
    }

    /// The counters as a `stat` file shows them; `None` if there are fewer
    /// than any kernel shows, or one is no number.
    pub fn parse(stat: &str) -> Option<DiskCounters> {
        let mut fields = [0; FIELDS];
        let mut count = 0;
        for (word, field) in stat.split_ascii_whitespace().zip(&mut fields) {
            *field = word.parse().ok()?;
            count += 1;
        }
        (count >= FIELDS_MIN).then(|| DiskCounters::from_fields(fields))
    }

    /// The counters of the device numbered `major`:`minor` in the text of
    /// /proc/diskstats.
    pub fn find(diskstats: &str, major: u32, minor: u32) -> Option<DiskCounters> {
        diskstats.lines().find_map(|line| {
            let (numbered, rest) = split_word(line);
            let (minored, rest) = split_word(rest);
            let (_name, counters) = split_word(rest);
            let matches = numbered.parse() == Ok(major) && minored.parse() == Ok(minor);
            if matches { DiskCounters::parse(counters) } else { None }
        })
    }

    /// The difference since `earlier`. A counter that went back
    /// has wrapped: the kernel keeps some in 32 bits.
    pub fn since(&self, earlier: &DiskCounters) -> DiskCounters {
        let mut difference = self.each(earlier, counted_since);
        difference.in_flight = self.in_flight;
        difference
    }

    /// Both together.
    pub fn plus(&self, other: &DiskCounters) -> DiskCounters {
        self.each(other, u64::saturating_add)
    }

    fn each(&self, other: &DiskCounters, f: impl Fn(u64, u64) -> u64) -> DiskCounters {
        let (mine, theirs) = (self.fields(), other.fields());
        DiskCounters::from_fields(std::array::from_fn(|index| f(mine[index], theirs[index])))
    }
}

fn counted_since(later: u64, earlier: u64) -> u64 {
    const WRAP: u64 = 1 << 32;
    match later.checked_sub(earlier) {
        Some(count) => count,
        None if earlier < WRAP => later + (WRAP - earlier),
        None => 0,
    }
}

/// The first word, and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NEW: &str = "     1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
    const ALL: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n \
                       254       1 vda1 1 2 3 4 5 6 7 8 9 10 11\n \
                       254       0 vda 21 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";

    #[test]
    fn a_new_kernel_shows_all_seventeen() {
        let counters = DiskCounters::parse(NEW).unwrap();
        assert_eq!(counters.fields(), std::array::from_fn(|index| index as u64 + 1));
        assert_eq!((counters.reads, counters.write_ms, counters.flush_ms), (1, 8, 17));
        assert_eq!((counters.in_flight, counters.busy_ms), (9, 10));
    }

    #[test]
    fn an_old_kernel_shows_no_discards_and_no_flushes() {
        let counters = DiskCounters::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!(counters.queue_ms, 11);
        assert_eq!((counters.discards, counters.flushes), (0, 0));
    }

    #[test]
    fn a_newer_kernel_may_show_more() {
        let text = format!("{} 18 19", NEW.trim());
        assert_eq!(DiskCounters::parse(&text), DiskCounters::parse(NEW));
    }

    #[test]
    fn what_are_no_counters_is_refused() {
        for text in ["", "1 2 3", "1 2 3 4 5 6 7 8 9 10", "1 2 3 4 5 6 7 8 9 10 x", "-1 2"] {
            assert_eq!(DiskCounters::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_device_is_found_by_its_numbers() {
        assert_eq!(DiskCounters::find(ALL, 254, 0).unwrap().reads, 21);
        assert_eq!(DiskCounters::find(ALL, 254, 1).unwrap().queue_ms, 11);
        assert_eq!(DiskCounters::find(ALL, 8, 0), None);
    }

    #[test]
    fn a_wrapped_counter_goes_on() {
        let earlier = DiskCounters { busy_ms: u64::from(u32::MAX) - 9, ..Default::default() };
        let later = DiskCounters { busy_ms: 5, in_flight: 3, ..Default::default() };
        let between = later.since(&earlier);
        assert_eq!(between.busy_ms, 15);
        assert_eq!(between.in_flight, 3);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in "[0-9 x\n-]{0,80}") {
            let _ = DiskCounters::parse(&text);
            let _ = DiskCounters::find(&text, 0, 0);
        }

        #[test]
        fn a_difference_added_back_is_the_later_one(
            earlier in proptest::array::uniform17(0u64..1 << 31),
            more in proptest::array::uniform17(0u64..1 << 31),
        ) {
            let earlier = DiskCounters::from_fields(earlier);
            let later = earlier.plus(&DiskCounters::from_fields(more));
            let mut sum = later.since(&earlier).plus(&earlier);
            sum.in_flight = later.in_flight;
            prop_assert_eq!(sum, later);
        }
    }

    #[test]
    fn a_real_device_has_counters() {
        let Some(name) = std::fs::read_dir("/sys/class/block").ok().and_then(|mut all| all.next())
        else {
            iosonde_testing::skip!("there is no block device here");
        };
        let name = name.unwrap().file_name().into_string().unwrap();
        DiskCounters::of(&name).unwrap();
        assert!(DiskCounters::of("no such device").is_err());
    }
}

//! The options `cmdprio_*`, which several engines take.

/// Declares the options of an engine, those of priorities after the first block
/// and before the second; `priorities()` lends them.
macro_rules! options_with_priorities {
    (
        $(#[doc = $title:literal])*
        $vis:vis struct $topic:ident in $category:path
        { $($before:tt)* }
        { $($after:tt)* }
    ) => {
        iosonde_options::options! {
            $(#[doc = $title])*
            $vis struct $topic in $category {
                $($before)*
                /// Share of I/Os with a priority of their own, in percent; for reads, for writes.
                cmdprio_percentage: iosonde_options::Triple<u32> = "0" as "cmdprio_percentage" {
                    min: Some(0),
                    max: Some(100),
                    good: &["0", "20", "20,0"],
                    bad: &["101", "some"],
                }
                /// Class of that priority: 1 real time, 2 best effort, 3 idle.
                cmdprio_class: iosonde_options::Triple<Option<u32>> = "" as "cmdprio_class" {
                    min: Some(1),
                    max: Some(3),
                    good: &["1", "2,3"],
                    bad: &["0", "4"],
                }
                /// A hint to the device that goes with that priority.
                cmdprio_hint: iosonde_options::Triple<Option<u32>> = "" as "cmdprio_hint" {
                    min: Some(0),
                    max: Some(1023),
                    good: &["0", "1"],
                    bad: &["1024"],
                }
                /// That priority within its class, 0 the highest.
                cmdprio: iosonde_options::Triple<Option<u32>> = "" as "cmdprio" {
                    min: Some(0),
                    max: Some(7),
                    good: &["0", "7"],
                    bad: &["8"],
                }
                /// Shares of I/Os with that priority, by block size: `4k/20:64k/0`.
                ///
                /// For reads, for writes. A share may name its own priority, class, level and hint:
                /// `4k/20/1/0:4k/10/2/7/1`.
                cmdprio_bssplit: Option<$crate::platform::cmdprio::CmdPrioSplit> = "" as "cmdprio_bssplit" {
                    good: &["4k/20:64k/0", "4k/20/1/0:4k/10/2/7,64k/5", "4k/20/1/0/3"],
                    bad: &["4k/20/1", "/20", "4k/60:4k/60", "4k/20/4/0", "4k/20/1/8"],
                }
                $($after)*
            }
        }

        impl $topic {
            fn priorities(&self) -> $crate::platform::cmdprio::PriorityOptions<'_> {
                $crate::platform::cmdprio::PriorityOptions {
                    percentage: &self.cmdprio_percentage,
                    class: &self.cmdprio_class,
                    hint: &self.cmdprio_hint,
                    level: &self.cmdprio,
                    split: &self.cmdprio_bssplit,
                }
            }
        }
    };
}

pub(crate) use options_with_priorities;

//! Tables of options: one entry holds a name, a type, a default and its documentation.
//!
//! A developer writes an entry once, beside the field that holds its value:
//!
//! ```
//! use iosonde_options::{Category, ParseContext, Origin, Topic, options};
//!
//! options! {
//!     /// Depth
//!     pub struct DepthOptions in Category::IoBasic {
//!         /// Number of I/Os kept in flight.
//!         iodepth: u32 = "1" as "iodepth" {
//!             min: Some(1),
//!             good: &["1", "32", "0x10"],
//!             bad: &["0", "many"],
//!         }
//!     }
//! }
//!
//! let mut depth = DepthOptions::default();
//! let row = &DepthOptions::OPTIONS[0];
//! let mut context = ParseContext::new(row);
//! depth.set("iodepth", "32", Origin::CommandLine { index: 1 }, &mut context).unwrap().unwrap();
//! assert_eq!(*depth.iodepth.get(), 32);
//! assert_eq!(depth.show("iodepth").unwrap(), "32");
//! ```
//!
//! Out of it come the typed field, a row of [`OptionDef`] for help, manual and tests, and
//! [`Topic::set`] and [`Topic::show`] by name. The braces may name any column of [`OptionDef`];
//! what is left out is as its type or [`OptionDef::BLANK`] has it.
//!
//! This crate knows no particular option of a job.

#![forbid(unsafe_code)]

pub mod command_line;
mod diagnostic;
mod lists;
mod nearest;
mod number;
pub mod render;
mod setting;
mod shared;
mod table;
mod time;
mod value;
mod words;

pub use diagnostic::{Diagnostic, Level};
pub use lists::{AddedPaths, CpuSet, FloatList, NamedList, PathList, SizeRange, Triple};
pub use nearest::nearest;
pub use number::{Amount, Bytes, Number, scan_number};
pub use setting::{Origin, Setting};
pub use shared::Shared;
pub use table::{
    Built, Category, Choice, FioSupport, OptionDef, ParseContext, TimeUnit, Topic, ValueKind,
};
pub use time::{Millis, SpanRange, time_unit_us};
pub use value::{OptionValue, ValueError};

/// Declares a topic: a struct of [`Setting`]s, its rows, and setting and showing by name.
/// The crate's first page has a worked example.
#[macro_export]
macro_rules! options {
    (
        $(#[doc = $title:literal])*
        $vis:vis struct $topic:ident in $category:path {
            $(
                $(#[doc = $doc:literal])*
                $field:ident : $ty:ty = $default:literal as $name:literal $(| $alias:literal)*
                { $($column:ident : $entry:expr),* $(,)? }
            )*
        }
    ) => {
        $(#[doc = $title])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $topic {
            $( $(#[doc = $doc])* pub $field: $crate::Setting<$ty>, )*
        }

        impl Default for $topic {
            fn default() -> Self {
                let mut rows = Self::OPTIONS.iter();
                $topic {
                    $( $field: $crate::Setting::by_default(rows.next().expect("a row a field")), )*
                }
            }
        }

        impl $topic {
            /// The rows of this topic, in the order of its fields.
            pub const OPTIONS: &'static [$crate::OptionDef] = &[
                $( $crate::OptionDef {
                    $($column: $entry,)*
                    ..$crate::OptionDef {
                        name: $name,
                        aliases: &[$($alias),*],
                        doc: &[$($doc),*],
                        kind: <$ty as $crate::OptionValue>::KIND,
                        choices: <$ty as $crate::OptionValue>::CHOICES,
                        default: $default,
                        category: $category,
                        good: <$ty as $crate::OptionValue>::GOOD,
                        bad: <$ty as $crate::OptionValue>::BAD,
                        ..$crate::OptionDef::BLANK
                    }
                }, )*
            ];
        }

        impl $crate::Topic for $topic {
            fn title(&self) -> &'static str {
                concat!($($title),*).trim_ascii()
            }
            fn options(&self) -> &'static [$crate::OptionDef] {
                Self::OPTIONS
            }
            fn set(
                &mut self,
                name: &str,
                text: &str,
                origin: $crate::Origin,
                context: &mut $crate::ParseContext,
            ) -> Option<Result<(), $crate::ValueError>> {
                match name {
                    $( $name $(| $alias)* => Some(self.$field.set(text, origin, context)), )*
                    _ => None,
                }
            }
            fn show(&self, name: &str) -> Option<String> {
                match name {
                    $( $name $(| $alias)* => Some($crate::OptionValue::show(self.$field.get())), )*
                    _ => None,
                }
            }
            fn origin(&self, name: &str) -> Option<&$crate::Origin> {
                match name {
                    $( $name $(| $alias)* => Some(self.$field.origin()), )*
                    _ => None,
                }
            }
        }
    };
}

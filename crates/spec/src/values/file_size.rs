//! The size of each file: one for all, or a range from which it is drawn.

use iosonde_options::{OptionValue, ParseContext, SizeRange, ValueError, ValueKind};

/// The value of `filesize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileSize(pub SizeRange);

impl OptionValue for FileSize {
    const KIND: ValueKind = ValueKind::Size;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let is_range = text.contains(['-', ':']) && !text.starts_with('-');
        let range = if is_range { text.to_owned() } else { format!("{text}-{text}") };
        SizeRange::parse(&range, context).map(FileSize).map_err(|error| {
            let want = "a size such as 4k, or a range such as 4k-8k";
            ValueError { want: want.into(), got: text.into(), ..error }
        })
    }
    fn show(&self) -> String {
        if self.0.min == self.0.max { self.0.min.show() } else { self.0.show() }
    }
}

//! Closed sets of words, each with its help.

/// Declares an enum that is written as one of a closed set of words. Each variant names its
/// word, its other spellings, and what it stands for, which also documents it:
///
/// ```
/// iosonde_options::words! {
///     /// Distribution of the gaps between rate-limited I/Os.
///     pub enum Pacing {
///         Linear = "linear" : "even gaps",
///         Poisson = "poisson" | "random" : "gaps drawn from an exponential distribution",
///     }
/// }
/// assert_eq!(Pacing::from_word("random"), Some(Pacing::Poisson));
/// assert_eq!(Pacing::Poisson.word(), "poisson");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[$vmeta:meta])* $variant:ident = $word:literal $(| $other:literal)* : $help:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name {
            $( #[doc = $help] $(#[$vmeta])* $variant, )*
        }

        impl $name {
            /// Every word (other spellings included) with what it stands for.
            pub const WORDS: &'static [$crate::Choice] =
                &[$( ($word, $help), $( ($other, concat!("same as ", $word)), )* )*];

            /// The value that `word` stands for.
            pub fn from_word(word: &str) -> Option<$name> {
                match word {
                    $( $word $(| $other)* => Some($name::$variant), )*
                    _ => None,
                }
            }

            /// The word for this value.
            pub const fn word(self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )*
                }
            }
        }

        impl $crate::OptionValue for $name {
            const KIND: $crate::ValueKind = $crate::ValueKind::Word;
            const CHOICES: &'static [$crate::Choice] = Self::WORDS;
            fn parse(text: &str, _: &mut $crate::ParseContext) -> Result<Self, $crate::ValueError> {
                $name::from_word(text).ok_or_else(|| {
                    let words: Vec<&str> = Self::WORDS.iter().map(|(word, _)| *word).collect();
                    $crate::ValueError::new(format!("one of {}", words.join(", ")), text)
                })
            }
            fn show(&self) -> String {
                self.word().to_owned()
            }
        }
    };
}

//! Enums of words with a fixed spelling: closed ones, and open ones that keep unknown words as they are.

/// Defines an enum each of whose values has one fixed spelling, also for serde, and words behind it where they are
/// given.
#[macro_export]
macro_rules! closed_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$vmeta:meta])* $variant:ident = $text:literal: $words:literal,)+
    }) => {
        $crate::closed_enum! { $(#[$meta])* $vis enum $name { $($(#[$vmeta])* $variant = $text,)+ } }

        impl $name {
            /// Returns it in words.
            pub const fn words(self) -> &'static str {
                match self { $(Self::$variant => $words,)+ }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $name {
            $($(#[$vmeta])* #[doc = concat!("`", $text, "`.")] $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Returns the spelling in storage and answers.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Returns the value of exactly this spelling.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == text)
            }

            /// Returns the value of this spelling in any letter case.
            pub fn known(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str().eq_ignore_ascii_case(text))
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                Self::known(&text).ok_or_else(|| {
                    let allowed = Self::ALL.map(Self::as_str).join(", ");
                    $crate::serde::de::Error::custom(format!("{text:?} is not allowed: one of {allowed}"))
                })
            }
        }
    };
}

/// Defines an enum whose known values have a fixed spelling and whose unknown values are kept unchanged.
///
/// Parsing never fails: known words are found in any letter case, everything else becomes `Other`.
macro_rules! open_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$vmeta:meta])* $variant:ident = $text:literal: $words:literal,)+
    }) => {
        open_enum! { $(#[$meta])* $vis enum $name { $($(#[$vmeta])* $variant = $text,)+ } }

        impl $name {
            /// Returns it in words; an unknown one as it is.
            pub fn words(&self) -> &str {
                match self { $(Self::$variant => $words,)+ Self::Other(text) => text }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $($(#[$vmeta])* #[doc = concat!("`", $text, "` on the wire.")] $variant,)+
            /// A value that this version does not know, kept as it came.
            Other(String),
        }

        impl $name {
            /// Every known value, in the order of the interface.
            pub const KNOWN: &'static [$name] = &[$($name::$variant,)+];

            /// Returns the spelling on the wire.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $text,)+ Self::Other(text) => text }
            }

            /// Reads any text: known words in any letter case, unknown ones as they are.
            pub fn parse(text: &str) -> Self {
                Self::known(text).unwrap_or_else(|| Self::Other(text.to_owned()))
            }

            /// Reads a known word in any letter case; `None` for every other text.
            pub fn known(text: &str) -> Option<Self> {
                $(if text.eq_ignore_ascii_case($text) { return Some(Self::$variant); })+
                None
            }

            /// Returns true for a value that this version knows.
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Other(_))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        /// No word.
        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }

        impl $crate::field::HoldsText for $name {
            fn held(&self) -> Option<&str> {
                Some(self.as_str())
            }

            fn hold(&mut self, text: std::borrow::Cow<'_, str>) {
                *self = Self::parse(&text);
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::convert::Infallible;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(Self::parse(text))
            }
        }
    };
}

pub(crate) use open_enum;

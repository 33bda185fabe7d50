//! `closed_enum!`: an enum of words that are all there are.

/// Defines an enum each of whose values has one fixed spelling.
#[macro_export]
macro_rules! closed_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $name {
            $($(#[$vmeta])* #[doc = concat!("`", $text, "`.")] $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The spelling in storage and answers.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value of exactly this spelling.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == text)
            }

            /// The value of this spelling in any letter case.
            pub fn known(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str().eq_ignore_ascii_case(text))
            }
        }
    };
}

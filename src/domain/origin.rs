//! Origin of an alert: the source that brought it, and how it is answered.

use std::{fmt, str::FromStr};

use crate::closed_enum;

closed_enum! {
    /// Way in which the alerts of a source are answered.
    pub enum Answers {
        /// Recorded by avert, reported to nobody.
        Here = "here",
        /// By the gateway of the alert's network, as alerts without a source.
        Gateway = "gateway",
        /// By the source itself.
        Native = "native",
    }
}

/// Origin of an alert: the source that brought it, and how it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub source: String,
    pub answers: Answers,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.answers.as_str(), self.source)
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once(' ').and_then(|(answers, source)| Some((Answers::parse(answers)?, source)));
        let (answers, source) = parts.ok_or_else(|| format!("the origin {text:?}"))?;
        Ok(Self { source: source.to_owned(), answers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_it_is_written() {
        let origin = Origin { source: "stripe-eu".to_owned(), answers: Answers::Here };

        assert_eq!(origin.to_string(), "here stripe-eu");
        assert_eq!(origin.to_string().parse(), Ok(origin));
        assert!("nowhere stripe-eu".parse::<Origin>().is_err() && "here".parse::<Origin>().is_err());
    }
}

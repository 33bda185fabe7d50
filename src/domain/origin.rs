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

closed_enum! {
    /// Way in which a source that takes answers itself gets those to Verifi's alerts.
    pub enum VerifiAnswers {
        /// Not at all: they are recorded by avert.
        Here = "here",
        /// By the codes of CDRN.
        Codes = "codes",
    }
}

/// Origin of an alert: the source that brought it, and how it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub source: String,
    pub answers: Answers,
    /// The source's own id of the alert, by which it takes an answer; empty where it takes none.
    pub reference: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.answers.as_str(), self.source)?;
        if self.reference.is_empty() { Ok(()) } else { write!(f, " {}", self.reference) }
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once(' ').and_then(|(answers, source)| Some((Answers::parse(answers)?, source)));
        let (answers, rest) = parts.ok_or_else(|| format!("the origin {text:?}"))?;
        let (source, reference) = rest.split_once(' ').unwrap_or((rest, ""));
        Ok(Self { source: source.to_owned(), answers, reference: reference.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_it_is_written() {
        let origin = |answers, reference: &str| Origin {
            source: "justt-eu".to_owned(),
            answers,
            reference: reference.to_owned(),
        };

        for (origin, text) in [
            (origin(Answers::Here, ""), "here justt-eu"),
            (origin(Answers::Native, "id of theirs"), "native justt-eu id of theirs"),
        ] {
            assert_eq!(origin.to_string(), text);
            assert_eq!(origin.to_string().parse(), Ok(origin));
        }
        assert!("nowhere stripe-eu".parse::<Origin>().is_err() && "here".parse::<Origin>().is_err());
    }
}

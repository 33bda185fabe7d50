//! The form that takes the sales of a month on one card scheme's cards, which no alert tells.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::{AppContext, Dialog, Message, Order, Orders};
use crate::desk::SalesCount;
use crate::desk::sales::MOST_SALES;
use crate::domain::monitoring::PROGRAMMES;
use crate::domain::{CardScheme, SalesMonth, Timestamp};
use crate::ui::form::{Entered, Field, Form};

const MONTH: usize = 0;
const SCHEME: usize = 1;
const COUNT: usize = 2;

/// The schemes, as they can be chosen.
const SCHEMES: [&str; 2] = ["Visa", "Mastercard"];

/// The month that a scheme's programmes ask for now.
fn asked_month(scheme: CardScheme, now: Timestamp) -> SalesMonth {
    let month = SalesMonth::of(now);
    let programme = PROGRAMMES.iter().find(|programme| programme.scheme == scheme);
    programme.map_or(month, |programme| programme.sales_month(month))
}

/// The form while it is open.
#[derive(Debug)]
pub struct SalesForm {
    form: Form,
    /// The month that was put in: it follows the network until another one is typed.
    preset: String,
}

impl SalesForm {
    /// For the month that is asked for, or another one.
    pub fn at(now: Timestamp) -> Self {
        let preset = asked_month(CardScheme::ALL[0], now).to_string();
        let rows = vec![
            Field::text("Month", &preset).hint("year and month, such as 2026-11"),
            Field::choice("Network", &SCHEMES, 0),
            Field::text("Sales", "").hint("how many card-not-present sales it had, such as 118200"),
        ];
        Self { form: Form::new("Sales of a month, kept on this desk only", "Save", rows, COUNT), preset }
    }

    /// Puts the month in that the chosen network is measured by.
    fn follow_network(&mut self, now: Timestamp) {
        let asked = asked_month(CardScheme::ALL[self.form.chosen(SCHEME)], now).to_string();
        if asked != self.preset && self.form.text(MONTH) == self.preset {
            self.form.set_text(MONTH, &asked);
            self.preset = asked;
        }
    }

    /// What was entered, or what is wrong and where.
    fn entered(&self, now: Timestamp) -> Result<SalesCount, (usize, String)> {
        let month: SalesMonth = self.form.text(MONTH).parse().map_err(|error| (MONTH, format!("{error}.")))?;
        if month > SalesMonth::of(now) {
            return Err((MONTH, format!("{} is still to come.", month.words())));
        }
        let scheme = CardScheme::ALL[self.form.chosen(SCHEME)];
        Ok(SalesCount {
            month,
            scheme,
            count: count_of(&self.form.text(COUNT)).map_err(|wrong| (COUNT, wrong))?,
            entered_at: now,
        })
    }
}

/// A number of sales as people type it.
fn count_of(text: &str) -> Result<u64, String> {
    let digits: String = text.chars().filter(|sign| !matches!(sign, ',' | ' ' | '_' | '\'')).collect();
    let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    number.filter(|count| *count <= MOST_SALES).ok_or_else(|| {
        let given = if text.is_empty() { "The count is missing".to_owned() } else { format!("{text:?} is no count") };
        format!("{given}: a whole number of sales is needed, such as 118200.")
    })
}

impl Dialog for SalesForm {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        match self.form.handle(event) {
            Entered::Nothing | Entered::Reset => self.follow_network(cx.now),
            Entered::Leave => return vec![Order::Close],
            Entered::Submit => match self.entered(cx.now) {
                Ok(entered) => return vec![Order::Close, Message::SalesEntered(entered).into()],
                Err((row, wrong)) => self.form.refuse(row, wrong),
            },
        }
        Vec::new()
    }

    fn lost(&self) -> Option<String> {
        self.form.lost()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.form.draw(&cx.theme, frame, area);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("118200", Some(118_200))]
    #[case("118,200", Some(118_200))]
    #[case("118 200", Some(118_200))]
    #[case("0", Some(0))]
    #[case("", None)]
    #[case("-1", None)]
    #[case("1.5", None)]
    #[case("many", None)]
    #[case("1000000000001", None)]
    #[case("99999999999999999999999", None)]
    fn a_count_of_sales_is_a_whole_number(#[case] text: &str, #[case] count: Option<u64>) {
        assert_eq!(count_of(text).ok(), count);
    }
}

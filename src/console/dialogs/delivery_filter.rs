//! The filter of deliveries: state, endpoint and time.

use chrono::{Days, Duration, NaiveDate, NaiveDateTime, NaiveTime};

use super::form_dialog::{FormDialog, Submitted};
use crate::{
    AppContext, Message, Orders, dialog,
    domain::{DeliveryFilter, DeliveryState, Endpoint, EndpointId, Timestamp},
    screens::webhooks::state::WebhooksScreen,
    text::sanitize,
    ui::form::{Form, FormField},
};

const STATES: usize = 0;
const ENDPOINT: usize = 1;
const FROM: usize = 2;
const UNTIL: usize = 3;

/// Columns of a field for a moment.
const MOMENT: u16 = 20;

/// Opens the form on the filter of now.
pub fn open(screen: &WebhooksScreen, cx: &AppContext) -> Orders {
    let filter = &screen.filter;
    let draw = cx.draw_context();
    let states =
        DeliveryState::ALL.map(|state| (draw.delivery_state(state).1.to_owned(), filter.states.contains(&state)));
    let known = |endpoint: &Endpoint| (Some(endpoint.id), sanitize(&endpoint.url.to_string()).into_owned());
    let mut endpoints: Vec<(Option<EndpointId>, String)> = vec![(None, "every endpoint".to_owned())];
    endpoints.extend(screen.endpoint_rows().iter().map(known));
    if filter.endpoint.is_some_and(|id| screen.known(id).is_none()) {
        endpoints.push((filter.endpoint, "a removed endpoint".to_owned()));
    }
    let at = endpoints.iter().position(|(id, _)| *id == filter.endpoint).unwrap_or(0);
    let (ids, names): (Vec<_>, Vec<_>) = endpoints.into_iter().unzip();
    let moment = |at: Option<Timestamp>| at.map_or(String::new(), |at| at.format("%Y-%m-%d %H:%M").to_string());
    let [from, until] = [filter.from, filter.until].map(moment);
    let fields = vec![
        FormField::checks("State", states),
        FormField::step("Endpoint", names, at),
        FormField::text("From", &from).hint("any time").width(MOMENT).note("UTC: 2026-11-20 08:30, or 6h, 2d ago"),
        FormField::text("Until", &until).hint("now").width(MOMENT).note("a day means the whole day"),
    ];
    let form = FormDialog::new(Form::new("Filter deliveries", "Apply", fields, STATES), move |form, cx| {
        apply(form, &ids, cx.now)
    });
    dialog::open(form.resetting(|| vec![Message::ShowDeliveries(DeliveryFilter::default()).into()]))
}

fn apply(form: &Form, endpoints: &[Option<EndpointId>], now: Timestamp) -> Submitted {
    let read = |field, end| moment(&form.text(field), now, end).map_err(|wrong| (field, wrong));
    let (from, until) = (read(FROM, false)?, read(UNTIL, true)?);
    if from.zip(until).is_some_and(|(from, until)| from >= until) {
        return Err((UNTIL, "The end must be after the start.".to_owned()));
    }
    let states = form.ticked(STATES, &DeliveryState::ALL);
    let endpoint = endpoints[form.chosen(ENDPOINT)];
    let filter = DeliveryFilter { states, endpoint, from, until, ..DeliveryFilter::default() };
    Ok(vec![Message::ShowDeliveries(filter).into()])
}

/// A moment: a UTC day, a day and time, or how long ago (`90min`, `6h`, `2d`). As an end, a day is meant whole.
fn moment(text: &str, now: Timestamp, end: bool) -> Result<Option<Timestamp>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let day = day.and_then(|day| if end { day.checked_add_days(Days::new(1)) } else { Some(day) });
    let at = day
        .map(|day| day.and_time(NaiveTime::MIN))
        .or_else(|| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").ok());
    let ago = || {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let count: i64 = digits.trim().parse().ok().filter(|count| *count >= 0)?;
        let ago = match &text[digits.len()..] {
            "min" => Duration::try_minutes(count),
            "h" => Duration::try_hours(count),
            "d" => Duration::try_days(count),
            _ => None,
        };
        now.checked_sub_signed(ago?)
    };
    let found = at.map(|at| at.and_utc()).or_else(ago);
    found.map(Some).ok_or_else(|| format!("{text} is no time: use 2026-11-20, 2026-11-20 08:30, 90min, 6h or 2d."))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::{from_iso, to_iso};

    #[rstest]
    #[case("2026-11-20", false, "2026-11-20T00:00:00.000Z")]
    #[case("2026-11-20", true, "2026-11-21T00:00:00.000Z")]
    #[case("2026-11-20 08:30", true, "2026-11-20T08:30:00.000Z")]
    #[case("90min", false, "2026-11-20T10:30:00.000Z")]
    #[case("6h", true, "2026-11-20T06:00:00.000Z")]
    #[case("2 d", false, "2026-11-18T12:00:00.000Z")]
    fn a_moment_is_a_day_a_time_or_so_long_ago(#[case] text: &str, #[case] end: bool, #[case] at: &str) {
        let now = from_iso("2026-11-20T12:00:00Z").unwrap();

        assert_eq!(moment(text, now, end).unwrap().map(to_iso).as_deref(), Some(at));
    }

    #[rstest]
    #[case("soon")]
    #[case("-2h")]
    #[case("2w")]
    #[case("2026-02-30")]
    #[case("99999999999999999999h")]
    #[case("9999999999999d")]
    #[case("é")]
    fn what_is_no_moment_is_refused_with_what_is_allowed(#[case] text: &str) {
        let wrong = moment(text, Timestamp::UNIX_EPOCH, true).unwrap_err();

        assert!(wrong.contains(text) && wrong.contains("2026-11-20 08:30"), "{wrong}");
    }
}

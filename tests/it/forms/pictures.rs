//! A picture of every state of the forms at four sizes, each between the header and the footer of a console of that
//! size.

use avert::console::dialogs::filter_form::FilterForm;
use avert::console::dialogs::resolve_form::{Choice, FormContext, FormWarning, ResolveForm};
use avert::console::theme::{Theme, ThemeName};
use avert::domain::query::{Vocabulary, parse};
use avert::domain::resolution::InvalidReason;
use avert::domain::{Alert, AlertStatus, AlertType};
use chrono::Duration;
use crossterm::event::KeyCode;
use ratatui::layout::Rect;
use rstest::rstest;

use super::*;

/// What stands in a console of this size, whose first line and last one are its own.
fn in_console((width, height): (u16, u16), draw: impl FnOnce(&mut Frame<'_>, Rect)) -> Screen {
    Screen::of(width, height, |frame| {
        let area = frame.area();
        draw(frame, Rect { y: area.y + 1, height: area.height - 2, ..area });
    })
}

/// The screen with the room around the form left out, and where the cursor is.
fn picture(screen: &Screen) -> String {
    let rows = screen.rows();
    let first = rows.iter().position(|row| !row.is_empty()).unwrap_or(0);
    let last = rows.iter().rposition(|row| !row.is_empty()).unwrap_or(0);
    let cursor = screen.cursor.map_or("no cursor".to_owned(), |at| format!("cursor at row {}, column {}", at.y, at.x));
    format!("rows {first} to {last}, {cursor}\n{}", rows[first..=last].join("\n"))
}

fn state(name: &str) -> ResolveForm {
    let new = |choice, reason, comments: &str, warnings| {
        ResolveForm::new(&travel_alert(), choice, PRODUCTION, draft(reason, comments), warnings, noon())
    };
    let rule = || Alert { rule_name: Some("Above 10 AED".to_owned()), ..travel_alert() };
    let with = |mut form: ResolveForm, events: &[Event]| {
        play(&mut form, events.iter().cloned());
        form
    };
    match name {
        "refunded" => form(Choice::Refunded),
        "not_refunded" => form(Choice::NotRefunded),
        "invalid" => form(Choice::Invalid),
        "invalid_without_reason" => with(form(Choice::Invalid), &[ctrl('s')]),
        "as_designed" => {
            let comments =
                "Refunded under the Ethoca alert 5F2RE396 on 20 Nov, same card and amount. No second refund is due.";
            with(new(Choice::Invalid, None, comments, vec![refunded_double()]), &[key(KeyCode::Tab)])
        }
        "looking_for_doubles" => new(Choice::Refunded, None, "", vec![FormWarning::Searching]),
        "second_refund" => {
            let warnings = vec![refunded_double(), FormWarning::NotCompared("ARN not checked".to_owned())];
            ResolveForm::new(&rule(), Choice::Refunded, PRODUCTION, None, warnings, noon())
        }
        "second_refund_refused" => with(
            ResolveForm::new(&rule(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon()),
            &[ctrl('s')],
        ),
        "second_refund_confirmed" => {
            with(new(Choice::Refunded, None, "", vec![refunded_double()]), &[ctrl('s'), key(KeyCode::Char(' '))])
        }
        "too_long" => with(
            new(Choice::Refunded, None, &"Refunded with 4111 1111 1111 1111. ".repeat(8), Vec::new()),
            &[ctrl('s')],
        ),
        "everything_at_once" => {
            let alert = Alert {
                alert_type: AlertType::VerifiDisputeNotice,
                amount: "12345678.90".parse().ok(),
                deadline: Deadline::At(noon() + Duration::minutes(4)),
                ..rule()
            };
            let warnings = vec![
                double(DuplicateState::Waiting),
                refunded_double(),
                FormWarning::NotCompared("ARN not checked".to_owned()),
            ];
            with(
                ResolveForm::new(&alert, Choice::Refunded, PRODUCTION, draft(None, &"x".repeat(260)), warnings, noon()),
                &[ctrl('s')],
            )
        }
        "enter_on_send" => {
            with(form(Choice::Refunded), &[key(KeyCode::BackTab), key(KeyCode::BackTab), key(KeyCode::Enter)])
        }
        "paste_outside" => with(form(Choice::Invalid), &[Event::Paste("x".to_owned())]),
        "read_only" => ResolveForm::new(
            &travel_alert(),
            Choice::Refunded,
            FormContext { production: false, read_only: true, grace_seconds: 0, ..PRODUCTION },
            None,
            Vec::new(),
            noon(),
        ),
        "kept_send" => with(new(Choice::Refunded, None, "", vec![FormWarning::Searching]), &[ctrl('s')]),
        "overtaken" => {
            let mut form = new(Choice::Refunded, None, "sent back by hand", vec![refunded_double()]);
            form.update_alert(&Alert {
                id: form.alert_id(),
                status: AlertStatus::Resolved,
                ..resolve::answered(&travel_alert())
            });
            form
        }
        "last_seconds" => {
            let alert = Alert { deadline: Deadline::At(noon() + Duration::seconds(14)), ..travel_alert() };
            ResolveForm::new(&alert, Choice::NotRefunded, PRODUCTION, None, Vec::new(), noon())
        }
        "closed" => {
            let alert = Alert { deadline: Deadline::At(noon() - Duration::hours(2)), ..travel_alert() };
            ResolveForm::new(
                &alert,
                Choice::NotRefunded,
                PRODUCTION,
                draft(Some(InvalidReason::Duplicate), "too late"),
                Vec::new(),
                noon(),
            )
        }
        "notice" => {
            let alert = Alert { alert_type: AlertType::VerifiFraudNotice, ..travel_alert() };
            with(ResolveForm::new(&alert, Choice::NotRefunded, PRODUCTION, None, Vec::new(), noon()), &[ctrl('s')])
        }
        "older_refunded" => ResolveForm::new(&travel_alert(), Choice::Refunded, OLDER, None, Vec::new(), noon()),
        "older_invalid" => {
            with(ResolveForm::new(&travel_alert(), Choice::Invalid, OLDER, None, Vec::new(), noon()), &[ctrl('s')])
        }
        "older_partial" => {
            let mut form =
                ResolveForm::new(&travel_alert(), Choice::Refunded, OLDER, None, vec![refunded_double()], noon());
            play(&mut form, typed("2").into_iter().chain(typed("2000")));
            with(form, &[ctrl('s')])
        }
        "older_everything_at_once" => {
            let alert = Alert {
                alert_type: AlertType::VerifiDisputeNotice,
                deadline: Deadline::At(noon() + Duration::minutes(4)),
                ..rule()
            };
            let warnings = vec![
                double(DuplicateState::Waiting),
                refunded_double(),
                FormWarning::NotCompared("ARN not checked".to_owned()),
            ];
            with(
                ResolveForm::new(&alert, Choice::Refunded, OLDER, draft(None, &"x".repeat(260)), warnings, noon()),
                &typed("2"),
            )
        }
        other => panic!("no state {other}"),
    }
}

#[rstest]
fn the_resolve_form_looks_as_it_did(
    #[values(
        "refunded",
        "not_refunded",
        "invalid",
        "invalid_without_reason",
        "as_designed",
        "looking_for_doubles",
        "second_refund",
        "second_refund_refused",
        "second_refund_confirmed",
        "too_long",
        "everything_at_once",
        "enter_on_send",
        "paste_outside",
        "read_only",
        "closed",
        "kept_send",
        "overtaken",
        "last_seconds",
        "notice",
        "older_refunded",
        "older_invalid",
        "older_partial",
        "older_everything_at_once"
    )]
    name: &str,
    #[values((80, 24), (120, 40))] size: (u16, u16),
) {
    let form = state(name);
    let screen = in_console(size, |frame, area| {
        form.draw(frame, area, &Theme::named(ThemeName::Dark), FormMoment { now: noon(), held_back_by: None });
    });

    insta::assert_snapshot!(format!("resolve_{name}_{}x{}", size.0, size.1), picture(&screen));
}

fn filter_state(name: &str) -> FilterForm {
    let open = |query: &str, events: Vec<Event>| {
        let (filter, sort) = parse(query, Vocabulary::Desk).unwrap();
        let mut form = FilterForm::new(&filter, sort, Vocabulary::Desk);
        for event in events {
            form.handle(&event);
        }
        form
    };
    match name {
        "empty" => open("", Vec::new()),
        "set" => open(
            "status:open,expired provider:ethoca type:confirmed_fraud expires:6 expired:no from:2026-01-01 \
                to:2026-01-31 \
             descriptor:acme outcome:resolved sort:-amount 4111",
            vec![key(KeyCode::Tab); 4],
        ),
        "wrong" => {
            let mut events = vec![key(KeyCode::Tab); 5];
            events.push(key(KeyCode::Char('0')));
            events.extend(vec![key(KeyCode::Tab); 2]);
            events.extend(typed("2026-02-30"));
            events.extend(vec![key(KeyCode::Tab); 5]);
            events.extend(typed("42"));
            events.push(key(KeyCode::Enter));
            open("", events)
        }
        "sorting" => open("", vec![key(KeyCode::Tab); 13]),
        other => panic!("no state {other}"),
    }
}

#[rstest]
fn the_filter_form_looks_as_it_did(
    #[values("empty", "set", "wrong", "sorting")] name: &str,
    #[values((80, 24), (120, 40))] size: (u16, u16),
) {
    let form = filter_state(name);
    let screen = in_console(size, |frame, area| form.draw(frame, area, &Theme::named(ThemeName::Dark)));

    insta::assert_snapshot!(format!("filter_{name}_{}x{}", size.0, size.1), picture(&screen));
}

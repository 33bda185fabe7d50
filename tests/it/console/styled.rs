//! Key screens with the style of every cell, so that selection, urgency and focus cannot break unseen.

use std::{collections::HashMap, fmt::Write as _};

use avert::domain::{CardScheme, time::Clock};
use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};

use super::{
    activity::{decide, declined, desk, redacted, started},
    cases::three,
    pictures::{doubled, in_settings, on_settings},
    rig::{Made, Rig, clock},
    webhooks,
};

/// The styles that a screen has, by the letter that stands for each; a blank stands for the most common one.
const LETTERS: &str = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

fn color(color: Color) -> String {
    match color {
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn style(cell: &Cell) -> String {
    let modifiers =
        if cell.modifier == Modifier::empty() { String::new() } else { format!(" {:?}", cell.modifier).to_lowercase() };
    format!("{} on {}{modifiers}", color(cell.fg), color(cell.bg))
}

/// Each row of the screen, and below it the letters of its cells' styles; at the end what each letter stands for.
fn styled(buffer: &Buffer) -> String {
    let cells = || buffer.content().iter().map(style);
    let mut counts: HashMap<String, usize> = HashMap::new();
    cells().for_each(|style| *counts.entry(style).or_default() += 1);
    let common = counts
        .into_iter()
        .max_by_key(|(style, count)| (*count, style.clone()))
        .map_or_else(String::new, |(style, _)| style);
    let mut known = vec![common];
    cells().for_each(|style| {
        if !known.contains(&style) {
            known.push(style);
        }
    });
    let letter = |style: &str| {
        known.iter().zip(LETTERS.chars()).find(|(known, _)| *known == style).expect("a letter for each style").1
    };
    let mut text = String::new();
    for row in buffer.content().chunks(buffer.area.width.into()) {
        let symbols: String = row.iter().map(Cell::symbol).collect();
        let letters: String = row.iter().map(|cell| letter(&style(cell))).collect();
        writeln!(text, "|{}\n:{}", symbols.trim_end(), letters.trim_end()).unwrap();
    }
    for (style, letter) in known.iter().zip(LETTERS.chars()) {
        writeln!(text, "{letter:?} {style}").unwrap();
    }
    text
}

fn picture(name: &str, made: Made, state: impl Fn(&mut Rig)) {
    picture_of(name, made.start(), state);
}

fn picture_of(name: &str, mut rig: Rig, state: impl Fn(&mut Rig)) {
    state(&mut rig);
    rig.advance(chrono::Duration::milliseconds(100));
    insta::assert_snapshot!(format!("styled-{name}@120x40"), redacted(&styled(&rig.draw())));
}

#[test]
fn the_cursor_the_deadlines_and_the_detail_of_the_list() {
    picture("list", doubled(), |rig| rig.press("j"));
}

#[test]
fn an_alert_on_a_page_of_its_own() {
    picture("page", doubled(), |rig| rig.press("j enter"));
}

#[test]
fn the_focus_and_the_warnings_of_the_resolve_form() {
    picture("resolve", doubled(), |rig| rig.press("j r"));
}

#[test]
fn the_focus_of_the_filter_form() {
    picture("filter", doubled(), |rig| rig.press("f"));
}

#[test]
fn the_search_as_one_types() {
    picture("search", doubled(), |rig| {
        rig.press("/");
        rig.type_text("kontor");
        rig.advance(chrono::Duration::milliseconds(600));
    });
}

#[test]
fn a_staged_decision() {
    picture("staged", doubled(), |rig| rig.press("r ctrl-s"));
}

#[test]
fn the_choice_of_a_menu() {
    picture("views", doubled(), |rig| rig.press("v down"));
}

#[test]
fn the_keys_and_clients() {
    picture("settings", in_settings(), on_settings);
}

#[test]
fn the_words_that_were_looked_for_in_what_was_found() {
    picture("find", doubled(), |rig| {
        rig.press("ctrl-f");
        rig.type_text("acme 1234");
        rig.advance(chrono::Duration::milliseconds(200));
    });
}

#[test]
fn the_states_and_the_warning_of_a_case() {
    picture("case", Made::of(three()), |rig| rig.press("enter"));
}

#[test]
fn what_each_of_several_gets() {
    picture("together", doubled(), |rig| rig.press("space space space space space r"));
}

#[test]
fn what_became_of_several() {
    picture("run", doubled(), |rig| {
        rig.service.next_resolution(declined());
        rig.press("space space j space n ctrl-s");
        rig.advance(chrono::Duration::seconds(6));
    });
}

#[test]
fn the_charts_and_the_gauges() {
    picture("insights", Made::of(super::insights::weeks(clock().now())), |rig| {
        rig.press("2");
        super::insights::figures(rig, 5, vec![super::insights::sales("2026-11", CardScheme::Visa, 9_400)]);
    });
}

#[test]
fn the_webhooks_and_their_attempts() {
    picture_of("webhooks", webhooks::on(Made::default()), |rig| {
        rig.press("j j j");
        rig.advance(chrono::Duration::milliseconds(100));
    });
}

#[test]
fn what_needs_somebody_and_what_was_decided() {
    picture_of("activity", started(desk()), |rig| {
        rig.service.next_resolution(declined());
        decide(rig, "r", "refund 88240");
        decide(rig, "n", "the parcel arrived");
        rig.press("esc 4");
    });
}

#[test]
fn the_letters_that_the_palette_matches() {
    picture("palette", doubled(), |rig| {
        rig.press(":");
        rig.type_text("re");
        rig.advance(chrono::Duration::milliseconds(400));
    });
}

#[test]
fn the_help() {
    picture("help", doubled(), |rig| rig.press("?"));
}

//! Draws the Activity screen: the views with their counts, the rows of one, and below them all that is known of the one
//! under the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::detail;
use super::rows::{ActivityRow, Happening, PART_INDENT, proof_in, row_of};
use super::sections::{self, ListLine, is_read_in_part};
use super::state::{ActivityScreen, ActivityTarget};
use super::views::{ActivityView, count_of};
use crate::console::screens::loading::{ListWords, has_rows};
use crate::console::text::{columns, count, cut, sanitize, whole_words, wrap, wrap_to};
use crate::console::widgets::scrollbar;
use crate::console::{Action, AppContext, Pen, Theme};
use crate::domain::Timestamp;

/// Columns left of a row's text: the cursor's bar and a blank.
const GUTTER: u16 = 2;

/// From so many columns on a row says who did it.
const WIDE: u16 = 100;

/// Below so many columns what was decided has less than it needs.
const NARROW: u16 = 72;

/// From so many rows on there is room for blank lines, and for one at each side of the line between the list and the
/// steps.
const ROOMY: u16 = 17;
const AIRY: u16 = 24;

/// From so many rows on the steps of the row under the cursor stand below the list.
const WITH_STEPS: u16 = 12;

/// A column of the list: title, width, which part of a row.
type Head = (&'static str, u16, fn(&ActivityRow) -> &str);

/// Draws everything below the header and above the notes.
pub fn draw(screen: &ActivityScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    screen.targets.clear();
    let blank = u16::from(area.height >= ROOMY);
    let line = Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 1), height: 1, ..area };
    draw_views(screen, cx, buffer, line);
    let area = match screen.filter() {
        Some(words) => {
            draw_filter(words, screen, cx, buffer, Rect { y: area.y + 1, ..line });
            Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
        }
        None => area,
    };
    let below = Rect { y: area.y + 1 + blank, height: area.height.saturating_sub(1 + blank), ..area };
    let troubled = draw_trouble(screen, cx, buffer, below);
    let rows = screen.rows(cx);
    // What stands in place of rows is no part of the warning.
    let troubled = troubled + u16::from(troubled > 0 && rows.is_empty());
    let below = Rect { y: below.y + troubled, height: below.height.saturating_sub(troubled), ..below };
    if !has_any(screen, &rows, cx, buffer, below) {
        return;
    }
    let needing = sections::needing(screen, rows.len(), cx);
    let decided = !matches!(rows.get(needing), Some(Happening::Told(_)));
    let lines = sections::lines(rows.len(), (needing, decided), sections::nothing_needs_you(screen, cx), blank > 0);
    // The list has what its lines need, at most half; what is known of the row under the cursor stands right below it.
    let wanted = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(1);
    let air = u16::from(below.height >= AIRY);
    let height = if below.height < WITH_STEPS { below.height } else { wanted.min(below.height / 2) };
    let foot = below.height - height;
    let list = Rect { height, ..below };
    draw_rows(screen, (&rows, &lines), cx, buffer, list);
    if foot > 0 {
        let line = Rect { y: list.bottom() + air, height: 1, x: area.x + 1, width: area.width.saturating_sub(2) };
        Pen::new(buffer, line).put(&"─".repeat(usize::from(line.width)), cx.theme.line);
        let y = line.bottom() + air;
        let inside = Rect {
            x: area.x + GUTTER,
            y,
            width: area.width.saturating_sub(GUTTER + 1),
            height: below.bottom().saturating_sub(y),
        };
        detail::draw(screen, &rows, cx, buffer, inside);
    }
}

/// The views, each with how much it holds.
fn draw_views(screen: &ActivityScreen, cx: &AppContext, buffer: &mut Buffer, line: Rect) {
    let theme = &cx.theme;
    let mut views = ActivityView::ALL.map(|(view, name)| (view, name, held(view, screen, cx)));
    let needed = |views: &[(ActivityView, &str, String)], gap: u16| {
        let width = |held: &String| if held.is_empty() { 0 } else { 1 + columns(held) };
        views.iter().map(|(_, name, held)| columns(name) + width(held) + gap).sum::<u16>().saturating_sub(gap)
    };
    if needed(&views, 2) > line.width {
        // Every view keeps its name: what others hold gives way.
        let stays = |view| view == screen.view || view == ActivityView::NeedsYou;
        views.iter_mut().filter(|(view, ..)| !stays(*view)).for_each(|(.., held)| held.clear());
    }
    let gap = [4, 2].into_iter().find(|gap| needed(&views, *gap) <= line.width).unwrap_or(1);
    let mut pen = Pen::new(buffer, line);
    for (view, name, held) in views {
        let shown = view == screen.view;
        if columns(name) + if held.is_empty() { 0 } else { 1 + columns(&held) } > pen.room() {
            return;
        }
        let mut area = pen.put(name, if shown { theme.strong } else { theme.quiet });
        if !held.is_empty() {
            pen.skip(1);
            let calls = view == ActivityView::NeedsYou && held != "0";
            let style = if calls { theme.danger } else { theme.quiet };
            area = area.union(pen.put(&held, style));
        }
        screen.targets.push(area, ActivityTarget::View(view));
        pen.skip(gap);
    }
}

/// How much a view holds; empty where that is not known.
fn held(view: ActivityView, screen: &ActivityScreen, cx: &AppContext) -> String {
    if view == ActivityView::Service && screen.audit.loaded().is_none() {
        return String::new();
    }
    let has_more = match view {
        ActivityView::Service => screen.has_more(),
        ActivityView::NeedsYou => is_read_in_part(cx),
        _ => false,
    };
    let more = if has_more { "+" } else { "" };
    let all = format!("{}{more}", count(count_of(view, cx, screen.entries()) as u64));
    if view == screen.view && screen.filter().is_some() {
        format!("{} of {all}", count(screen.each(cx).len() as u64))
    } else {
        all
    }
}

/// What the view is narrowed by, and the keys that change it and take it away.
fn draw_filter(words: &str, screen: &ActivityScreen, cx: &AppContext, buffer: &mut Buffer, line: Rect) {
    let theme = &cx.theme;
    let keys = format!("{} changes it, {} shows all", cx.key(Action::ActivityFilter), cx.key(Action::Back));
    let mut pen = Pen::new(buffer, line);
    let room = pen.room().saturating_sub(columns(&keys) + 3 + 2).max(pen.room() / 2);
    let chip = format!("{} ✕", cut(&sanitize(words), room.saturating_sub(2)));
    screen.targets.push(pen.put(&chip, theme.accent), ActivityTarget::Chip);
    pen.skip(3);
    pen.put_whole(&keys, theme.quiet);
}

/// Says since when what is shown cannot be read again, and why; how many lines that takes.
fn draw_trouble(screen: &ActivityScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) -> u16 {
    let words = match (screen.view, screen.trouble(), cx.journal.trouble()) {
        (ActivityView::Service, Some((since, error)), _) if screen.audit.loaded().is_some() => {
            format!("▲ stale since {}: {}", cx.times().hour(*since), sanitize(&error.to_string()))
        }
        (ActivityView::Service, ..) => return 0,
        (_, _, None) => match cx.journal.unreadable() {
            Some(words) => format!("▲ {words} avert doctor says what to do."),
            None => return 0,
        },
        (_, _, Some((since, why))) => {
            let why = sanitize(why);
            format!(
                "▲ Since {} the journal cannot be read: {why}. What this console did is here.",
                cx.times().hour(*since)
            )
        }
    };
    let inside = Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 1), ..area };
    let lines = wrap_to(&words, inside.width, 2);
    for (line, row) in lines.iter().zip(inside.rows()) {
        Pen::new(buffer, row).put(line, cx.theme.warning);
    }
    u16::try_from(lines.len()).unwrap_or(0)
}

/// Whether there are rows; else says in their place why there are none, and what to do.
fn has_any(screen: &ActivityScreen, rows: &[Happening<'_>], cx: &AppContext, buffer: &mut Buffer, area: Rect) -> bool {
    let inside = Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 1).min(100), ..area };
    let is_narrowed = screen.filter().is_some() && !screen.entries().is_empty();
    if screen.view == ActivityView::Service && screen.is_offered() && !is_narrowed {
        let empty = "Nothing was changed yet: what anybody changes at the service is written down here.";
        let words = ListWords { name: "The audit log", empty };
        return has_rows(&screen.audit, Vec::is_empty, &words, &cx.draw_context(), buffer, inside);
    }
    let theme = &cx.theme;
    if !rows.is_empty() {
        return true;
    }
    let queue = cx.key(Action::ShowQueue);
    let (title, more) = match screen.view {
        _ if cx.journal.is_loading() => ("Reading the journal…", String::new()),
        _ if screen.filter().is_some() => {
            let [change, clear] = [Action::ActivityFilter, Action::Back].map(|action| cx.key(action));
            (
                "Nothing here has these words.",
                format!(
                    "{change} changes the filter, {clear} clears it and shows all \
                again."
                ),
            )
        }
        ActivityView::NeedsYou => {
            let (nothing, more) = sections::nothing_needs_you(screen, cx);
            (nothing, more.to_owned())
        }
        ActivityView::Today => (
            "Nothing was decided here today.",
            format!(
                "{queue} goes to the Queue: the alert that lapses next is \
                under the cursor."
            ),
        ),
        ActivityView::Mine => (
            "Nothing was decided here in the last 90 days.",
            format!(
                "{queue} goes to the Queue: each decision is \
                written down here."
            ),
        ),
        ActivityView::ByRules => {
            let rules = cx.key(Action::RulesShow);
            (
                "No desk rule has decided anything here in the last 90 days.",
                format!(
                    "{rules} shows the desk rules, \
                and which of them stage by themselves."
                ),
            )
        }
        ActivityView::All => (
            "Nothing was decided or told here in the last 90 days.",
            format!("{queue} goes to the Queue: each decision and each notice is written down here."),
        ),
        ActivityView::Service => (
            "This deployment's audit log cannot be seen from here.",
            "The interface has none. Where the deployment is an avert engine, an operator's key opens it: `avert \
                login --operator` keeps one \
             with the profile; AVERT_OPERATOR_KEY or --operator-key-file FILE is for once."
                .to_owned(),
        ),
        ActivityView::Notices => ("Nothing was told yet.", "Every message above the footer is kept here.".to_owned()),
        ActivityView::Notes => {
            let note = cx.key(Action::Note);
            (
                "Nothing was noted yet.",
                format!(
                    "In the Queue, {note} notes something on the alert; notes stay on this \
                machine."
                ),
            )
        }
    };
    let lines = wrap(title, inside.width).into_iter().map(|line| (line, theme.strong));
    let lines = lines
        .chain([(String::new(), theme.plain)])
        .chain(wrap(&more, inside.width).into_iter().map(|line| (line, theme.plain)));
    for ((line, style), y) in lines.zip(inside.y..inside.bottom()) {
        Pen::new(buffer, Rect { y, height: 1, ..inside }).put(&line, style);
    }
    false
}

/// The title of the moments; whose clock they are by stands behind it. Beside them the other clock, where there is room
/// for it.
const WHEN: &str = "WHEN";
const LOCAL: &str = "LOCAL";

/// From so many columns on both clocks have room.
const BOTH: u16 = 116;

/// Columns that who did it, what, and of which alert are given at least where rows need them, and what their proof
/// keeps.
const LEAST: [u16; 3] = [3, 16, 13];
const PROOF: u16 = 14;

/// So much of what was decided is never cut for its proof, and so much of which alert it was not for what was decided,
/// where there is room for both: `36 NOT REFUNDED 1.1M EUR +8`, `ETHOCA ··1234 A-1029384`.
const DECIDED: u16 = 28;
const ALERT: u16 = 24;

/// The most that they are given; what was told has all that is left where no row has a proof.
const MOST: [u16; 3] = [18, 56, 40];

/// What and which alert have at most so many where a row does not say who did it: the proof is why one looks.
const MOST_NARROW: [u16; 2] = [28, 13];

/// Columns of the moments of rows: with the day where one is of another day than today; and of those of the other
/// clock, zero for none.
fn moments(rows: &[Happening<'_>], width: u16, cx: &AppContext) -> [u16; 2] {
    let (times, now) = (cx.times(), cx.now);
    let title = columns(WHEN) + 1 + columns(times.heading());
    let when = rows.iter().map(|row| columns(&times.moment(row.at(), now))).fold(title, u16::max);
    let beside = rows.iter().filter_map(|row| times.beside(row.at())).map(|local| columns(&local)).max();
    [when, beside.filter(|_| width >= BOTH).unwrap_or(0)]
}

/// The columns of a view, in so much room, where its rows need so many for the moments, and for who, what, which alert
/// and the proof.
fn heads(view: ActivityView, width: u16, [when, local]: [u16; 2], needed: [u16; 4]) -> Vec<Head> {
    let room = width.saturating_sub(GUTTER + 2 + 2);
    let when: Head = (WHEN, when, |_| "");
    let wide = width >= WIDE;
    let named_title = if view == ActivityView::Service { "TO WHAT" } else { "ALERT" };
    let most = if needed[3] == 0 { [MOST[0], u16::MAX, MOST[2]] } else { MOST };
    let [who, what, named] = [0, 1, 2].map(|part| needed[part].clamp(LEAST[part], most[part]));
    let mut rest = room.saturating_sub(when.1 + 2);
    let mut heads = vec![when];
    if local > 0 {
        heads.push((LOCAL, local, |_| ""));
        rest = rest.saturating_sub(local + 2);
    }
    // Of notices it would be the same in each row.
    if wide && view != ActivityView::Notices {
        heads.push(("WHO", who, |row| &row.who));
        rest = rest.saturating_sub(who + 2);
    }
    if view.is_of_sentences() {
        // What a note says is little without its alert.
        let names = wide || view == ActivityView::Notes;
        let named = named.min(rest / 3);
        let title = if view == ActivityView::Notes { "NOTE" } else { "WHAT WAS TOLD" };
        heads.push((title, rest.saturating_sub(if names { named + 2 } else { 0 }), |row| &row.what));
        if names {
            heads.push((named_title, named, |row| &row.named));
        }
        return heads;
    }
    // The proof is why one looks: it has its room first, then which alert it was, then what was decided. Below stands
    // all of it.
    let most = if wide || view == ActivityView::Service { [u16::MAX; 2] } else { MOST_NARROW };
    let (what, named) = (what.min(most[0]), named.min(most[1]));
    let has_proof = needed[3] > 0;
    let proof =
        needed[3].min(rest.saturating_sub(what.min(DECIDED) + LEAST[2] + 4)).max(if has_proof { PROOF } else { 0 });
    // Where the proof has no more than its least, which alert it was goes before what was decided.
    let decided = if proof > PROOF { what.min(DECIDED) } else { 0 };
    let what = what.min(rest.saturating_sub(named.min(ALERT) + proof + 4).max(decided)).max(LEAST[1]);
    let named = named.min(rest.saturating_sub(what + proof + 4)).max(LEAST[2]);
    heads.push(("WHAT", what, |row| &row.what));
    heads.push((named_title, named, |row| &row.named));
    let proof = if view == ActivityView::Service { "MORE" } else { "PROOF" };
    if has_proof {
        heads.push((proof, rest.saturating_sub(what + named + 4), |row| &row.proof));
    }
    heads
}

fn draw_rows(
    screen: &ActivityScreen,
    (rows, lines): (&[Happening<'_>], &[ListLine]),
    cx: &AppContext,
    buffer: &mut Buffer,
    area: Rect,
) {
    let theme = &cx.theme;
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let (height, cursor) = (usize::from(body.height).max(1), screen.cursor.row(rows));
    let top = sections::scrolled(lines, cursor, screen.window.get().0, height);
    screen.window.set((top, height));
    let in_sight: Vec<(u16, &ListLine, Option<ActivityRow>)> = (body.y..body.bottom())
        .zip(lines.iter().skip(top))
        .map(|(y, line)| match line {
            ListLine::Row(index) => (y, line, rows.get(*index).map(|happening| row_of(happening, cx))),
            _ => (y, line, None),
        })
        .collect();
    // What a run would unfold has its room beforehand: no column moves then.
    let folded = in_sight
        .iter()
        .filter_map(|(_, line, _)| if let ListLine::Row(index) = line { rows.get(*index) } else { None });
    let folded: Vec<ActivityRow> =
        folded.flat_map(|happening| folded_rows(screen, happening, usize::from(buffer.area.height), cx)).collect();
    let measured = in_sight.iter().filter_map(|(.., row)| row.as_ref()).chain(&folded);
    let heads = heads(
        screen.view,
        area.width,
        moments(rows, area.width, cx),
        screen.widths.with(screen.view, measured, area.width),
    );
    let text = Rect { x: area.x + GUTTER + 2, width: area.width.saturating_sub(GUTTER + 2), height: 1, ..area };
    let mut pen = Pen::new(buffer, text);
    for (title, width, _) in &heads {
        let title = match *title {
            WHEN => format!("{WHEN} {}", cx.times().heading()),
            // A proof has one clock, where two are shown too.
            "PROOF" if cx.times().beside(cx.now).is_some() => format!("PROOF, {}", cx.times().heading()),
            title => title.to_owned(),
        };
        pen.put(&format!("{:<width$}", cut(&title, *width), width = usize::from(*width)), theme.quiet);
        pen.skip(2);
    }
    for (y, listed, row) in in_sight {
        let line = Rect { y, height: 1, width: body.width.saturating_sub(2), ..body };
        let (ListLine::Row(index), Some(row)) = (listed, row) else {
            let mut pen =
                Pen::new(buffer, Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 2), ..line });
            let [(words, style), (more, quiet)] = sections::words(listed, theme);
            pen.put(words, style);
            pen.skip(2);
            pen.put_whole(more, quiet);
            continue;
        };
        if *index == cursor {
            theme.mark_row(buffer, line);
        }
        screen.targets.push(line, ActivityTarget::Row(*index));
        draw_row((screen.view, rows[*index].at()), &row, &heads, cx, buffer, line);
    }
    if lines.len() > height {
        let bar = Rect { x: body.right().saturating_sub(1), width: 1, ..body };
        scrollbar::draw(theme, buffer, bar, top as u64, lines.len() as u64);
    }
}

/// The rows that a folded run would have beneath it, as many as can be in sight, where they are not measured yet.
fn folded_rows(screen: &ActivityScreen, happening: &Happening<'_>, most: usize, cx: &AppContext) -> Vec<ActivityRow> {
    match happening {
        Happening::Run(together) if !together.is_unfolded => {
            let unmeasured = screen.widths.unmeasured(screen.view, together, most);
            unmeasured.into_iter().map(|record| row_of(&Happening::Part(record), cx)).collect()
        }
        _ => Vec::new(),
    }
}

fn draw_row(
    (view, at): (ActivityView, Timestamp),
    row: &ActivityRow,
    heads: &[Head],
    cx: &AppContext,
    buffer: &mut Buffer,
    line: Rect,
) {
    let theme = &cx.theme;
    let tone = row.tone.of(theme);
    Pen::new(buffer, Rect { x: line.x + GUTTER, width: 1, ..line }).put(row.sign, tone);
    // A sentence about the alert of its row has the columns of one where they have room for it.
    let width_of = |title: &str| heads.iter().find(|(head, ..)| *head == title).map_or(0, |(_, width, _)| *width);
    let (what, named) = (width_of("WHAT"), width_of("ALERT"));
    let said = row.said_of_named().filter(|said| columns(said) <= what);
    let runs_over = row.is_bulk && columns(&row.what) > what;
    let mut x = line.x + GUTTER + 2;
    for (title, width, part) in heads {
        let cell = Rect { x, width: *width, ..line }.intersection(line);
        let (text, style) = match *title {
            // Beneath its run a decision was made when and by whom that one was.
            WHEN | LOCAL | "WHO" if row.is_part => (String::new(), theme.quiet),
            WHEN => (cx.times().moment(at, cx.now), theme.quiet),
            LOCAL => (cx.times().beside(at).unwrap_or_default(), theme.quiet),
            "WHAT" if said.is_some() => (said.unwrap_or_default().to_owned(), theme.quiet),
            "ALERT" if said.is_some() => (whole_words(part(row), *width).into_owned(), theme.quiet),
            // Another sentence among decisions goes on to the end of the line.
            "WHAT" if row.is_told => {
                let rest = Rect { width: line.right().saturating_sub(x), ..cell };
                put_told(row, theme, buffer, rest);
                return;
            }
            "WHAT" if row.is_part => {
                // In a narrow place it begins where its run says when: an amount is worth more than blanks.
                let from = if line.width < NARROW { line.x + GUTTER + 2 } else { x };
                let indented =
                    Rect { x: from + PART_INDENT, width: (x + width).saturating_sub(from + PART_INDENT), ..cell };
                Pen::new(buffer, indented).put(part(row), cx.draw_context().digits());
                x += width + 2;
                continue;
            }
            // What was decided runs over from where it was chosen.
            "WHAT" if runs_over => {
                let both = Rect { width: width + 2 + named, ..cell }.intersection(line);
                let mut pen = Pen::new(buffer, both);
                pen.put(row.what_in(both.width), cx.draw_context().digits());
                pen.skip(2);
                pen.put_whole(&row.named, theme.plain);
                x += width + 2;
                continue;
            }
            "ALERT" if runs_over => {
                x += width + 2;
                continue;
            }
            // It is the last one.
            "PROOF" => {
                let mut pen = Pen::new(buffer, cell);
                pen.put(&proof_in(part(row), cell.width), tone);
                pen.skip(3);
                pen.put_whole(&row.hint, theme.quiet);
                return;
            }
            "WHAT" if view != ActivityView::Service => (row.what_in(*width).to_owned(), cx.draw_context().digits()),
            // One that is too long names its alert itself, and has the columns of that too.
            "WHAT WAS TOLD" if row.said_of_named().is_some_and(|said| columns(said) > *width) => {
                let rest = Rect { width: line.right().saturating_sub(x), ..cell };
                Pen::new(buffer, rest).put(&row.what, theme.plain);
                return;
            }
            "WHAT WAS TOLD" if named > 0 => (row.said_of_named().unwrap_or(&row.what).to_owned(), theme.plain),
            "ALERT" | "TO WHAT" => (whole_words(part(row), *width).into_owned(), theme.plain),
            "MORE" | "WHO" => (part(row).to_owned(), theme.quiet),
            _ => (part(row).to_owned(), theme.plain),
        };
        Pen::new(buffer, cell).put(&text, style);
        x += width + 2;
    }
}

/// Writes what was told among decisions, quieter than they are; behind or below it the alert that it is about, where
/// there is room.
pub fn put_told(row: &ActivityRow, theme: &Theme, buffer: &mut Buffer, area: Rect) {
    let lines = wrap_to(&row.what, area.width, usize::from(area.height));
    let mut behind = area;
    for (line, row) in lines.iter().zip(area.rows()) {
        let taken = Pen::new(buffer, row).put(line, theme.quiet).width + 2;
        behind = Rect { x: row.x + taken.min(row.width), width: row.width.saturating_sub(taken), ..row };
    }
    let named = row.named_behind();
    if Pen::new(buffer, behind).put_whole(named, theme.quiet).is_none() {
        let below = area.rows().nth(lines.len()).unwrap_or_default();
        Pen::new(buffer, below).put(named, theme.quiet);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::all_have_room(200, 0, [21, 28, 40])]
    #[case::the_order_gives_way_to_the_proof(120, 9, [21, 21, 40])]
    #[case::and_what_was_decided_is_not_cut_for_it(100, 0, [21, 13, 39])]
    fn the_proof_has_its_room_before_which_alert_it_was(
        #[case] width: u16,
        #[case] local: u16,
        #[case] least: [u16; 3],
    ) {
        let heads = heads(ActivityView::All, width, [8, local], [5, 21, 28, 40]);

        let width_of = |title: &str| heads.iter().find(|(head, ..)| *head == title).map_or(0, |(_, width, _)| *width);
        let [what, named, proof] = ["WHAT", "ALERT", "PROOF"].map(width_of);
        assert!(what >= least[0] && named >= least[1] && proof >= least[2], "{what} {named} {proof}");
        assert!(heads.iter().map(|(_, width, _)| width + 2).sum::<u16>() <= width, "{heads:?}");
    }

    #[test]
    fn where_no_row_has_a_proof_what_was_told_has_its_room() {
        let heads = heads(ActivityView::All, 120, [8, 5], [5, 54, 17, 0]);

        let told: Vec<(&str, u16)> = heads.iter().map(|(title, width, _)| (*title, *width)).collect();
        assert_eq!(told, [("WHEN", 8), ("LOCAL", 5), ("WHO", 5), ("WHAT", 54), ("ALERT", 17)]);
    }
}

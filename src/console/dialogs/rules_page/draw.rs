//! Draws the rules: one line each, and below the one under the cursor in full.

use std::path::{MAIN_SEPARATOR, Path};

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{REHEARSED_DAYS, Rehearsed, RulesPage, Target, WaitingMatches};
use crate::console::dialogs::alert_rows::open_page;
use crate::console::pen::put_right;
use crate::console::text::{columns, count, counted, cut_path, sanitize, wrap};
use crate::console::{Action, AppContext, Loadable, Pen};
use crate::domain::rule::{DecisionRule, RehearsedRule};
use crate::ui::table::scrolled;

/// From so many rows on there is room for blank lines.
const ROOMY: u16 = 18;

/// Columns of the labels below the list.
const LABEL: u16 = 12;

/// Blank columns between two of the list, the widest that answers get, and what of a name a rehearsal leaves at least.
const GAP: u16 = 2;
const LONGEST_NAME: u16 = 24;
const WIDEST_ANSWER: u16 = 36;

/// A column of the list: its title, how wide it is, and whether numbers stand in it.
struct Column {
    title: &'static str,
    width: u16,
    right: bool,
}

const fn left(title: &'static str, width: u16) -> Column {
    Column { title, width, right: false }
}

const fn right(title: &'static str, width: u16) -> Column {
    Column { title, width, right: true }
}

/// The columns that there is room for, where the longest name of a rule and the longest answer have so many columns;
/// those of a rehearsal once there was one, as many as leave names and answers theirs.
fn layout(width: u16, longest: [u16; 2], is_rehearsed: bool) -> Vec<Column> {
    let (name, suggests) = (longest[0].clamp(4, LONGEST_NAME), longest[1].clamp(8, WIDEST_ANSWER));
    let taken = |numbers: &[Column]| numbers.iter().map(|column| column.width + GAP).sum::<u16>() + GAP + 2;
    let found = [right("MATCHED", 7), right("AGREED", 6), right("DISAGREED", 9), right("UNDECIDED", 9)];
    let mut numbers = vec![right("OPEN NOW", 10)];
    for column in found.into_iter().filter(|_| is_rehearsed) {
        numbers.push(column);
        if taken(&numbers) + name + suggests > width {
            numbers.pop();
            break;
        }
    }
    let rest = width.saturating_sub(taken(&numbers));
    let name = name.max(longest[0].min(rest.saturating_sub(suggests))).min((rest / 2).max(4));
    let suggests = rest.saturating_sub(name).min(suggests);
    [left("RULE", name), left("SUGGESTS", suggests)].into_iter().chain(numbers).collect()
}

/// The number of what waits, as exact as it is known: `12`, `12 of 100`.
fn waits(known: Option<&Loadable<WaitingMatches>>) -> String {
    match known {
        Some(Loadable::Loaded(matches)) if matches.is_all() => count(matches.won),
        Some(Loadable::Loaded(matches)) => format!("{} of {}", count(matches.won), count(matches.read)),
        Some(Loadable::Failed(_)) => "?".to_owned(),
        _ => "…".to_owned(),
    }
}

impl RulesPage {
    pub(super) fn draw_all(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let (buffer, theme) = (frame.buffer_mut(), &cx.theme);
        open_page(&cx.draw_context(), buffer, area);
        let inside = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
        let gap = u16::from(area.height >= ROOMY);
        let bottom = area.bottom().saturating_sub(gap);
        let mut y = inside.y + gap;
        let line = |y: u16| Rect { y, height: u16::from(y < bottom), ..inside };
        let rules = &cx.settings.rules;
        let mut pen = Pen::new(buffer, line(y));
        pen.put("Desk rules", theme.strong);
        y += 1;
        let file = cx.settings.rules_in.as_deref().map(|file| from_home(file, cx.settings.home.as_deref()));
        let file = file.as_deref().unwrap_or("no file of desk rules");
        let read = format!(", read {}", cx.times().second(cx.rules_read_at));
        let mut pen = Pen::new(buffer, line(y));
        pen.put(&cut_path(file, None, inside.width.saturating_sub(columns(&read))), theme.quiet);
        // Half a time is another one.
        pen.put_whole(&read, theme.quiet);
        y += 1 + gap;
        if rules.is_empty() {
            self.draw_empty(buffer, Rect { y, height: bottom.saturating_sub(y), ..inside }, cx);
        } else {
            let room = usize::from(bottom.saturating_sub(y + 1) / 2).clamp(1, rules.len());
            y = self.draw_list(buffer, Rect { y, ..inside }, room, cx) + gap;
            self.draw_rule(buffer, Rect { y, height: bottom.saturating_sub(y), ..inside }, cx);
        }
    }

    fn draw_list(&self, buffer: &mut Buffer, area: Rect, room: usize, cx: &AppContext) -> u16 {
        let (theme, rules) = (&cx.theme, &cx.settings.rules);
        let longest = |words: fn(&DecisionRule) -> String| {
            rules.iter().map(|rule| columns(&sanitize(&words(rule)))).max().unwrap_or(0)
        };
        let longest = [longest(|rule| rule.name.clone()), longest(|rule| rule.decision.words())];
        let layout = layout(area.width, longest, matches!(self.rehearsed, Rehearsed::Done(..)));
        let put = |buffer: &mut Buffer, y: u16, cells: &[(String, Style)]| {
            let mut x = area.x + 2;
            for (column, (text, style)) in layout.iter().zip(cells) {
                let cell = Rect { x, y, width: column.width.min(area.right().saturating_sub(x)), height: 1 };
                if column.right {
                    put_right(buffer, cell, text, *style);
                } else {
                    Pen::new(buffer, cell).put(text, *style);
                }
                x += column.width + GAP;
            }
        };
        let heads: Vec<_> = layout.iter().map(|column| (column.title.to_owned(), theme.quiet)).collect();
        put(buffer, area.y, &heads);
        let top = scrolled(0, self.at, rules.len(), room);
        let mut y = area.y + 1;
        for (row, rule) in rules.iter().enumerate().skip(top).take(room) {
            let line = Rect { x: area.x.saturating_sub(2), y, width: area.width + 2, height: 1 };
            let strong = if row == self.at { theme.strong } else { theme.plain };
            put(buffer, y, &self.cells(rule, strong, cx));
            if row == self.at {
                theme.mark_row(buffer, line);
            }
            self.targets.push(line, Target::Row(row));
            y += 1;
        }
        y
    }

    fn cells(&self, rule: &DecisionRule, strong: Style, cx: &AppContext) -> Vec<(String, Style)> {
        let theme = &cx.theme;
        let number = |number: u64, style: Style| {
            (if number == 0 { "–".to_owned() } else { count(number) }, if number == 0 { theme.quiet } else { style })
        };
        let mut cells = vec![
            (sanitize(&rule.name).into_owned(), strong),
            (rule.decision.words(), theme.plain),
            (waits(self.waiting.get(&rule.name)), theme.plain),
        ];
        let quiet = |text: &str| (text.to_owned(), theme.quiet);
        cells.extend(match self.rehearsed(rule) {
            Some(RehearsedRule { matched, agreed, disagreed, undecided }) => [
                number(matched, theme.plain),
                number(agreed, theme.ok),
                number(disagreed, theme.warning),
                number(undecided, theme.plain),
            ],
            None => [quiet(""), quiet(""), quiet(""), quiet("")],
        });
        cells
    }

    /// What the rehearsal found of a rule.
    fn rehearsed(&self, rule: &DecisionRule) -> Option<RehearsedRule> {
        let Rehearsed::Done(days, _) = &self.rehearsed else { return None };
        days.counts.iter().find(|(name, _)| *name == rule.name).map(|(_, counts)| *counts)
    }

    /// The rule under the cursor in full, and what its numbers are.
    fn draw_rule(&self, buffer: &mut Buffer, area: Rect, cx: &AppContext) {
        let (theme, Some(rule)) = (&cx.theme, self.rule(cx)) else { return };
        let mut facts: Vec<(&str, String, Style)> = vec![
            ("query", sanitize(&rule.text).into_owned(), theme.plain),
            ("answer", rule.decision.words(), theme.strong),
        ];
        if !rule.comments.is_empty() {
            facts.push(("comment", sanitize(&rule.comments).into_owned(), theme.plain));
        }
        facts.push(("line", rule.line.to_string(), theme.quiet));
        facts.push(("open now", self.waits_in_words(rule, cx), theme.plain));
        let key = cx.key(Action::Rehearse);
        let (words, style) = match &self.rehearsed {
            Rehearsed::NotAsked => (
                format!("{key} tries the desk rules on the alerts of the last {REHEARSED_DAYS} days; nothing is sent"),
                theme.quiet,
            ),
            Rehearsed::Running(read, total) => {
                let of = total.map_or_else(String::new, |total| format!(" of {}", count(total)));
                (
                    format!("reading the last {REHEARSED_DAYS} days: {}{of} alerts; esc gives it up", count(*read)),
                    theme.accent,
                )
            }
            Rehearsed::Failed(why) => (format!("not rehearsed: {}", sanitize(why)), theme.warning),
            Rehearsed::Done(days, at) => {
                let own = self.rehearsed(rule).unwrap_or_default();
                let short = days
                    .short
                    .as_ref()
                    .map_or_else(String::new, |why| format!(" Not all could be read: {}", sanitize(why)));
                let words = format!(
                    "{} matched in {} days: {} decided as it suggests, {} otherwise, {} without an outcome. Of {} no \
                        rule matches {}; read at {}.{short}",
                    count(own.matched),
                    days.days,
                    count(own.agreed),
                    count(own.disagreed),
                    count(own.undecided),
                    counted(days.alerts, "alert", "alerts"),
                    count(days.unmatched),
                    cx.times().second(*at),
                );
                (words, theme.plain)
            }
        };
        facts.push(("rehearsal", words, style));
        let mut y = area.y;
        for (label, words, style) in facts {
            for (index, text) in wrap(&words, area.width.saturating_sub(LABEL)).into_iter().enumerate() {
                if y >= area.bottom() {
                    return;
                }
                let mut pen = Pen::new(buffer, Rect { y, height: 1, ..area });
                pen.put(if index == 0 { label } else { "" }, theme.quiet);
                Pen::new(buffer, Rect { x: area.x + LABEL, y, width: area.width.saturating_sub(LABEL), height: 1 })
                    .put(&text, style);
                y += 1;
            }
        }
    }

    /// What the number of what waits is, exactly.
    fn waits_in_words(&self, rule: &DecisionRule, cx: &AppContext) -> String {
        let first = cx.settings.rules.first().is_some_and(|first| first.name == rule.name);
        let wins = if first { "" } else { " and no rule before it does" };
        let read = self.counted_at.map_or_else(String::new, |at| format!("; read at {}", cx.times().second(at)));
        match self.waiting.get(&rule.name) {
            Some(Loadable::Loaded(_)) if rule.waiting(cx.views.vocabulary).is_none() => {
                "it wants nothing that waits: its query names no open status".to_owned()
            }
            Some(Loadable::Loaded(matches)) if matches.is_all() => {
                let verb = if matches.won == 1 { "waits" } else { "wait" };
                format!("{} {verb} that it matches{wins}{read}", count(matches.won))
            }
            Some(Loadable::Loaded(matches)) => format!(
                "it matches {} of the {} that {}{wins}; {}{read}",
                count(matches.won),
                count(matches.read),
                if matches.first { "lapse first" } else { "were read" },
                match matches.open_end {
                    true => "whether there are more is not told".to_owned(),
                    false => format!("{} more were not read", count(matches.total - matches.read)),
                }
            ),
            Some(Loadable::Failed(error)) => format!("not known: {}", sanitize(&error.to_string())),
            _ => "being read…".to_owned(),
        }
    }

    fn draw_empty(&self, buffer: &mut Buffer, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let home = cx.settings.home.as_deref();
        let file = cx.settings.rules_in.as_deref().map(|file| from_home(file, home));
        let file = file.as_deref().unwrap_or("rules.txt beside the settings, or the file that AVERT_RULES names");
        let place = format!("A line each in {}, written with an editor:", sanitize(file));
        let key = cx.key(Action::Refresh);
        let reads =
            format!("{key} reads the file again. avert rules rehearse says beforehand what rules would have done.");
        let lines = [
            ("There is no desk rule.", theme.strong),
            (
                "A desk rule is a query and an answer: it marks what it matches, and t opens the form with its \
                    answer.",
                theme.plain,
            ),
            ("", theme.plain),
            (place.as_str(), theme.plain),
            ("small: amount<25 currency:EUR,USD -> refunded \"below the fee of a dispute\"", theme.accent),
            ("", theme.plain),
            (reads.as_str(), theme.quiet),
        ];
        let wrapped = lines.iter().flat_map(|(text, style)| {
            let lines = wrap(text, area.width);
            let lines = if lines.is_empty() { vec![String::new()] } else { lines };
            lines.into_iter().map(move |line| (line, *style))
        });
        for ((text, style), y) in wrapped.zip(area.y..area.bottom()) {
            Pen::new(buffer, Rect { y, height: 1, ..area }).put(&text, style);
        }
    }

    pub(super) fn draw_offered(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let mut pen = Pen::new(buffer, line);
        let running = matches!(self.rehearsed, Rehearsed::Running(..));
        let mut offered = vec![(Action::Back, if running { "give it up" } else { "back" })];
        if !cx.settings.rules.is_empty() {
            offered.extend([(Action::Open, "its alerts"), (Action::Rehearse, "rehearse")]);
        }
        offered.push((Action::Refresh, "read again"));
        offered.push((Action::Help, "help"));
        for (action, words) in offered {
            let key = cx.key(action);
            if columns(&key) + 1 + columns(words) > pen.room() {
                continue;
            }
            self.targets.push(pen.put_key(&key, words, &cx.theme), Target::Do(action));
            pen.skip(3);
        }
    }
}

/// Where the rules are, in words that may name more than a path: home is `~` there.
fn from_home(place: &str, home: Option<&Path>) -> String {
    let home = home.and_then(Path::to_str).filter(|home| home.len() > 1).map(|home| format!("{home}{MAIN_SEPARATOR}"));
    home.map_or_else(|| place.to_owned(), |home| place.replacen(&home, &format!("~{MAIN_SEPARATOR}"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_file_is_spelled_from_home_in_a_sentence_too() {
        let spelled = |place, home| from_home(place, Some(Path::new(home)));

        assert_eq!(spelled("/home/omar/.config/avert/rules.txt", "/home/omar"), "~/.config/avert/rules.txt");
        assert_eq!(
            spelled("there is none in /home/omar/.config/rules.txt", "/home/omar"),
            "there is none in ~/.config/rules.txt"
        );
        assert_eq!(spelled("/etc/rules.txt", "/"), "/etc/rules.txt");
    }

    #[test]
    fn a_rehearsal_adds_as_many_columns_as_there_is_room_for() {
        let titles = |width, is_rehearsed| -> Vec<&str> {
            let columns = layout(width, [10, 8], is_rehearsed);
            assert!(columns.iter().map(|column| column.width + GAP).sum::<u16>() <= width);
            columns.into_iter().skip(2).map(|column| column.title).collect()
        };

        assert_eq!(titles(76, false), ["OPEN NOW"]);
        assert_eq!(titles(60, true), ["OPEN NOW", "MATCHED", "AGREED"]);
        assert_eq!(titles(116, true), ["OPEN NOW", "MATCHED", "AGREED", "DISAGREED", "UNDECIDED"]);
    }
}

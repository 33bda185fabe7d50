//! The command palette: one searchable list of keys, commands and profiles, ranked by what is typed;
//! enter runs the chosen one.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
};

use super::menu::{List, OpenMenu, type_into};
use crate::{
    Action, AppContext, Dialog, KeyContext, Message, NextConsole, SessionInfo, Task, Tasks, TextInput, Theme,
    keymap::{Binding, Chord, Keymap},
    screens::{ScreenName, queue::ListSign},
    text::sanitize,
    ui::areas::rest_of,
    widgets::panel::PanelWidth,
};

/// Columns of the keys and of the names.
const KEYS: usize = 16;
const NAMES: usize = 22;

/// The palette while it is open.
#[derive(Debug)]
pub struct Palette {
    input: TextInput,
    menu: OpenMenu,
    offers: Vec<PaletteOffer>,
}

impl Palette {
    /// Returns the palette with these offers.
    pub fn of(offers: Vec<PaletteOffer>) -> Self {
        let menu = OpenMenu::new(&[KeyContext::Menu]);
        Self { input: TextInput::one_line(""), menu, offers }
    }

    /// Returns the offers that match, best first.
    fn rows(&self) -> Vec<&PaletteOffer> {
        ranked(&self.offers, &self.input.text()).into_iter().map(|at| &self.offers[at]).collect()
    }

    /// Returns the headings over the rows. Search results stand without them.
    fn headings<'r>(&self, rows: &[&'r PaletteOffer]) -> Vec<(usize, &'r str)> {
        let mut headings: Vec<(usize, &str)> = rows.iter().map(|offer| offer.group.as_str()).enumerate().collect();
        headings.dedup_by_key(|(_, heading)| *heading);
        headings.retain(|_| self.input.is_empty());
        headings
    }

    /// Runs the chosen one.
    fn pick(&self) -> Tasks {
        let rows = self.rows();
        let Some(offer) = self.menu.chosen(rows.len()).map(|at| rows[at]) else { return Vec::new() };
        match offer.goal.clone() {
            // A sign has a meaning and does nothing.
            PaletteGoal::Sign(_) => Vec::new(),
            PaletteGoal::Act(action) => vec![Task::Close, Task::Choose(action)],
            PaletteGoal::Open(next) => vec![Task::Close, Message::OpenConsole(next).into()],
        }
    }
}

/// Returns the text of an offer: its effect, or why it has none now.
fn about(offer: &PaletteOffer) -> &str {
    offer.idle.unwrap_or(&offer.about)
}

/// Returns an offer as a line: keys, name, effect. All of it is quiet where it has no effect now.
fn offer_line(offer: &PaletteOffer, theme: &Theme) -> Line<'static> {
    let (key_style, name_style) = match (&offer.goal, offer.idle) {
        (PaletteGoal::Sign(sign), _) => (sign.drawn(theme).1, theme.strong),
        (_, Some(_)) => (theme.quiet, theme.quiet),
        (_, None) => (theme.key, theme.strong),
    };
    let mut spans = vec![Span::styled(format!("{:<KEYS$}  ", offer.keys), key_style)];
    if !offer.name.is_empty() {
        spans.push(Span::styled(format!("{:<NAMES$}  ", sanitize(&offer.name)), name_style));
    }
    spans.push(Span::styled(sanitize(about(offer)).into_owned(), theme.quiet));
    Line::from(spans)
}

impl Dialog for Palette {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        let Message::Input(event) = message else { return Vec::new() };
        // Letters are searched for, so they are no commands here.
        match type_into(&mut self.input, event, cx) {
            Some(true) => self.menu.cursor.at = 0,
            Some(false) => {}
            None => {
                let length = self.rows().len();
                match self.menu.update(event, length, cx) {
                    Some(Action::MenuClose) => return vec![Task::Close],
                    Some(Action::MenuPick) => return self.pick(),
                    _ => {}
                }
            }
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let rows = self.rows();
        let chosen = self.menu.chosen(rows.len()).map(|at| rows[at]);
        let list = List {
            title: "Keys and commands",
            entries: rows.iter().map(|offer| offer_line(offer, theme)).collect(),
            groups: self.headings(&rows),
            empty: "No match",
            width: PanelWidth::Search,
            field: 2,
            below: chosen.map(|offer| sanitize(about(offer)).into_owned()).unwrap_or_default(),
            ..List::default()
        };
        let fields = self.menu.draw(&list, frame, area, cx);
        let field = rest_of(fields, (1, 0));
        self.input.draw_field(frame, field, theme, true, "a key, a command, a profile");
    }
}

/// What comes of choosing an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaletteGoal {
    /// An action, as a key would do it; what sends opens its form.
    Act(Action),
    /// Another console.
    Open(NextConsole),
    /// A sign of the list, of which the palette tells the meaning.
    Sign(ListSign),
}

/// An offer: something that can be done or gone to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaletteOffer {
    pub goal: PaletteGoal,
    /// The heading it stands under.
    pub group: String,
    pub name: String,
    pub about: String,
    /// The keys that do the same.
    pub keys: String,
    /// Why it does nothing now, where that is so.
    pub idle: Option<&'static str>,
}

impl PaletteOffer {
    /// An offer that is open, and that no key does.
    fn new(goal: PaletteGoal, group: &str, name: &str, about: &str) -> Self {
        let (group, name, about) = (group.to_owned(), name.to_owned(), about.to_owned());
        Self { goal, group, name, about, keys: String::new(), idle: None }
    }
}

/// What stands over the screens.
const SCREENS: &str = "Screens";

/// The actions of these contexts, each with why it means nothing now where that is so; those of the innermost context
/// first, each once, as the help groups them.
pub fn actions(
    keymap: &Keymap,
    contexts: &[KeyContext],
    why_idle: impl Fn(Action) -> Option<&'static str>,
) -> Vec<PaletteOffer> {
    let mut shown: Vec<&Binding> = Vec::new();
    for context in contexts {
        let new = keymap.bindings(*context).filter(|binding| binding.action != Action::Help);
        for binding in new {
            if shown.iter().all(|known| known.action != binding.action) {
                shown.push(binding);
            }
        }
    }
    let in_order = |binding: &Binding| keymap.all().position(|other| other.group == binding.group);
    shown.sort_by_key(|binding| (ScreenName::of(binding.action).is_some(), in_order(binding)));
    shown.into_iter().map(|binding| PaletteOffer { idle: why_idle(binding.action), ..offer(binding) }).collect()
}

fn offer(binding: &Binding) -> PaletteOffer {
    let group = if ScreenName::of(binding.action).is_some() { SCREENS } else { &binding.group };
    let keys = binding.keys.iter().map(Chord::to_string).collect::<Vec<_>>().join("  ");
    let offer = PaletteOffer::new(PaletteGoal::Act(binding.action), group, &binding.words, &binding.about);
    PaletteOffer { keys, ..offer }
}

/// The signs of the list, each with its meaning.
pub fn signs(theme: &Theme) -> Vec<PaletteOffer> {
    let offer = |sign: ListSign| {
        let keys = sign.drawn(theme).0.to_owned();
        PaletteOffer { keys, ..PaletteOffer::new(PaletteGoal::Sign(sign), "Signs in the list", "", sign.about()) }
    };
    ListSign::ALL.into_iter().map(offer).collect()
}

/// The other profiles and organizations that a console can be opened on.
pub fn consoles(place: &SessionInfo) -> Vec<PaletteOffer> {
    let offer = |group: &str, next: NextConsole, name: &String| {
        PaletteOffer::new(PaletteGoal::Open(next), group, name, "Open its console")
    };
    let profiles = place.profiles.iter().map(|name| offer("Profiles", NextConsole::Profile(name.clone()), name));
    let organizations =
        place.organizations.iter().map(|name| offer("Organizations", NextConsole::Organization(name.clone()), name));
    profiles.chain(organizations).collect()
}

/// The offers that fit what is typed, by their places: what goes by that very name, then what has the words in its
/// name; of equal ones the first.
pub fn ranked(offers: &[PaletteOffer], typed: &str) -> Vec<usize> {
    let words: Vec<String> = words_of(typed).collect();
    let rank = |offer: &PaletteOffer| {
        let name = offer.name.to_lowercase();
        let is_in_name = |word: &String| name.contains(word.as_str());
        // Within a sentence it is how a word begins.
        let sentence = || [&offer.about, &offer.group, &offer.keys].into_iter().flat_map(|text| words_of(text));
        let fits = |word: &String| is_in_name(word) || sentence().any(|other| other.starts_with(word.as_str()));
        let is_named = !name.is_empty() && words_of(&name).eq(words.iter().cloned());
        let leads = words.iter().all(is_in_name);
        words.iter().all(fits).then_some((!is_named, !leads))
    };
    let mut fitting: Vec<_> = offers.iter().enumerate().filter_map(|(at, offer)| Some((rank(offer)?, at))).collect();
    fitting.sort_unstable();
    fitting.into_iter().map(|(_, at)| at).collect()
}

/// What stands between words.
const SEPARATORS: [char; 8] = [' ', '(', ')', ',', ':', ';', '.', '/'];

/// The words of a text, in small letters.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(SEPARATORS).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all() -> Vec<PaletteOffer> {
        actions(&Keymap::default(), &[KeyContext::Queue, KeyContext::Always], |_| None)
    }

    fn names<'o>(offers: &'o [PaletteOffer], typed: &str) -> Vec<&'o str> {
        ranked(offers, typed).into_iter().map(|at| offers[at].name.as_str()).collect()
    }

    #[test]
    fn a_name_comes_before_a_sentence_that_has_the_word() {
        let offers = all();

        let found = names(&offers, "refund");

        assert_eq!(found[..2], ["refunded", "not refunded"]);
        assert!(!found.contains(&"mouse"), "{found:?}");
        assert_eq!(names(&offers, "answer").first(), Some(&"refunded"));
    }

    #[test]
    fn a_key_is_found_and_every_word_has_to_fit() {
        let offers = all();

        assert_eq!(names(&offers, "ctrl-f").first(), Some(&"search"));
        assert!(names(&offers, "refund zebra").is_empty());
    }

    #[test]
    fn an_action_is_offered_once_and_never_the_palette_itself() {
        let keymap = Keymap::default();

        let offers = actions(&keymap, &[KeyContext::Webhooks, KeyContext::Always], |_| None);

        let tabs: Vec<_> = offers.iter().filter(|offer| offer.goal == PaletteGoal::Act(Action::NextPane)).collect();
        assert_eq!(tabs.iter().map(|tab| tab.group.as_str()).collect::<Vec<_>>(), ["Webhooks"]);
        assert!(offers.iter().all(|offer| offer.goal != PaletteGoal::Act(Action::Help)));
    }

    proptest! {
        #[test]
        fn whatever_is_typed_each_offer_is_there_once_at_most(typed in "\\PC{0,12}") {
            let offers = all();
            let mut found = ranked(&offers, &typed);
            let before = found.len();
            found.sort_unstable();
            found.dedup();
            prop_assert_eq!(found.len(), before);
        }
    }
}

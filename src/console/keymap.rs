//! The keymap as data: what each key does where. The footer and the help are written from it, and a user's file changes
//! its keys.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    str::FromStr,
    sync::LazyLock,
};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde::Deserialize;
use toml::Spanned;

/// An action: what a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Refund,
    NotRefunded,
    Invalid,
    Suggested,
    Undo,
    Settle,
    Repeat,
    Mark,
    MarkRange,
    MarkAll,
    Bulk,
    GoToWarned,
    Open,
    Back,
    Search,
    Find,
    Filter,
    Views,
    SortNext,
    SortReverse,
    Unmatch,
    Note,
    Snooze,
    CopyId,
    OpenLink,
    Export,
    Down,
    Up,
    PageDown,
    PageUp,
    Top,
    Bottom,
    DetailDown,
    DetailUp,
    Refresh,
    Mouse,
    Suspend,
    Help,
    Quit,
    MenuDown,
    MenuUp,
    MenuPick,
    MenuClose,
    ViewSave,
    ViewDelete,
    ShowQueue,
    ShowInsights,
    ShowSettings,
    ShowWebhooks,
    NextPane,
    EndpointTest,
    SendAgain,
    GoToAlert,
    CredentialCreate,
    CredentialRevoke,
    StopRules,
    MenuPageDown,
    MenuPageUp,
    MenuFirst,
    MenuLast,
    ShowActivity,
    PreviousPane,
    Reopen,
    Dismiss,
}

/// The context in which a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyContext {
    /// Everywhere but in a form or a menu.
    Always,
    /// On the Queue screen.
    Queue,
    /// On the Insights screen.
    Insights,
    /// On the Webhooks screen.
    Webhooks,
    /// On the Activity screen.
    Activity,
    /// On the Settings screen.
    Settings,
    /// In the case, before those of the Queue.
    Case,
    /// In any list that opens over the screen.
    Menu,
    /// In the list of views.
    Views,
}

impl KeyContext {
    /// Returns true where a key of one context can mean something in the other at the same time.
    fn meets(self, other: Self) -> bool {
        let chain = |context: Self| match context {
            Self::Always | Self::Queue | Self::Insights | Self::Webhooks | Self::Activity | Self::Settings => 0,
            Self::Menu | Self::Views => 1,
            Self::Case => 2,
        };
        // Of screens one is shown, and of lists one is open.
        let everywhere = |context: Self| matches!(context, Self::Always | Self::Menu);
        chain(self) == chain(other) && (self == other || everywhere(self) || everywhere(other))
    }
}

/// A chord: a key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

const NAMED: [(KeyCode, &str); 15] = [
    (KeyCode::Enter, "enter"),
    (KeyCode::Esc, "esc"),
    (KeyCode::Tab, "tab"),
    (KeyCode::Char(' '), "space"),
    (KeyCode::Backspace, "backspace"),
    (KeyCode::Delete, "delete"),
    (KeyCode::Insert, "insert"),
    (KeyCode::Up, "up"),
    (KeyCode::Down, "down"),
    (KeyCode::Left, "left"),
    (KeyCode::Right, "right"),
    (KeyCode::Home, "home"),
    (KeyCode::End, "end"),
    (KeyCode::PageUp, "pageup"),
    (KeyCode::PageDown, "pagedown"),
];

impl From<KeyEvent> for Chord {
    fn from(event: KeyEvent) -> Self {
        let known = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        match event.code {
            // The letter itself says whether shift was held.
            KeyCode::Char(c) => Self { code: KeyCode::Char(c), modifiers: known - KeyModifiers::SHIFT },
            KeyCode::BackTab => Self { code: KeyCode::Tab, modifiers: known | KeyModifiers::SHIFT },
            code => Self { code, modifiers: known },
        }
    }
}

impl FromStr for Chord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        for (prefix, modifier) in
            [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
        {
            // A lone sign such as `-` is a key, not what is left of a prefix.
            if let Some(after) = rest.strip_prefix(prefix).filter(|after| !after.is_empty()) {
                modifiers |= modifier;
                rest = after;
            }
        }
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() && c != ' ' => KeyCode::Char(c),
            _ => match NAMED.iter().find(|(_, name)| *name == rest) {
                Some((code, _)) => *code,
                None => match rest.strip_prefix('f').and_then(|number| number.parse().ok()) {
                    Some(number @ 1..=12) => KeyCode::F(number),
                    _ => return Err(format!("{text:?} is not the name of a key, such as j, R, ctrl-s, enter or f5")),
                },
            },
        };
        if matches!(code, KeyCode::Char(_)) && code != KeyCode::Char(' ') && modifiers.contains(KeyModifiers::SHIFT) {
            return Err(format!("{text:?}: write the letter as shift makes it, such as R"));
        }
        if (code, modifiers) == (KeyCode::Char('c'), KeyModifiers::CONTROL) {
            return Err("ctrl-c always leaves and cannot mean anything else".to_owned());
        }
        Ok(Self { code, modifiers })
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, prefix) in
            [(KeyModifiers::CONTROL, "ctrl-"), (KeyModifiers::ALT, "alt-"), (KeyModifiers::SHIFT, "shift-")]
        {
            if self.modifiers.contains(modifier) {
                f.write_str(prefix)?;
            }
        }
        match (NAMED.iter().find(|(code, _)| *code == self.code), self.code) {
            (Some((_, name)), _) => f.write_str(name),
            (None, KeyCode::Char(c)) => write!(f, "{c}"),
            (None, KeyCode::F(number)) => write!(f, "f{number}"),
            (None, other) => write!(f, "{other}"),
        }
    }
}

/// A key binding: an action, its context and keys, and how it is described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub action: Action,
    pub context: KeyContext,
    /// By which keys; the first is the one shown in the footer.
    pub keys: Vec<Chord>,
    /// A word or two for the footer.
    pub words: String,
    /// A sentence for the help.
    pub about: String,
    pub footer: bool,
    /// The heading it stands under in the help.
    pub group: String,
}

/// A keymap error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct KeymapError {
    /// 1-based.
    pub line: usize,
    pub message: String,
}

/// The keymap: all key bindings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultFile {
    bind: Vec<DefaultBinding>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultBinding {
    action: Action,
    context: KeyContext,
    keys: Vec<String>,
    words: String,
    #[serde(default)]
    footer: bool,
    #[serde(default)]
    group: String,
    about: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// The key that sends, in every form: no other action has it.
const SEND: &str = "ctrl-s";

/// Where a key was given, for telling of a conflict.
type Lines = HashMap<Action, usize>;

/// The keymap that is part of the program, read once.
static SHIPPED: LazyLock<Keymap> = LazyLock::new(|| {
    Keymap::read(include_str!("../../assets/keymap.default.toml"))
        .expect("the keymap is part of the program, and a test reads it")
});

impl Default for Keymap {
    fn default() -> Self {
        SHIPPED.clone()
    }
}

impl Keymap {
    fn read(text: &str) -> Result<Self, KeymapError> {
        let file: DefaultFile = toml::from_str(text).map_err(|error| unreadable(text, &error))?;
        let mut bindings = Vec::with_capacity(file.bind.len());
        for DefaultBinding { action, context, keys, words, footer, group, about } in file.bind {
            let keys = parse_keys(&keys, 0)?;
            bindings.push(Binding { action, context, keys, words, about, footer, group });
        }
        Self::checked(bindings, &Lines::new())
    }

    /// This keymap with the keys that a user's file gives; the file is refused as a whole when a line of it cannot
    /// hold.
    pub fn with_user_file(self, text: &str) -> Result<Self, KeymapError> {
        let file: BTreeMap<String, Spanned<OneOrMany>> =
            toml::from_str(text).map_err(|error| unreadable(text, &error))?;
        let mut bindings = self.bindings;
        let mut lines = Lines::new();
        for (name, keys) in file {
            let line = line_of(text, keys.span().start);
            let action: Action =
                Deserialize::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(&name))
                    .map_err(|_| {
                        let message = format!("there is no action {name:?}; `avert help console` lists all");
                        KeymapError { line, message }
                    })?;
            let keys = match keys.into_inner() {
                OneOrMany::One(key) => vec![key],
                OneOrMany::Many(keys) => keys,
            };
            let keys = parse_keys(&keys, line)?;
            if keys.iter().any(|key| key.to_string() == SEND) {
                // Pressed twice it would open a form and send it.
                let message = format!("{SEND} sends what stands in a form, and nothing else: give {name} another key");
                return Err(KeymapError { line, message });
            }
            lines.insert(action, line);
            for binding in bindings.iter_mut().filter(|binding| binding.action == action) {
                binding.keys.clone_from(&keys);
            }
        }
        Self::checked(bindings, &lines)
    }

    fn checked(bindings: Vec<Binding>, lines: &Lines) -> Result<Self, KeymapError> {
        for (position, binding) in bindings.iter().enumerate() {
            for key in &binding.keys {
                let meets = |other: &&Binding| other.context.meets(binding.context) && other.action != binding.action;
                let clash = bindings[..position].iter().find(|other| meets(other) && other.keys.contains(key));
                if let Some(other) = clash {
                    // The user's line is the one that can be mended.
                    let line = lines.get(&binding.action).or_else(|| lines.get(&other.action)).copied().unwrap_or(0);
                    let (one, other) = (other.action.name(), binding.action.name());
                    let message = format!(
                        "{key} would mean two things, {one} and {other}: give one of them another key, or none by []"
                    );
                    return Err(KeymapError { line, message });
                }
            }
        }
        Ok(Self { bindings })
    }

    /// Returns the action of a key, in the innermost of these contexts that knows it.
    pub fn action(&self, contexts: &[KeyContext], key: Chord) -> Option<Action> {
        let of = |context: &KeyContext| self.bindings(*context).find(|binding| binding.keys.contains(&key));
        contexts.iter().find_map(of).map(|binding| binding.action)
    }

    /// Every binding, in the order of the file.
    pub fn all(&self) -> impl Iterator<Item = &Binding> {
        self.bindings.iter()
    }

    /// The bindings of one context, in the order of the file.
    pub fn bindings(&self, context: KeyContext) -> impl Iterator<Item = &Binding> {
        self.bindings.iter().filter(move |binding| binding.context == context)
    }

    /// Returns the binding of an action.
    pub fn binding(&self, action: Action) -> Option<&Binding> {
        self.bindings.iter().find(|binding| binding.action == action)
    }

    /// The key to name for an action; empty where it has none.
    pub fn key_of(&self, action: Action) -> String {
        self.binding(action).and_then(|binding| binding.keys.first()).map(Chord::to_string).unwrap_or_default()
    }

    /// The same in a context, where the keys of an action are others there.
    pub fn key_in(&self, context: KeyContext, action: Action) -> String {
        let binding = self.bindings(context).find(|binding| binding.action == action);
        binding.and_then(|binding| binding.keys.first()).map(Chord::to_string).unwrap_or_default()
    }
}

impl Action {
    /// The name in keymap files.
    pub fn name(self) -> String {
        let debug = format!("{self:?}");
        let mut name = String::with_capacity(debug.len() + 2);
        for c in debug.chars() {
            if c.is_ascii_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }
}

fn parse_keys(keys: &[String], line: usize) -> Result<Vec<Chord>, KeymapError> {
    keys.iter().map(|key| key.parse().map_err(|message| KeymapError { line, message })).collect()
}

fn unreadable(text: &str, error: &toml::de::Error) -> KeymapError {
    let line = error.span().map_or(1, |span| line_of(text, span.start));
    let message = match error.message() {
        // serde names the types that it tried.
        said if said.contains("untagged enum") => {
            "an action has a key such as \"R\", or several such as [\"R\", \"f6\"]".to_owned()
        }
        said => said.to_owned(),
    };
    KeymapError { line, message }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const QUEUE: [KeyContext; 2] = [KeyContext::Queue, KeyContext::Always];

    #[test]
    fn the_keymap_that_comes_with_avert_holds() {
        let keymap = Keymap::read(include_str!("../../assets/keymap.default.toml")).unwrap();

        assert_eq!(keymap.action(&QUEUE, "r".parse().unwrap()), Some(Action::Refund));
        assert_eq!(keymap.action(&QUEUE, "?".parse().unwrap()), Some(Action::Help));
        assert_eq!(
            keymap.action(&[KeyContext::Views, KeyContext::Menu], "alt-s".parse().unwrap()),
            Some(Action::ViewSave)
        );
        assert!(keymap.bindings.iter().all(|binding| !binding.about.is_empty()));
    }

    #[rstest]
    #[case("r")]
    #[case("R")]
    #[case("ctrl-s")]
    #[case("ctrl-alt-shift-f5")]
    #[case("shift-tab")]
    #[case("space")]
    #[case("-")]
    #[case("ctrl--")]
    #[case("é")]
    fn a_key_is_written_as_it_is_read(#[case] text: &str) {
        assert_eq!(text.parse::<Chord>().unwrap().to_string(), text);
    }

    #[rstest]
    #[case("")]
    #[case("hyper-x")]
    #[case("f13")]
    #[case("shift-r")]
    #[case("ctrl-c")]
    fn what_is_no_key_is_refused(#[case] text: &str) {
        assert!(text.parse::<Chord>().is_err());
    }

    #[test]
    fn a_users_file_changes_keys() {
        let keymap =
            Keymap::default().with_user_file("refund = \"R\"\ndown = [\"ctrl-n\", \"down\"]\nnote = []\n").unwrap();

        assert_eq!(keymap.action(&QUEUE, "R".parse().unwrap()), Some(Action::Refund));
        assert_eq!(keymap.action(&QUEUE, "r".parse().unwrap()), None);
        assert_eq!(keymap.action(&QUEUE, "j".parse().unwrap()), None);
        assert_eq!(keymap.action(&QUEUE, "a".parse().unwrap()), None);
        assert_eq!(keymap.key_of(Action::Down), "ctrl-n");
    }

    #[rstest]
    #[case(
        "# mine\nrefund = \"n\"\n",
        2,
        "n would mean two things, refund and not-refunded: give one of them another key, or none by []"
    )]
    #[case("undo = \"y\"", 1, "y would mean two things, undo and copy-id: give one of them another key")]
    #[case("\n\nfly = \"x\"", 3, "there is no action \"fly\"")]
    #[case("refund = 5", 1, "an action has a key such as \"R\", or several such as")]
    #[case("refund = \"hyper-x\"", 1, "is not the name of a key")]
    #[case("refund = [\"a\"\n", 1, "")]
    #[case("down = \"ctrl-s\"", 1, "ctrl-s sends what stands in a form, and nothing else: give down another key")]
    fn a_file_that_cannot_hold_is_refused_with_its_line(#[case] text: &str, #[case] line: usize, #[case] words: &str) {
        let error = Keymap::default().with_user_file(text).unwrap_err();

        assert!(error.message.contains(words), "{error}");
        assert!(error.line >= line && error.line <= text.lines().count() + 1, "{error}");
    }

    #[test]
    fn the_same_key_may_mean_two_things_where_they_never_meet() {
        assert!(Keymap::default().with_user_file("view-save = \"J\"").is_ok());
    }
}

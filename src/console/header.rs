//! The header: where one is, in words, which screens there are, how the service and the networks answer, and how old is
//! what is shown.

mod plan;

use plan::{BEFORE_TABS, FEWEST_BEFORE_TABS, HeaderClock, HeaderPlan, TabNames, Wording};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::app::App;
use super::dialog::DataAge;
use super::network_trouble::{DecisionFault, NetworkTrouble};
use super::pen::put_right;
use super::screens::ScreenName;
use super::screens::activity::views::needs_you;
use super::screens::queue::link::LATE;
use super::text::{capitalized, columns, cut, sanitize};
use super::{Action, Pen};
use crate::domain::exchange::without_exchange;
use crate::domain::{Environment, Timestamp};
use crate::service::ServiceError;

const PROGRAM: &str = "avert";

const READ_ONLY: &str = " READ-ONLY ";

/// That a place's networks are simulated, in its name, and the same in as few words as say it.
const SIMULATED: &str = ", simulated networks";
const SIMULATED_BRIEFLY: &str = " simulated";

/// How things stand has so many columns at least.
const LEAST: u16 = 10;

/// A tab of the header: a screen, or a page that lies over the screens.
struct Tab {
    /// Which screen, where it is one.
    screen: Option<ScreenName>,
    key: String,
    name: &'static str,
    action: Action,
    open: bool,
}

impl Tab {
    /// As much of its name as is told.
    fn told(&self, names: TabNames) -> &'static str {
        match names {
            TabNames::Whole => self.name,
            // The open one too: none moves when another one is opened. A page that lies over them stands behind them.
            TabNames::Short if self.screen.is_none() => self.name,
            TabNames::Short if self.name.len() <= LONGEST_WHOLE => self.name,
            TabNames::Short => self.name.get(..SHORT_NAME).unwrap_or(self.name),
            TabNames::Keys if self.open => self.name,
            TabNames::Keys => "",
        }
    }
}

/// Columns before the clock.
const BEFORE_CLOCK: u16 = 3;

/// Where one is.
struct Whereabouts {
    program: bool,
    badge: String,
    /// That of the badge.
    style: Style,
    /// That of the place, where the badge does not say it.
    name: Option<String>,
}

impl Whereabouts {
    fn width(&self) -> u16 {
        let program = if self.program { columns(PROGRAM) + 2 } else { 0 };
        program + columns(&self.badge) + self.name.as_ref().map_or(0, |name| columns(name) + 1)
    }
}

/// How things stand: a sign in its colour, and words.
struct Standing {
    sign: &'static str,
    words: String,
    style: Style,
    /// Whether all is read, and what is wrong is that something needs somebody: the screen of that is named already.
    calls: bool,
}

impl Standing {
    fn told(&self) -> String {
        format!("{} {}", self.sign, self.words)
    }

    fn width(&self) -> u16 {
        columns(self.told().trim_end())
    }
}

/// Letters of a name that is told shortly, and of the longest one that stays whole then.
const SHORT_NAME: usize = 3;
const LONGEST_WHOLE: usize = 5;

impl App {
    /// What this header has room for.
    fn header_plan(&self, width: u16, calls: usize) -> HeaderPlan {
        let needs = |plan: &HeaderPlan| {
            let link = match plan.names {
                TabNames::Keys => self.standing(Wording::Shortest, calls).width(),
                TabNames::Whole | TabNames::Short => self.link_room(*plan, calls),
            };
            self.left_room(*plan)
                + plan.before
                + self.tabs_room(calls, plan.names, plan.gap)
                + plan.before_link()
                + link
        };
        // Of what is wrong a sign alone would say nothing.
        let standing = self.standing(Wording::Sign, calls);
        let is_well = standing.words.is_empty();
        // While all is well its age is the last that whole names give way for, but for the local clock; of a list that
        // cannot be read it is worth more than that too.
        let (has_local, has_rules) = (self.local_words().is_some(), self.rules_said().is_some());
        let says = |plan: &HeaderPlan| match plan.prefers_local() {
            _ if plan.rules && !has_rules => false,
            true => has_local && (is_well || standing.calls),
            false if is_well => plan.age || plan.names != TabNames::Whole,
            false => plan.wording != Wording::Sign,
        };
        let [_, last] = HeaderPlan::KEYS;
        let plans = HeaderPlan::whole().chain(HeaderPlan::short()).chain(HeaderPlan::KEYS);
        plans.into_iter().find(|plan| says(plan) && needs(plan) <= width).unwrap_or(last)
    }

    /// Columns of where one is, what may be done there, and whether rules act.
    fn left_room(&self, plan: HeaderPlan) -> u16 {
        let names = if plan.rules { columns(&self.rule_names()) } else { 0 };
        let said = self.rules_said().map_or(0, |(said, _)| columns(said) + names + 2);
        let read_only = if self.cx.place.read_only { columns(READ_ONLY) + 2 } else { 0 };
        self.whereabouts(plan).width() + read_only + said
    }

    /// Where one is: the program, the environment, the place's name.
    fn whereabouts(&self, plan: HeaderPlan) -> Whereabouts {
        let (theme, place) = (&self.cx.theme, &self.cx.place);
        let name = sanitize(&place.name);
        // That the networks are simulated is said by one word too.
        let name = if plan.place_whole { name.into_owned() } else { name.replace(SIMULATED, SIMULATED_BRIEFLY) };
        let name = cut(&name, plan.place);
        let (badge, style) = match (place.demo, place.environment) {
            (true, _) => (" DEMO ".to_owned(), theme.muted),
            (false, Some(Environment::Production)) => (" PRODUCTION ".to_owned(), theme.production),
            (false, Some(Environment::Sandbox)) => (" SANDBOX ".to_owned(), theme.muted),
            // Nobody has said which of the two it is, so neither is claimed.
            (false, None) => (format!(" {name} "), theme.muted),
        };
        let name = (place.demo || place.environment.is_some()).then(|| name.into_owned());
        Whereabouts { program: plan.program, badge, style, name }
    }

    /// Draws the header.
    pub(super) fn draw_header(&self, buffer: &mut Buffer, header: Rect) {
        let theme = &self.cx.theme;
        buffer.set_style(header, Style::reset().patch(theme.page).patch(theme.bar));
        let line = Rect { x: header.x + 1, width: header.width.saturating_sub(2), ..header };
        let calls = needs_you(&self.cx).len();
        let plan = self.header_plan(line.width, calls);
        let whereabouts = self.whereabouts(plan);
        let left = self.left_room(plan);
        let tabs = self.tabs_room(calls, TabNames::Keys, plan.gap);
        let right = self.draw_link(buffer, line, [left + BEFORE_TABS + tabs, left], plan, calls);
        let rest = Rect { width: right.x.saturating_sub(line.x + plan.before_link()), ..line };
        let right = self.draw_rules(buffer, rest, whereabouts.width(), calls, plan);
        let mut pen = Pen::new(buffer, Rect { width: right.saturating_sub(line.x), ..line });
        if whereabouts.program {
            pen.put(PROGRAM, theme.accent.patch(theme.key));
            pen.skip(2);
        }
        pen.put(&whereabouts.badge, whereabouts.style);
        if let Some(name) = &whereabouts.name {
            pen.skip(1);
            pen.put(name, theme.strong);
        }
        if self.cx.place.read_only {
            pen.skip(2);
            pen.put(READ_ONLY, theme.muted);
        }
        let fits = |before: u16| tabs + before <= pen.room();
        let is_tight = plan.names == TabNames::Keys && !fits(BEFORE_TABS) && fits(FEWEST_BEFORE_TABS);
        pen.skip(if is_tight { FEWEST_BEFORE_TABS } else { plan.before });
        self.draw_tabs(&mut pen, calls, plan);
        if !self.has_mouse && self.cx.settings.mouse {
            pen.skip(3);
            pen.put_whole("mouse off", theme.quiet);
        }
    }

    /// The screens, each with its key; where there is no room for all words, that of the one that is open and as much
    /// of the others as has it.
    fn draw_tabs(&self, pen: &mut Pen<'_>, calls: usize, plan: HeaderPlan) {
        let theme = &self.cx.theme;
        let fits = |names: &TabNames| self.tabs_room(calls, *names, plan.gap) <= pen.room();
        let names = [TabNames::Whole, TabNames::Short, TabNames::Keys].into_iter().find(fits);
        let calls = match calls {
            0 => String::new(),
            many => many.to_string(),
        };
        let called = if calls.is_empty() { 0 } else { columns(&calls) + 1 };
        for tab in self.tabs().into_iter().filter(|tab| names.is_some() || tab.open) {
            let name = tab.told(names.unwrap_or(TabNames::Keys));
            let word = if name.is_empty() { 0 } else { columns(name) + 1 };
            if columns(&tab.key) + word > pen.room() {
                return;
            }
            let mut area = pen.put(&tab.key, if tab.open { theme.key } else { theme.quiet });
            if word > 0 {
                pen.skip(1);
                area = area.union(pen.put(name, if tab.open { theme.strong } else { theme.quiet }));
            }
            if tab.screen == Some(ScreenName::Activity) && !calls.is_empty() && called <= pen.room() {
                // A bare number beside a key would look like another key.
                let calls = if word > 0 && plan.gap > 1 { format!(" {calls}") } else { format!("!{calls}") };
                area = area.union(pen.put(&calls, theme.danger));
            }
            self.targets.push(area, tab.action);
            pen.skip(plan.gap);
        }
    }

    /// Says that rules stage by themselves here, in as many words as leave room for the screens; with few columns
    /// rather this than those. Returns where the rest of the line ends.
    fn draw_rules(&self, buffer: &mut Buffer, line: Rect, whereabouts: u16, calls: usize, plan: HeaderPlan) -> u16 {
        let Some((said, style)) = self.rules_said() else { return line.right() };
        let names = format!("{said}{}", self.rule_names());
        let [whole, short, keys] = [TabNames::Whole, TabNames::Short, TabNames::Keys]
            .map(|names| plan.before + self.tabs_room(calls, names, plan.gap));
        let said = said.to_owned();
        let words = [
            (format!("desk {names}"), whole),
            (names.clone(), whole),
            (said.clone(), whole),
            (names.clone(), short),
            (said.clone(), short),
            (names, keys),
            (said.clone(), keys),
            (said, 0),
        ];
        let fits = |(words, tabs): &(String, u16)| whereabouts + 2 + tabs + columns(words) <= line.width;
        let Some((words, _)) = words.into_iter().find(fits) else { return line.right() };
        let area = put_right(buffer, line, &words, style);
        self.targets.push(area, Action::RulesShow);
        area.x.saturating_sub(2)
    }

    /// The names of those that do, behind that: `: small, strangers`.
    fn rule_names(&self) -> String {
        sanitize(&format!(": {}", self.cx.auto.names().join(", "))).into_owned()
    }

    /// Whether rules stage by themselves here, in the fewest words.
    fn rules_said(&self) -> Option<(&'static str, Style)> {
        let (theme, auto) = (&self.cx.theme, &self.cx.auto);
        if auto.names().is_empty() || self.cx.place.read_only {
            return None;
        }
        Some(match (auto.act(), self.cx.place.may_be_production()) {
            (true, true) => ("rules act", theme.warning),
            (true, false) => ("rules act", theme.plain),
            (false, _) => ("rules paused", theme.quiet),
        })
    }

    /// The screens, and a page that lies over them.
    fn tabs(&self) -> Vec<Tab> {
        let page = self.dialogs.iter().rev().find_map(|dialog| dialog.page());
        let tab = |screen: Option<ScreenName>, name, action, open| Tab {
            screen,
            key: self.cx.key(action),
            name,
            action,
            open,
        };
        let is_open = |screen| self.shows(screen);
        let screens = ScreenName::ALL
            .into_iter()
            .map(|(screen, _, name, action)| tab(Some(screen), name, action, is_open(screen)));
        screens.chain(page.map(|(action, name)| tab(None, name, action, true))).collect()
    }

    /// Whether a screen is shown, with no page over it.
    fn shows(&self, screen: ScreenName) -> bool {
        self.screens.current == screen && self.dialogs.iter().all(|dialog| dialog.page().is_none())
    }

    /// Columns of the screens with so much of their names.
    fn tabs_room(&self, calls: usize, names: TabNames, gap: u16) -> u16 {
        let called = if calls == 0 { 0 } else { columns(&calls.to_string()) + 1 };
        let word = |name: &str| if name.is_empty() { 0 } else { columns(name) + 1 };
        let tabs = self.tabs().iter().map(|tab| columns(&tab.key) + word(tab.told(names)) + gap).sum::<u16>();
        (called + tabs).saturating_sub(gap)
    }

    /// How the service answers, the age of what is shown, and the time. Returns the area it took. `left` is what the
    /// other end of the line needs, with the screens and without: where they have no names, the time gives way to it,
    /// then the age, then words.
    fn draw_link(&self, buffer: &mut Buffer, line: Rect, left: [u16; 2], plan: HeaderPlan, calls: usize) -> Rect {
        let theme = &self.cx.theme;
        let [room, most] = left.map(|left| line.width.saturating_sub(left + 2));
        let way = |wording, aged, timed| {
            let standing = self.standing(wording, calls);
            let age = if aged { self.age(&standing, wording) } else { String::new() };
            (standing, age, self.clock_words(if timed { plan.clock } else { HeaderClock::Hidden }))
        };
        let before = |clock: &str| if clock.is_empty() { 0 } else { BEFORE_CLOCK };
        let (mut standing, age, clock) = if plan.names != TabNames::Keys {
            way(plan.wording, plan.age, true)
        } else {
            let (full, shortest) = (Wording::Full, Wording::Shortest);
            let brief = Wording::Brief;
            let ways = [
                (full, true, true, room),
                (full, true, false, room),
                (full, false, true, room),
                (full, false, false, room),
                (brief, false, true, room),
                (brief, false, false, room),
                // Since when something is wrong is worth more than the screens.
                (brief, false, false, most),
                (shortest, false, true, room),
            ];
            let fits = |(standing, age, clock): &(Standing, String, String), way: u16| {
                let room = if standing.calls { room } else { way };
                standing.width() + columns(age) + columns(clock) + before(clock) <= room
            };
            let mut ways = ways.into_iter().map(|(wording, aged, timed, room)| (way(wording, aged, timed), room));
            ways.find(|(way, room)| fits(way, *room)).map_or_else(|| way(shortest, false, false), |(way, _)| way)
        };
        // By which clock it is told is said where nothing gives way for it.
        let wordings = [Wording::Full, Wording::Since, Wording::Brief, Wording::Shortest];
        let same = wordings.into_iter().find(|wording| self.standing(*wording, calls).words == standing.words);
        let rest = match plan.names {
            TabNames::Keys => room,
            names => line.width.saturating_sub(
                self.left_room(plan) + plan.before + self.tabs_room(calls, names, plan.gap) + plan.before_link(),
            ),
        };
        let clocked = same.map(|wording| self.standing_by(wording, calls, true));
        if let Some(clocked) =
            clocked.filter(|told| told.width() + columns(&age) + columns(&clock) + before(&clock) <= rest)
        {
            standing = clocked;
        }
        if plan.names == TabNames::Keys {
            // Where not even that has room, as much of it as tells that something is wrong.
            standing.words =
                cut(&standing.words, most.max(LEAST).saturating_sub(columns(standing.sign) + 1)).into_owned();
        }
        let mut rest = line;
        if !clock.is_empty() {
            let clock = put_right(buffer, line, &clock, theme.plain);
            if plan.clock == HeaderClock::Both
                && let Some(local) = self.local_words()
            {
                buffer.set_style(clock, theme.quiet);
                buffer.set_stringn(clock.x, clock.y, &local, usize::from(clock.width), theme.strong);
            }
            rest.width = clock.x.saturating_sub(line.x + BEFORE_CLOCK);
        }
        let told = standing.told().trim_end().to_owned();
        let area = put_right(buffer, rest, &format!("{told}{age}"), theme.quiet);
        let (said, style) =
            if standing.style == theme.ok { (standing.sign, theme.ok) } else { (told.as_str(), standing.style) };
        buffer.set_stringn(area.x, area.y, said, said.width().min(usize::from(area.width)), style);
        if calls > 0 {
            self.targets.push(area, Action::ShowActivity);
        }
        let key = self.cx.key(Action::ShowActivity);
        if standing.calls && told.ends_with(&format!(" {key}")) {
            let x = area.x + columns(&told) - columns(&key);
            buffer.set_stringn(x, area.y, &key, usize::from(area.right().saturating_sub(x)), theme.key);
        }
        Rect { width: line.right() - area.x, ..area }
    }

    /// Columns of how the service answers, of the age and of the time.
    fn link_room(&self, plan: HeaderPlan, calls: usize) -> u16 {
        let standing = self.standing(plan.wording, calls);
        let clock = match columns(&self.clock_words(plan.clock)) {
            0 => 0,
            clock => clock + BEFORE_CLOCK,
        };
        let age = if plan.age { columns(&self.age(&standing, plan.wording)) } else { 0 };
        // An age that grows does not move the screens, nor does a page that has none.
        let grown = if plan.names == TabNames::Whole { "  45 min ago" } else { "  59 s ago" };
        let has_age = plan.age && (standing.style == self.cx.theme.ok || standing.calls);
        let age = if has_age { age.max(columns(grown)) } else { age };
        standing.width() + age + clock
    }

    /// The time: that on the wall first, and beside it that of the service.
    fn clock_words(&self, clock: HeaderClock) -> String {
        let utc = || self.cx.times().one_clock(self.cx.now);
        match clock {
            HeaderClock::Hidden => String::new(),
            HeaderClock::Both => self.local_words().map_or_else(utc, |local| format!("{local}  {}", utc())),
            HeaderClock::One => utc(),
        }
    }

    /// The local time, where it is shown beside the other one.
    fn local_words(&self) -> Option<String> {
        self.cx.times().beside(self.cx.now).map(|local| format!("{local} local"))
    }

    /// How old what is shown is. Since when something is wrong is told by its few words already, and of a list that was
    /// just read there is nothing to say beside that.
    fn age(&self, standing: &Standing, wording: Wording) -> String {
        let is_well = standing.style == self.cx.theme.ok;
        let ago = |at| self.cx.times().age(at, self.cx.now);
        let of_list = self.dialogs.iter().rev().all(|dialog| dialog.data_age() == DataAge::OfList);
        let age = |at| match (is_well || standing.calls, of_list) {
            (true, _) => format!("  {}", ago(at)),
            (false, true) => format!("   list {} old", self.cx.times().age_alone(at, self.cx.now)),
            (false, false) => format!("  read {}", ago(at)),
        };
        let says_something = |at: &Timestamp| is_well || standing.calls || self.cx.now - *at >= LATE;
        self.read_at()
            .filter(|_| is_well || wording == Wording::Full)
            .filter(says_something)
            .map(age)
            .unwrap_or_default()
    }

    /// When what is on the screen was read; nothing where nothing was, or none of it is read.
    fn read_at(&self) -> Option<Timestamp> {
        match self.dialogs.iter().rev().map(|dialog| dialog.data_age()).find(|age| *age != DataAge::OfList) {
            Some(DataAge::Own) => None,
            Some(DataAge::ReadAt(at)) => Some(at),
            Some(DataAge::OfList) | None => self.screens.queue.read_at(),
        }
    }

    /// From when on what lies over the list, or the list that stands still below it, is older than a list gets that is
    /// read again and again.
    fn ages_at(&self) -> Option<Timestamp> {
        self.read_at().filter(|_| !self.dialogs.is_empty()).map(|at| at + self.screens.queue.every(self.cx.now) + LATE)
    }

    /// When the header says something else by itself.
    pub(super) fn next_header(&self) -> Option<Timestamp> {
        let (queue, told, now) = (&self.screens.queue, self.cx.times(), self.cx.now);
        let aged = self.read_at().map(|at| told.next_age(at, now));
        let ages = self.ages_at().filter(|at| *at > now);
        [queue.late_at(now), aged, ages].into_iter().flatten().min()
    }

    /// The gravest of what there is to say; well only where nothing is wrong. `calls`: how many things need somebody.
    fn standing(&self, wording: Wording, calls: usize) -> Standing {
        self.standing_by(wording, calls, false)
    }

    /// The same; with the clock of its moments where another one is shown as well, if `clocked`.
    fn standing_by(&self, wording: Wording, calls: usize, clocked: bool) -> Standing {
        let (theme, queue) = (&self.cx.theme, &self.screens.queue);
        let wrong = |words: String| Standing { sign: "▲", words, style: theme.warning, calls: false };
        let is_shortest = matches!(wording, Wording::Shortest | Wording::Sign);
        let or_shortest = |words: String, shortest: &str| if is_shortest { shortest.to_owned() } else { words };
        let has_list = queue.listing.total().is_some();
        let times = self.cx.times();
        let hour = |since: &Timestamp| if clocked { times.hour(*since) } else { times.bare_hour(*since) };
        let second = |at| if clocked { times.hour_second(at) } else { times.clock_second(at) };
        match &queue.link.trouble {
            Some((since, _)) if queue.link.is_unreachable() => {
                let next = queue.link.next_try().map(second);
                return wrong(match (wording, next) {
                    (Wording::Full, Some(next)) => format!("offline since {}, retry {next}", hour(since)),
                    (Wording::Full | Wording::Since, _) => format!("offline since {}", hour(since)),
                    // The line above the footer says the rest.
                    _ => format!("offline {}", hour(since)),
                });
            }
            Some((since, _)) if has_list => return wrong(or_shortest(format!("stale since {}", hour(since)), "stale")),
            Some((since, _)) => return wrong(or_shortest(format!("list not read since {}", hour(since)), "not read")),
            None => {}
        }
        if self.cx.writes.failing.is_some() {
            return wrong(or_shortest("nothing can be recorded".to_owned(), "none recorded"));
        }
        if queue.is_late(self.cx.now) {
            return wrong(or_shortest("no fresh answer".to_owned(), "no answer"));
        }
        let network_of = |id| queue.listing.find(id).map(|alert| alert.provider.clone());
        if let Some(trouble) = self.cx.networks.now(&self.cx.decisions, &self.cx.unfinished, network_of) {
            return wrong(in_words(&trouble, &hour(&trouble.since), wording));
        }
        if calls > 0 {
            let key = self.cx.key(Action::ShowActivity);
            let words = format!("{calls} {} you", if calls == 1 { "needs" } else { "need" });
            // Who is there already needs no key that goes there.
            if self.shows(ScreenName::Activity) {
                return Standing { calls: true, ..wrong(or_shortest(words, "")) };
            }
            return Standing { calls: true, ..wrong(or_shortest(format!("{words}: {key}"), &format!("see {key}"))) };
        }
        if let Some((part, (since, _))) = queue.link.missing() {
            return wrong(match wording {
                Wording::Full => format!("{} not read since {}", part.words(), hour(since)),
                Wording::Brief | Wording::Since => format!("{} not read, {}", part.words(), hour(since)),
                Wording::Shortest | Wording::Sign => "not all read".to_owned(),
            });
        }
        if let Some(call) = self.cx.last_call.failed() {
            return wrong(match wording {
                Wording::Full => format!("{} failed, {}", call.asked, hour(&call.since)),
                Wording::Brief | Wording::Since => format!("a call failed, {}", hour(&call.since)),
                Wording::Shortest | Wording::Sign => "a call failed".to_owned(),
            });
        }
        let plain = |sign, words: &str, style| Standing { sign, words: words.to_owned(), style, calls: false };
        if self.cx.unkept.keeps_nothing() {
            return wrong(or_shortest("nothing is kept here".to_owned(), "not kept"));
        }
        if self.ages_at().is_some_and(|at| at <= self.cx.now) {
            return plain("·", "not fresh", theme.quiet);
        }
        match has_list {
            true => plain("●", if wording == Wording::Sign { "" } else { "live" }, theme.ok),
            false => plain("·", "connecting", theme.quiet),
        }
    }

    /// What lasts and needs more words than the header has room for.
    pub(super) fn lasting_note(&self) -> Option<String> {
        // The exchange behind it stands in the log.
        let why = |error: &ServiceError| match error {
            ServiceError::Unavailable(why) | ServiceError::Unreachable(why) | ServiceError::Throttled { why, .. } => {
                without_exchange(why).into_owned()
            }
            other => without_exchange(&other.to_string()).into_owned(),
        };
        let link = &self.screens.queue.link;
        let again = |what: &str, since: &Timestamp, error: &ServiceError| {
            let next = link
                .next_try()
                .map_or_else(|| "by itself".to_owned(), |at| format!("at {}", self.cx.times().second(at)));
            format!("Since {} {what}: {}. It is tried again {next}.", self.cx.times().hour(*since), why(error))
        };
        if let Some((since, error)) = link.trouble.as_ref().filter(|_| self.screens.queue.listing.rows() > 0) {
            let what = if link.is_unreachable() { "the service is not reached" } else { "the list cannot be read" };
            return Some(again(what, since, error));
        }
        if let Some((since, error)) = &self.cx.writes.failing {
            return Some(again("nothing can be recorded", since, error));
        }
        // Of a service that is not reached nothing is read: where there are no rows it is said in their place.
        if let Some((part, (since, error))) = link.missing().filter(|_| !link.is_unreachable()) {
            return Some(again(&format!("{} cannot be read", part.words()), since, error));
        }
        let call = self.cx.last_call.failed()?;
        Some(format!(
            "{} failed at {}: {}.",
            capitalized(call.asked),
            self.cx.times().hour(call.since),
            why(&call.error)
        ))
    }
}

/// `ETHOCA: outcome unknown since 14:03`, or `ETHOCA: unknown, 14:03`, or `ETHOCA unknown`.
fn in_words(trouble: &NetworkTrouble, since: &str, wording: Wording) -> String {
    let names: Vec<_> = trouble.networks.iter().map(|network| sanitize(network.as_str()).into_owned()).collect();
    let who = match names.as_slice() {
        [] => "a network".to_owned(),
        [first, others @ ..] if matches!(wording, Wording::Brief | Wording::Since) && !others.is_empty() => {
            format!("{first} +{}", others.len())
        }
        all => all.join(", "),
    };
    match (trouble.fault, wording) {
        (DecisionFault::Unknown, Wording::Full) => format!("{who}: outcome unknown since {since}"),
        (DecisionFault::Unknown, Wording::Brief | Wording::Since) => format!("{who}: unknown, {since}"),
        (DecisionFault::Unknown, Wording::Shortest | Wording::Sign) => format!("{who} unknown, {since}"),
        // It is over: a moment, and nothing that goes on.
        (DecisionFault::Declined, Wording::Full | Wording::Brief | Wording::Since) => {
            format!("{who} not recorded, {since}")
        }
        (DecisionFault::Declined, Wording::Shortest | Wording::Sign) => format!("{who} failed, {since}"),
        (DecisionFault::Unheard, Wording::Shortest | Wording::Sign) => "one not known".to_owned(),
        (DecisionFault::Unheard, Wording::Full) => format!("a decision not known since {since}"),
        (DecisionFault::Unheard, Wording::Brief | Wording::Since) => format!("a decision not known, {since}"),
        (DecisionFault::Service, Wording::Shortest | Wording::Sign) => "not recorded".to_owned(),
        (DecisionFault::Service, Wording::Full | Wording::Brief | Wording::Since) => {
            format!("a decision not recorded, {since}")
        }
    }
}

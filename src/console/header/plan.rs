//! The plans of the header: what gives way where not all has room, and in which order.

/// Columns before the screens, and the fewest of them where all keys have room so.
pub(super) const BEFORE_TABS: u16 = 4;
pub(super) const FEWEST_BEFORE_TABS: u16 = 2;

/// How many words what is wrong is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wording {
    Full,
    /// Since when, and not what comes next: that the line above the footer says too.
    Since,
    Brief,
    Shortest,
    /// The sign alone, where all is well.
    Sign,
}

/// How much of the screens' names stands in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TabNames {
    Whole,
    /// The first letters of each.
    Short,
    /// The keys alone; the one that is open has its name.
    Keys,
}

/// The clocks that the header shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderClock {
    /// Both, where the settings ask for both.
    Both,
    One,
    Hidden,
}

/// What the header has room for.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderPlan {
    /// How much of every screen's name.
    pub(super) names: TabNames,
    /// Whether the program is named.
    pub(super) program: bool,
    /// Columns before the screens, and between two of them.
    pub(super) before: u16,
    pub(super) gap: u16,
    pub(super) clock: HeaderClock,
    /// Whether how old it is stands beside what is well.
    pub(super) age: bool,
    pub(super) wording: Wording,
    /// Most columns of the place's name.
    pub(super) place: u16,
    /// Whether the place's name has all its words.
    pub(super) place_whole: bool,
    /// Whether the desk rules that stage by themselves are named: rather that than a second clock.
    pub(super) rules: bool,
}

impl HeaderPlan {
    const FULL: Self = Self {
        names: TabNames::Whole,
        program: true,
        before: BEFORE_TABS,
        gap: 3,
        clock: HeaderClock::Both,
        age: true,
        wording: Wording::Full,
        place: u16::MAX,
        place_whole: true,
        rules: false,
    };

    /// What gives way so that every screen keeps its name: what is needed least first. What is wrong is told in fewer words last of all, and
    /// then what has room beside those comes back.
    pub(super) const ALL: [Self; 28] = {
        let named = Self { rules: true, ..Self::FULL };
        let named_one_clock = Self { clock: HeaderClock::One, ..named };
        let one_clock = Self { clock: HeaderClock::One, ..Self::FULL };
        let briefer = Self { place_whole: false, ..one_clock };
        let unnamed = Self { program: false, ..briefer };
        let closer = Self { gap: 2, ..unnamed };
        let timeless = Self { clock: HeaderClock::Hidden, ..closer };
        let tight = Self { before: FEWEST_BEFORE_TABS, ..timeless };
        let ways = [one_clock, briefer, unnamed, closer, timeless, tight];
        let [ageless_first, ageless_second, ageless_third, ageless_fourth, ageless_fifth, ageless_last] = Self::ageless(ways);
        let [since_first, since_second, since_third, since_fourth, since_fifth, since_last] = Self::worded(ways, Wording::Since);
        let [first, second, third, fourth, fifth, last] = Self::worded(ways, Wording::Brief);
        let short_place = Self { place: 10, ..last };
        [
            named,
            named_one_clock,
            Self::FULL,
            one_clock,
            briefer,
            unnamed,
            closer,
            timeless,
            tight,
            ageless_first,
            ageless_second,
            ageless_third,
            ageless_fourth,
            ageless_fifth,
            ageless_last,
            since_first,
            since_second,
            since_third,
            since_fourth,
            since_fifth,
            since_last,
            first,
            second,
            third,
            fourth,
            fifth,
            last,
            short_place,
        ]
    };

    /// Where whole names have no room whatever gives way, all are cut to their first letters.
    pub(super) const SHORT: [Self; 14] = {
        let whole = Self { program: false, before: FEWEST_BEFORE_TABS, gap: 2, clock: HeaderClock::One, ..Self::FULL };
        let short = Self { names: TabNames::Short, place_whole: false, ..whole };
        let timeless = Self { clock: HeaderClock::Hidden, ..short };
        let ageless = Self { age: false, ..timeless };
        let closer = Self { gap: 1, ..ageless };
        let ways = [short, timeless, ageless];
        let [since_first, since_second, since_third] = Self::worded(ways, Wording::Since);
        let [first, second, third] = Self::worded(ways, Wording::Brief);
        let [closer_since, closer_brief] = [Self { wording: Wording::Since, ..closer }, Self { wording: Wording::Brief, ..closer }];
        let sign = Self { wording: Wording::Sign, ..closer };
        let cut = Self { place: 9, ..sign };
        [
            short,
            timeless,
            ageless,
            since_first,
            since_second,
            since_third,
            first,
            second,
            third,
            // The screens keep their places for as long as words can give way.
            closer,
            closer_since,
            closer_brief,
            sign,
            cut,
        ]
    };

    /// The same without how old it is.
    const fn ageless<const N: usize>(mut plans: [Self; N]) -> [Self; N] {
        let mut at = 0;
        while at < N {
            plans[at].age = false;
            at += 1;
        }
        plans
    }

    /// The same with what is wrong told in such words.
    const fn worded<const N: usize>(mut plans: [Self; N], wording: Wording) -> [Self; N] {
        let mut at = 0;
        while at < N {
            plans[at].wording = wording;
            at += 1;
        }
        plans
    }

    /// Where not even those have room, the keys stand alone, and as much of the rest is whole as can be.
    pub(super) const KEYS: [Self; 2] = {
        let keys = Self { names: TabNames::Keys, program: false, gap: 2, clock: HeaderClock::One, ..Self::FULL };
        [keys, Self { place: 10, ..keys }]
    };

    /// Blank columns before how things stand.
    pub(super) fn before_link(self) -> u16 {
        if self.wording == Wording::Sign { 1 } else { 2 }
    }
}

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

/// A part of the header that can give way to the others.
#[derive(Debug, Clone, Copy)]
enum HeaderPart {
    /// The clock of this machine beside the other one.
    LocalClock,
    /// The other one.
    Clock,
    /// A word of the place's name.
    PlaceWords,
    /// The program's name.
    Program,
    /// How old is what is shown.
    Age,
    /// A column between two screens, and those before the first one.
    Gaps,
    Margin,
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

    /// So that every screen keeps its name all else gives way, what is needed least first. What is wrong is told in
    /// fewer words last of all, and then what has room beside those comes back.
    pub(super) fn whole() -> impl Iterator<Item = Self> {
        use HeaderPart::{Age, Clock, Gaps, LocalClock, Margin, PlaceWords, Program};
        let ways = [PlaceWords, Program, Gaps, Clock, Margin];
        let one_clock = Self::FULL.without(LocalClock);
        let brief = Self { wording: Wording::Brief, ..one_clock };
        let narrowest = ways.into_iter().fold(brief, Self::without);
        Self { rules: true, ..Self::FULL }
            .giving_way([LocalClock])
            .chain(Self::FULL.giving_way([PlaceWords, Program, Age, Gaps, Margin]))
            .chain(one_clock.giving_way(ways))
            .chain(one_clock.without(Age).giving_way(ways))
            .chain(Self { wording: Wording::Since, ..one_clock }.giving_way(ways))
            .chain(brief.giving_way(ways))
            .chain([Self { place: 10, ..narrowest }])
    }

    /// Where whole names have no room whatever gives way, all are cut to their first letters.
    pub(super) fn short() -> impl Iterator<Item = Self> {
        use HeaderPart::{Age, Clock, Gaps, LocalClock, Margin, PlaceWords, Program};
        let whole = [LocalClock, PlaceWords, Program, Gaps, Margin].into_iter().fold(Self::FULL, Self::without);
        let worded = [Wording::Full, Wording::Since, Wording::Brief].map(|wording| Self {
            names: TabNames::Short,
            wording,
            ..whole
        });
        // The screens keep their places for as long as words can give way.
        let closer = worded.map(|plan| Self { gap: 1, ..plan.without(Clock).without(Age) });
        let sign = Self { wording: Wording::Sign, ..closer[0] };
        worded
            .into_iter()
            .flat_map(|plan| plan.giving_way([Clock, Age]))
            .chain(closer)
            .chain([sign, Self { place: 9, ..sign }])
    }

    /// This one, and then without one part after another.
    fn giving_way<const N: usize>(self, parts: [HeaderPart; N]) -> impl Iterator<Item = Self> {
        let less = parts.into_iter().scan(self, |plan, part| {
            *plan = plan.without(part);
            Some(*plan)
        });
        std::iter::once(self).chain(less)
    }

    /// The same without one part, or with less of it.
    fn without(self, part: HeaderPart) -> Self {
        match part {
            HeaderPart::LocalClock => Self { clock: HeaderClock::One, ..self },
            HeaderPart::Clock => Self { clock: HeaderClock::Hidden, ..self },
            HeaderPart::PlaceWords => Self { place_whole: false, ..self },
            HeaderPart::Program => Self { program: false, ..self },
            HeaderPart::Age => Self { age: false, ..self },
            HeaderPart::Gaps => Self { gap: 2, ..self },
            HeaderPart::Margin => Self { before: FEWEST_BEFORE_TABS, ..self },
        }
    }

    /// Whether the age has given way to the local clock.
    pub(super) fn prefers_local(&self) -> bool {
        self.clock == HeaderClock::Both && !self.age
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

//! The screens, which of them is shown, which message is for which; and the keys of every screen on a page over one.

pub mod activity;
pub mod insights;
pub mod loading;
pub mod queue;
pub mod settings;
pub mod webhooks;

use super::{
    Action, AppContext, Message, Screen, Task, Tasks,
    idle::{NONE_STAGED, OTHER_PLACE, unless},
};
use activity::state::ActivityScreen;
use insights::state::InsightsScreen;
use queue::state::Queue;
use settings::state::SettingsScreen;
use webhooks::state::WebhooksScreen;

/// A screen by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenName {
    /// Alerts and their answers.
    Queue,
    /// The pace, what lapses when, what was answered and missed.
    Insights,
    /// Endpoints, and the deliveries to them.
    Webhooks,
    /// What happened.
    Activity,
    /// Keys and clients, and what the console is set to.
    Settings,
}

impl ScreenName {
    /// Every screen, in the order of the header, with its name and the action that goes to it.
    pub const ALL: [(Self, &'static str, Action); 5] = [
        (Self::Queue, "Queue", Action::ShowQueue),
        (Self::Insights, "Insights", Action::ShowInsights),
        (Self::Webhooks, "Webhooks", Action::ShowWebhooks),
        (Self::Activity, "Activity", Action::ShowActivity),
        (Self::Settings, "Settings", Action::ShowSettings),
    ];

    /// The screen that an action goes to.
    pub fn of(action: Action) -> Option<Self> {
        Self::ALL.iter().find(|(.., goes)| *goes == action).map(|(screen, ..)| *screen)
    }
}

/// All screens.
pub struct Screens {
    /// Which one is shown.
    pub current: ScreenName,
    /// Alerts and their answers.
    pub queue: Queue,
    /// The pace, what lapses when, what was answered and missed.
    pub insights: InsightsScreen,
    /// Endpoints, and the deliveries to them.
    pub webhooks: WebhooksScreen,
    /// Answers, messages and notes.
    pub activity: ActivityScreen,
    /// Keys and clients.
    pub settings: SettingsScreen,
}

impl Screens {
    /// The screen that is shown.
    pub fn shown(&self) -> &dyn Screen {
        self.get(self.current)
    }

    /// A screen by its name.
    pub fn get(&self, name: ScreenName) -> &dyn Screen {
        match name {
            ScreenName::Queue => &self.queue,
            ScreenName::Insights => &self.insights,
            ScreenName::Webhooks => &self.webhooks,
            ScreenName::Activity => &self.activity,
            ScreenName::Settings => &self.settings,
        }
    }

    /// A screen by its name, to be changed.
    pub fn get_mut(&mut self, name: ScreenName) -> &mut dyn Screen {
        match name {
            ScreenName::Queue => &mut self.queue,
            ScreenName::Insights => &mut self.insights,
            ScreenName::Webhooks => &mut self.webhooks,
            ScreenName::Activity => &mut self.activity,
            ScreenName::Settings => &mut self.settings,
        }
    }

    /// Which screen a message is for.
    pub fn addressee(&self, message: &Message) -> ScreenName {
        match message {
            Message::Credentials(_)
            | Message::CredentialCreated(_)
            | Message::CredentialRevoked(..)
            | Message::RulesStopped(_)
            | Message::CreateCredential(_)
            | Message::Profiles(_) => ScreenName::Settings,
            Message::AuditLog(_) => ScreenName::Activity,
            Message::Endpoints(_)
            | Message::Sources(_)
            | Message::DeliveryList(..)
            | Message::DeliveryAttempts(..)
            | Message::EndpointTested(..)
            | Message::SentAgain(_) => ScreenName::Webhooks,
            Message::Insights(..) | Message::Sales(_) | Message::Held(_) => ScreenName::Insights,
            Message::Act(_) | Message::Input(_) | Message::Shown => self.current,
            _ => ScreenName::Queue,
        }
    }
}

/// Does what an action means on every page; none where it has no meaning beside a page's own. For a screen the page is
/// left, with what lies below it.
pub fn on_every_page(action: Action) -> Option<Tasks> {
    use Action::{Find, Help, Mouse, Quit, Suspend, Undo};
    match action {
        Find | Help | Mouse | Quit | Suspend | Undo => Some(vec![Task::Act(action)]),
        _ => ScreenName::of(action).map(|_| vec![Task::Leave, Task::Act(action)]),
    }
}

/// Returns the reason for which an action does nothing on a page now that has no meaning of its own for it.
pub fn why_idle_on_page(action: Action, cx: &AppContext) -> Option<&'static str> {
    match action {
        Action::Undo => unless(cx.ledger.not_left().next().is_some(), NONE_STAGED),
        Action::Back => None,
        action => unless(on_every_page(action).is_some(), OTHER_PLACE),
    }
}

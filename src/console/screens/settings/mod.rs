//! The Settings screen: the keys and clients that may come in, the profiles, and what this console is set to.

pub mod draw;
pub mod state;

use crossterm::event::Event;
use ratatui::{Frame, layout::Rect};

use crate::{
    Action, AppContext, Effect, KeyContext, Message, NextConsole, Reply, Screen, Task, Tasks, Tone,
    dialog::run,
    dialogs::{question::ask, settings_dialogs::ShownSecret},
    domain::{CreatedCredential, Credential, CredentialKind, Revoked, Timestamp},
    idle::{READ_ONLY, unless},
    screens::{
        loading::{row_after, wheel},
        webhooks::copy,
    },
    text::sanitize,
};
use state::{SettingsRow, SettingsScreen};

impl Screen for SettingsScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Tasks {
        match message {
            Message::Tick => return run(self.run_due(cx.now)),
            Message::Shown => {
                self.refresh(cx.now);
                self.rules_listed(cx.settings.rules.len());
            }
            Message::RulesTaken => self.rules_listed(cx.settings.rules.len()),
            Message::Act(action) if self.why_idle(action, cx).is_none() => return act(self, action, cx),
            Message::Input(event) => return input(self, &event),
            Message::Profiles(answer) => {
                if let Ok(all) = &answer {
                    let others = all.iter().filter(|profile| !profile.here && profile.barred_by.is_none());
                    cx.place.profiles = others.map(|profile| profile.name.clone()).collect();
                }
                self.profiles = Some(answer);
            }
            Message::Credentials(answer) => self.listed(answer, cx.now),
            Message::CreateCredential(kind) => {
                self.creating = Some(kind);
                return vec![Effect::CreateCredential(kind).into()];
            }
            Message::CredentialCreated(answer) => return created(self, answer, cx),
            Message::CredentialRevoked(kind, id, answer) => revoked(self, kind, &id, answer, cx),
            Message::RulesStopped(Ok(())) => cx.notify(Tone::Good, "All automatic rules are stopped.".to_owned()),
            Message::RulesStopped(Err(error)) => {
                cx.writes.suspect(&error, cx.now);
                cx.notify(Tone::Bad, format!("Rules not stopped: {error}. Try again."));
            }
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        draw::draw(self, cx, frame.buffer_mut(), body);
    }

    fn keys(&self) -> KeyContext {
        KeyContext::Settings
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due()
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        let managed = || unless(!cx.place.read_only, READ_ONLY).or_else(|| unless(self.offered, "not available here"));
        let has_chosen = || unless(self.chosen().is_some(), "none here");
        match action {
            Action::CredentialCreate => managed().or_else(|| unless(self.creating.is_none(), "one is being created")),
            Action::CredentialRevoke => {
                let works = |credential: &Credential| credential.revoked_at.is_none();
                managed().or_else(has_chosen).or_else(|| unless(self.chosen().is_some_and(works), "already revoked"))
            }
            Action::StopRules => managed(),
            Action::CopyId => has_chosen(),
            Action::Open => match self.row() {
                SettingsRow::Credential(_) => Some("a key has no page"),
                SettingsRow::Profile(_) => {
                    unless(self.chosen_profile().is_some_and(|profile| !profile.here), "already connected")
                }
                SettingsRow::Rule(_) | SettingsRow::Setting(_) => None,
            },
            _ => None,
        }
    }
}

fn input(screen: &mut SettingsScreen, event: &Event) -> Tasks {
    if let Some(way) = wheel(event) {
        step(screen, if way > 0 { Action::Down } else { Action::Up });
    }
    let Some(row) = screen.targets.clicked(event) else { return Vec::new() };
    // A second click on a setting changes it.
    let opens = screen.at() == row && screen.setting().is_some();
    screen.move_to(row);
    opens.then_some(Task::Act(Action::Open)).into_iter().collect()
}

/// Moves the cursor by an action; returns false for one that does not move.
fn step(screen: &mut SettingsScreen, action: Action) -> bool {
    let row = row_after(action, screen.at(), screen.rows().len(), screen.window.page());
    row.into_iter().for_each(|row| screen.move_to(row));
    row.is_some()
}

fn act(screen: &mut SettingsScreen, action: Action, cx: &mut AppContext) -> Tasks {
    match action {
        action if step(screen, action) => {}
        Action::Refresh => {
            screen.refresh(cx.now);
            return cx.settings.rules_in.iter().map(|_| Effect::ReadRules.into()).collect();
        }
        Action::NextPane => screen.next_part(),
        Action::Open => match screen.row() {
            SettingsRow::Rule(rule) => return list_rule(rule, cx),
            _ => return open_profile(screen, cx),
        },
        Action::Back => return vec![Task::Act(Action::ShowQueue)],
        Action::CopyId => return screen.chosen().map(|row| copy(row.id.clone(), cx)).unwrap_or_default(),
        _ => {}
    }
    Vec::new()
}

/// Leaves for the console of the profile under the cursor, as the palette does.
fn open_profile(screen: &SettingsScreen, cx: &mut AppContext) -> Tasks {
    let Some(profile) = screen.chosen_profile() else { return Vec::new() };
    let name = profile.name.clone();
    if let Some(variable) = profile.barred_by {
        cx.hint(format!("{name} cannot be opened here because of {variable}. Use avert open {name}."));
    } else {
        return vec![Message::OpenConsole(NextConsole::Profile(name)).into()];
    }
    Vec::new()
}

/// Goes to the Queue with the open alerts that the rule under the cursor matches.
fn list_rule(rule: usize, cx: &mut AppContext) -> Tasks {
    let Some(rule) = cx.settings.rules.get(rule) else { return Vec::new() };
    match cx.views.read(&rule.text) {
        Ok((filter, sort)) => {
            let filter = rule.waiting(cx.views.vocabulary).unwrap_or(filter);
            vec![Task::Act(Action::ShowQueue), Message::List(filter, sort).into()]
        }
        Err(error) => {
            cx.notify(Tone::Note, format!("The Queue cannot list what {} matches: {error}", rule.name));
            Vec::new()
        }
    }
}

fn created(screen: &mut SettingsScreen, answer: Reply<CreatedCredential>, cx: &mut AppContext) -> Tasks {
    match answer {
        Ok(created) => {
            screen.created(&created.credential);
            vec![Task::OpenNext(ask(ShownSecret::new(created)))]
        }
        Err(error) => {
            screen.creating = None;
            screen.refresh(cx.now);
            cx.writes.suspect(&error, cx.now);
            cx.notify(Tone::Bad, format!("Not created: {error}"));
            Vec::new()
        }
    }
}

fn revoked(screen: &mut SettingsScreen, kind: CredentialKind, id: &str, answer: Reply<Revoked>, cx: &mut AppContext) {
    match answer {
        Ok(Revoked { credential, already }) => {
            screen.put(&credential);
            let (tone, done) = if already { (Tone::Note, "Already revoked") } else { (Tone::Good, "Revoked") };
            cx.notify(tone, format!("{done} {} {}.", kind.as_str(), sanitize(&credential.id)));
        }
        Err(error) => {
            cx.writes.suspect(&error, cx.now);
            cx.notify(Tone::Bad, format!("The {} {} was not revoked: {error}", kind.as_str(), sanitize(id)));
        }
    }
    screen.refresh(cx.now);
}

//! From the decision to its proof: the form is opened, the decision staged, sent once, and what came of it told.

use chrono::Duration;
use crossterm::event::Event;

use super::app::App;
use super::decisions::{Found, News, State};
use super::effects::{Effect, Keep};
use super::keymap::Action;
use super::loadable::Loadable;
use super::message::Answer;
use super::overlays::Overlay;
use super::screens::resolve_form::{self, Choice, FormStep, ResolveForm, Submission, Warning};
use super::toasts::Tone;
use super::unsettled::{Stage, in_words};
use crate::desk::Draft;
use crate::domain::duplicate::Duplicate;
use crate::domain::{Alert, AlertId, duplicate};

impl App {
    pub(super) fn open_form(&mut self, choice: Choice) -> Vec<Effect> {
        let Some(alert) = self.queue.current().cloned() else { return Vec::new() };
        if self.place.read_only {
            self.tell(Tone::Note, "This place is read-only: nothing is sent from here.");
            return Vec::new();
        }
        if let Some(outcome) = &alert.outcome {
            let words = format!("This alert is answered already: {} ({}).", alert.status, outcome.outcome.replace('_', " "));
            self.tell(Tone::Note, words);
            return Vec::new();
        }
        if self.decisions.is_underway(alert.id) {
            let undo = self.settings.keymap.key_of(Action::Undo);
            self.tell(Tone::Note, format!("A decision on this alert is on its way; {undo} takes it back while it waits."));
            return Vec::new();
        }
        if let Some(unsettled) = self.unsettled.of(alert.id) {
            let word = in_words(&unsettled.resolution);
            let words = match Stage::of(unsettled) {
                Stage::Sending => format!("{word} is with the network right now."),
                Stage::Unknown => format!("Whether {word} arrived is being found out: no other answer is taken until then."),
                Stage::Parked => {
                    format!("{word} waits for a person's word: {} says what became of it.", self.settings.keymap.key_of(Action::Settle))
                }
            };
            self.tell(Tone::Note, words);
            return Vec::new();
        }
        let effects = self.queue.hurry_facts();
        let place = resolve_form::Place {
            production: self.place.is_production(),
            read_only: self.place.read_only,
            grace_seconds: self.settings.grace.as_secs(),
            dialect: self.place.dialect,
        };
        let draft = self.drafts.get(&alert.id).cloned();
        let form = ResolveForm::new(&alert, choice, place, draft, self.form_warnings(&alert), self.now);
        self.overlay = Some(Overlay::Resolve(Box::new(form)));
        effects
    }

    /// What the form has to know of other alerts on the same payment.
    fn form_warnings(&self, alert: &Alert) -> Vec<Warning> {
        let earlier = self.decisions.of(alert.id).filter(|decision| matches!(decision.state, State::Checking(_)));
        let mut warnings: Vec<Warning> = earlier.map(|decision| Warning::MayHaveArrived(decision.word().to_owned())).into_iter().collect();
        warnings.extend(self.sibling_warnings(alert));
        warnings
    }

    fn sibling_warnings(&self, alert: &Alert) -> Vec<Warning> {
        match &self.queue.facts.siblings {
            Loadable::NotAsked | Loadable::Loading => vec![Warning::Looking],
            Loadable::Failed(error) => vec![Warning::NotCompared(format!("doubles were not looked for: {error}"))],
            Loadable::Loaded(_) if duplicate::query(alert).is_none() => {
                vec![Warning::NotCompared("doubles not looked for: no card digits or no amount".to_owned())]
            }
            Loadable::Loaded(siblings) => {
                let found = siblings.iter().filter_map(|other| Duplicate::of(alert, &self.decisions.foreseen(other)));
                found.map(Warning::Duplicate).collect()
            }
        }
    }

    /// An open form hears what has become known of its alert.
    pub(super) fn news_for_form(&mut self) {
        let Some(Overlay::Resolve(form)) = &self.overlay else { return };
        let Some(alert) = self.queue.listing.find(form.alert_id()).cloned() else { return };
        let warnings = (self.queue.facts.alert == Some(alert.id)).then(|| self.form_warnings(&alert));
        if let Some(Overlay::Resolve(form)) = &mut self.overlay {
            form.update_alert(&alert);
            if let Some(warnings) = warnings {
                form.set_warnings(warnings);
            }
        }
    }

    pub(super) fn undo(&mut self) -> Vec<Effect> {
        match self.decisions.take_back() {
            Some(decision) => {
                // Whoever takes a decision back wants to give another one on the same alert.
                self.queue.listing.move_to_alert(decision.alert.id);
                self.tell(Tone::Good, format!("Taken back: {} on {}. Nothing was sent.", decision.word(), decision.subject()));
            }
            None if self.decisions.sending() > 0 => self.tell(Tone::Note, "Too late to take back: it has left."),
            None => self.tell(Tone::Note, "There is nothing to take back."),
        }
        Vec::new()
    }

    pub(super) fn input_to_resolve(&mut self, mut form: Box<ResolveForm>, event: &Event) -> Vec<Effect> {
        form.set_now(self.now);
        match form.handle(event) {
            FormStep::Cancel(draft) => self.keep_draft(form.alert_id(), draft),
            FormStep::Submit(submission) => self.stage(*submission),
            FormStep::Stay | FormStep::Ignored => {
                self.overlay = Some(Overlay::Resolve(form));
                Vec::new()
            }
        }
    }

    /// A decision is made: it waits for its grace while the cursor goes on to the next alert.
    fn stage(&mut self, submission: Submission) -> Vec<Effect> {
        let Submission { alert_id, resolution, draft } = submission;
        let Some(alert) = self.queue.listing.find(alert_id).cloned() else {
            self.tell(Tone::Bad, "This alert is no longer here; nothing was sent.");
            return Vec::new();
        };
        self.toasts.clear();
        let grace = Duration::from_std(self.settings.grace).unwrap_or_default();
        self.decisions.stage(alert, resolution, grace, self.now);
        if self.queue.listing.cursor_id() == Some(alert_id) {
            self.move_on();
        }
        self.keep_draft(alert_id, draft)
    }

    /// Keeps what is typed in an open form, because it is about to close.
    pub(super) fn keep_open_form(&mut self) -> Vec<Effect> {
        match self.overlay.take() {
            Some(Overlay::Resolve(form)) => self.keep_draft(form.alert_id(), form.draft()),
            _ => Vec::new(),
        }
    }

    pub(super) fn keep_draft(&mut self, alert: AlertId, draft: Draft) -> Vec<Effect> {
        if draft.is_bare() {
            return self.drop_draft(alert);
        }
        self.drafts.insert(alert, draft.clone());
        vec![Effect::Keep(Keep::Draft(alert, draft))]
    }

    pub(super) fn drop_draft(&mut self, alert: AlertId) -> Vec<Effect> {
        if self.drafts.remove(&alert).is_some() { vec![Effect::Keep(Keep::NoDraft(alert))] } else { Vec::new() }
    }

    /// Goes to the next alert that no decision is on its way for.
    fn move_on(&mut self) {
        let listing = &mut self.queue.listing;
        let from = listing.cursor();
        for row in from + 1..listing.rows().min(from + 200) {
            listing.move_to(row);
            match listing.cursor_id() {
                Some(id) if self.decisions.of(id).is_some() => {}
                _ => return,
            }
        }
        // The last one stays under the cursor.
        listing.move_to(from);
    }

    pub(super) fn changed(&mut self, answer: Answer<u64>) -> Vec<Effect> {
        match answer {
            Ok(number) => {
                self.last_change = number;
                self.queue.changed(self.now);
                self.unsettled.changed(self.now);
                self.decisions.look_soon(self.now);
                let mut effects = vec![Effect::Watch(number, std::time::Duration::ZERO)];
                // The list stands still under a form; the alert in the form must not.
                if let Some(Overlay::Resolve(form)) = &self.overlay {
                    effects.push(Effect::Get(form.alert_id()));
                }
                effects
            }
            Err(error) => {
                let wait = self.queue.failed(error, self.now);
                vec![Effect::Watch(self.last_change, wait)]
            }
        }
    }

    pub(super) fn resolved(&mut self, key: u64, answer: Answer<Alert>) -> Vec<Effect> {
        let Some(decision) = self.decisions.get(key).cloned() else { return Vec::new() };
        if let Err(error) = &answer {
            self.note_unwritten(error);
        }
        match self.decisions.answered(key, answer, self.now) {
            // What is not known is looked up at once, and from then on by the decisions' own plan.
            Some(news) => self.tell_news(&decision.alert, decision.word(), &news),
            None => Vec::new(),
        }
    }

    pub(super) fn looked_up(&mut self, key: u64, found: Answer<Found>) -> Vec<Effect> {
        let Some(decision) = self.decisions.get(key).cloned() else { return Vec::new() };
        match self.decisions.looked_up(key, found, self.now) {
            Some(news) => self.tell_news(&decision.alert, decision.word(), &news),
            None => Vec::new(),
        }
    }

    fn tell_news(&mut self, before: &Alert, word: &str, news: &News) -> Vec<Effect> {
        let money = before.money().map_or_else(|| before.provider_id.clone(), |money| money.to_string());
        let subject = format!("{} {money}", before.provider);
        match news {
            News::Landed(alert) => {
                self.tell(Tone::Good, format!("{subject} is {}", alert.status));
                self.queue.take_alert(alert);
                self.queue.changed(self.now);
                return self.drop_draft(before.id);
            }
            News::Overtaken(alert) => {
                let outcome = alert.outcome.as_ref().map_or("unknown", |outcome| outcome.outcome.as_str()).replace('_', " ");
                self.tell(Tone::Bad, format!("{subject}: another was first. It is {}, {outcome}; {word} was not recorded.", alert.status));
                self.queue.take_alert(alert);
                self.queue.changed(self.now);
                return self.drop_draft(before.id);
            }
            News::Refused(why) => self.tell(Tone::Bad, format!("{subject}: {word} was not recorded. {why}. It can be resolved again.")),
            News::NothingSoFar(looks) => self.tell(
                Tone::Bad,
                format!("{subject}: nothing has landed so far, after {looks} looks. {word} may still arrive; it is looked at each minute."),
            ),
            News::Unknown(why) => self.tell(Tone::Bad, format!("{subject}: not known whether {word} arrived; it is being checked. {why}")),
        }
        Vec::new()
    }
}

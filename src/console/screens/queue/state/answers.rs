//! Answers of the service to the Queue screen, and what is asked of it when that is due.

use std::time::Duration as Wait;

use chrono::Duration;

use super::{NOT_SORTED, Queue, SEARCH_LASTS};
use crate::{
    Effect, Loadable, Message, Reply,
    domain::{Alert, AlertId, Page, Timestamp, duplicate},
    screens::queue::{facts::Facts, listing::Ticket},
    service::ServiceError,
};

/// Most alerts of which it is remembered that they are duplicates.
const MOST_KNOWN: usize = 10_000;

/// Returns true where an answer may mean that the service does not sort as it was asked to: it names the sort, or
/// nothing at all.
fn may_refuse_order(error: &ServiceError) -> bool {
    let ServiceError::InvalidRequest(errors) = error else { return false };
    let names_sort = errors.iter().any(|error| error.field.to_ascii_lowercase().contains("sort"));
    names_sort || errors.iter().all(|error| matches!(error.field.as_str(), "" | "query"))
}

impl Queue {
    /// Takes in what a service answered, or where the cursor is to go.
    pub fn take(&mut self, message: Message, now: Timestamp) {
        match message {
            Message::Page(ticket, answer) => self.take_page(ticket, answer, now),
            Message::CountedAll(answer) => {
                // While the order is frozen nothing else tells whether the service answers.
                match &answer {
                    Ok(_) if self.frozen => self.link.heard(now),
                    Err(error) if self.frozen => self.list_failed(error.clone(), now),
                    _ => {}
                }
                self.all.answer(answer);
            }
            Message::Sums(filter, answer) => self.sums.took(&filter, answer, now),
            Message::Alert(_, Ok(alert)) => self.take_alert(&alert),
            Message::Concluded(alert) => {
                self.take_alert(&alert);
                self.changed(now);
            }
            // Once it is known, no other call puts off when it is tried again.
            Message::OutOfReach(error) if !self.link.is_unreachable => self.list_failed(error, now),
            Message::Deliveries(id, answer) if self.facts.alert == Some(id) => self.facts.deliveries.answer(answer),
            Message::SameCards(found) => {
                for (id, answer) in found {
                    self.take_same_card(id, answer, now);
                }
            }
            Message::OrdersMatched(found) => {
                for (id, answer) in found {
                    // What could not be looked up is as it was, and of the cursor's alert more is known than of a row.
                    let is_less = |others| self.facts.alert == Some(id) && others < self.facts.others;
                    if let (Some(alert), Some(Ok(matched))) = (self.listing.find(id), &answer)
                        && !is_less(matched.others)
                    {
                        let findings = matched.findings(alert);
                        if self.orders.len() > MOST_KNOWN {
                            self.orders.clear();
                        }
                        self.orders.insert(id, findings);
                    }
                    if self.facts.alert == Some(id) {
                        self.facts.take_orders(answer);
                    }
                }
            }
            Message::Marked(ids, answer) => self.take_marks(&ids, answer),
            _ => {}
        }
    }

    /// Takes in that something changed at the service, and waits for the next change.
    pub fn heard_of_change(&mut self, answer: Reply<u64>, now: Timestamp) -> Vec<Effect> {
        let wait = match answer {
            Ok(number) => {
                self.last_change = number;
                self.changed(now);
                Wait::ZERO
            }
            Err(error) => self.failed(error, now),
        };
        vec![Effect::Watch(self.last_change, wait)]
    }

    fn take_page(&mut self, ticket: Ticket, answer: Reply<Page<Alert>>, now: Timestamp) {
        let incoming = self.incoming.as_mut().filter(|incoming| incoming.id == ticket.listing);
        let is_incoming = incoming.is_some();
        let listing = incoming.unwrap_or(&mut self.listing);
        match listing.accept(ticket, answer) {
            Ok(false) => {}
            Ok(true) => {
                if listing.order != listing.sort && !self.refused_orders.contains(&listing.sort.field) {
                    self.refused_orders.push(listing.sort.field);
                }
                if let Some(incoming) = self.incoming.take_if(|_| is_incoming) {
                    self.take_place(incoming);
                    self.reach_sought();
                }
                self.ask_gone |= self.listing.is_gone();
                self.answered(now);
            }
            // It is asked for again in another order, and said; what else may be wrong with the question is told by the
            // answer to that.
            Err(error) if may_refuse_order(&error) && listing.fall_back() => {}
            Err(error) => self.list_failed(error, now),
        }
    }

    /// The service answers again.
    fn answered(&mut self, now: Timestamp) {
        self.link.heard(now);
        self.link.read_at = Some(now);
        self.before.take_if(|_| self.aside.is_none());
        // What was found of duplicates and orders stands until it is found anew.
        self.compared.clear();
        if !self.listing.is_refreshing() && std::mem::take(&mut self.refresh_again) {
            self.changed(now);
        }
    }

    /// The list could not be read, or not counted.
    fn list_failed(&mut self, error: ServiceError, now: Timestamp) {
        if let Some(incoming) = self.incoming.take() {
            let shown = &self.listing;
            let is_resorted = shown.total.is_some() && incoming.filter == shown.filter;
            if is_resorted {
                self.hints.push(NOT_SORTED);
            } else {
                // Rows of one list under the name of another would be taken for it.
                self.take_place(incoming);
            }
        }
        self.link.is_unreachable = matches!(error, ServiceError::Unreachable(_));
        self.failed(error, now);
    }

    /// The service did not answer; it is asked again after a while. Returns how long.
    fn failed(&mut self, error: ServiceError, now: Timestamp) -> Wait {
        self.refresh_again = false;
        self.link.failed(error, now)
    }

    /// Takes in what an alert looks like now.
    fn take_alert(&mut self, alert: &Alert) {
        self.listing.replace(alert);
        self.marked.replace(alert);
        if let Loadable::Loaded(duplicates) = &mut self.facts.duplicates {
            for duplicate in duplicates.iter_mut().filter(|duplicate| duplicate.id == alert.id) {
                duplicate.clone_from(alert);
            }
        }
    }

    /// Takes in which alerts have duplicates. Where it could not be found out it is asked again when the list is read
    /// again.
    fn take_marks(&mut self, ids: &[AlertId], answer: Reply<Vec<(AlertId, Option<bool>)>>) {
        let Ok(found) = answer else { return };
        self.know_duplicates(ids, found.into_iter().filter_map(|(id, refunded)| Some((id, refunded?))));
    }

    /// Notes which of the alerts that were looked at are one of several on a payment.
    fn know_duplicates(&mut self, looked_at: &[AlertId], found: impl IntoIterator<Item = (AlertId, bool)>) {
        if self.known_duplicates.len() > MOST_KNOWN {
            self.known_duplicates.clear();
        }
        for id in looked_at {
            self.known_duplicates.remove(id);
        }
        self.known_duplicates.extend(found);
    }

    /// Adds the alerts of the list on an alert's payment: it may tell more than a deployment can be asked for.
    fn with_listed(&self, alert: &Alert, mut known: Vec<Alert>) -> Vec<Alert> {
        for other in self.listing.alerts().filter(|other| duplicate::evidence(alert, other).is_some()) {
            if !known.iter().any(|known| known.id == other.id) {
                known.push(other.clone());
            }
        }
        known
    }

    /// Takes in the alerts that were found then on the card of the cursor's alert: those on the same payment are kept.
    fn take_same_card(&mut self, of: AlertId, answer: Reply<Vec<Alert>>, at: Timestamp) {
        if self.facts.alert != Some(of) {
            return;
        }
        let Some(alert) = self.listing.find(of).cloned() else { return };
        let duplicates = answer.map(|found| self.with_listed(&alert, duplicate::of(&alert, &found)));
        if let Ok(duplicates) = &duplicates {
            let refunded = duplicates.iter().any(Alert::refund_is_likely);
            self.know_duplicates(&[of], (!duplicates.is_empty()).then_some((of, refunded)));
        }
        self.facts.take_duplicates(duplicates, at);
    }
}

/// The cursor rests so long on an alert before more is asked about it.
const CURSOR_REST: Duration = Duration::milliseconds(60);

impl Queue {
    /// After every message: asks for what has become visible and is not here, and does what is due.
    pub fn run_due(&mut self, now: Timestamp) -> Vec<Effect> {
        let due = |moment: Option<Timestamp>| moment.is_some_and(|moment| moment <= now);
        let mut effects = Vec::new();
        if due(self.link.retry_due) {
            self.link.retry_due = None;
            effects.extend(self.refresh(now));
        }
        if due(self.refresh_due) {
            match self.link.left_alone(now) {
                Some(until) => self.refresh_due = Some(until),
                None => effects.extend(self.refresh(now)),
            }
        }
        if self.link.retry_due.is_none() {
            effects.extend(self.listing.needs().into_iter().map(Effect::Load));
            if let Some(incoming) = &mut self.incoming {
                effects.extend(incoming.needs().into_iter().map(Effect::Load));
            }
        }
        if let Some(others) = self.facts.others_to_match()
            && let Some(alert) = self.facts.alert.and_then(|id| self.listing.find(id))
        {
            effects.push(Effect::MatchOrders(vec![(alert.clone(), others)], None));
        }
        if std::mem::take(&mut self.ask_gone) && self.listing.is_gone() {
            effects.extend(self.listing.cursor_id.map(Effect::Get));
        }
        let is_new = |alert: &&Alert| alert.outcome.is_none() && !self.compared.contains(&alert.id);
        let new: Vec<Alert> = self.listing.in_sight().filter(is_new).cloned().collect();
        if !new.is_empty() {
            let ids: Vec<AlertId> = new.iter().map(|alert| alert.id).collect();
            self.compared.extend(&ids);
            effects.extend(self.operator.then_some(Effect::Mark(ids)));
            effects.push(Effect::MatchOrders(new.into_iter().map(|alert| (alert, Vec::new())).collect(), None));
        }
        if self.adds_up() {
            effects.extend(self.sums.run_due(&self.listing.filter, now));
        }
        self.note_cursor(now);
        if due(self.facts_due) && self.regions().detail.is_some() {
            self.facts_due = None;
            effects.extend(self.ask_facts(SEARCH_LASTS[0], now));
        }
        effects
    }

    /// When [`Queue::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        let facts = self.facts_due.filter(|_| self.regions().detail.is_some());
        let sums = self.sums.due().filter(|_| self.adds_up());
        [facts, self.refresh_due, self.link.retry_due, sums].into_iter().flatten().min()
    }

    /// Returns true where the service adds up what is listed, which is here.
    fn adds_up(&self) -> bool {
        self.operator && self.listing.total.is_some() && self.listing.chosen.is_none()
    }

    /// Loads what is known around the cursor's alert now: a form is about to open on it.
    pub fn ask_facts_now(&mut self, now: Timestamp) -> Vec<Effect> {
        self.note_cursor(now);
        self.facts_due = None;
        match &self.facts.duplicates {
            Loadable::Loading => Vec::new(),
            Loadable::Loaded(_) if self.operator => Vec::new(),
            _ => self.ask_facts(SEARCH_LASTS[1], now),
        }
    }

    /// Asks what is known around the cursor's alert. A search for duplicates by the interface is made again where the
    /// last one is older than it may be.
    pub(super) fn ask_facts(&mut self, lasts: Duration, now: Timestamp) -> Vec<Effect> {
        let Some(alert) = self.facts.alert.and_then(|id| self.listing.find(id)) else { return Vec::new() };
        let (id, query) = (alert.id, duplicate::query(alert));
        let mut effects = vec![Effect::MatchOrders(vec![(alert.clone(), self.facts.known_others())], None)];
        if self.operator {
            self.facts.deliveries.ask();
            effects.push(Effect::Deliveries(id));
        }
        if !self.operator {
            let known = self.with_listed(alert, self.facts.duplicates.loaded().cloned().unwrap_or_default());
            if !known.is_empty() {
                self.facts.duplicates = Loadable::Loaded(known);
            }
        }
        let is_fresh = self.facts.searched_at.is_some_and(|at| !self.operator && at <= now && now - at < lasts);
        if !is_fresh {
            effects.extend(self.facts.ask_duplicates(id, query, self.operator));
        }
        effects
    }

    fn note_cursor(&mut self, now: Timestamp) {
        let Some(id) = self.listing.cursor_id else { return };
        if self.facts.alert != Some(id) {
            self.facts = Facts::of(id);
            self.facts_due = Some(now + CURSOR_REST);
            self.detail_scroll.reset();
        }
    }
}

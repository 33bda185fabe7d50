//! Rules that answer by themselves: the loop that applies them to open alerts, their state, and their stop.

use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{
    acting::ActingEngine,
    domain::{
        Alert, AlertFilter, AlertQuery, Answers, AttemptId, Environment, OrganizationId, PageRequest, SharedAlert,
        Sort, SortField, SortOrder,
        query::Vocabulary,
        rule::{
            automatic::{AutomaticRule, RuleRecord, RuleState, RuleStatus, RuleTurn, StopReason},
            suggestion,
        },
    },
    engine_rules::CurrentRules,
    handle::{Engine, service_error, wait_for_change},
    providers::Submission,
    service::{Rules, ServiceError},
    store::StoreResult,
};

/// The longest time between two rounds.
const LONGEST: Duration = Duration::from_secs(30);

/// The shortest one: a burst of changes is looked at once.
const SHORTEST: Duration = Duration::from_secs(1);

/// Number of alerts of a rule that are read at once, twice in a round.
const AT_ONCE: u32 = 50;

/// Result of a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnsweredByRules {
    pub answered: u64,
    /// Answers that were not recorded, or not yet.
    pub failed: u64,
}

impl Engine {
    /// Applies the rules to the newest open alerts of each, and to a page of older ones by the number of the round.
    ///
    /// # Errors
    /// When the store cannot do it now; what was done stays done.
    pub async fn answer_by_rules_once(&self, round: u64) -> StoreResult<AnsweredByRules> {
        let mut result = AnsweredByRules::default();
        if self.settings().rules.is_empty() {
            return Ok(result);
        }
        let current = self.settings().rules.current();
        for organization in self.store().organizations().await? {
            let organization = organization.organization.id;
            match &current {
                Ok(rules) => self.apply(organization, rules, round, &mut result).await?,
                Err(why) => self.stop_unreadable(organization, why).await?,
            }
        }
        Ok(result)
    }

    /// Stops the rules whose file cannot be read any more.
    async fn stop_unreadable(&self, organization: OrganizationId, why: &str) -> StoreResult<()> {
        let known = self.store().rules(organization, self.now()).await?;
        for record in known.into_iter().filter(|record| record.stop.is_none() && !record.is_of_all()) {
            tracing::warn!(rule = record.name, why, "an automatic rule stops: its file cannot be read");
            self.store().stop_rules(organization, Some(record.name), StopReason::File, self.now()).await?;
        }
        Ok(())
    }

    async fn apply(
        &self,
        organization: OrganizationId,
        rules: &CurrentRules,
        round: u64,
        result: &mut AnsweredByRules,
    ) -> StoreResult<()> {
        let mut known = self.store().rules(organization, self.now()).await?;
        if rules.automatic.iter().any(|rule| is_news(rule, &known)) {
            let lines = rules.automatic.iter().map(|rule| (rule.rule.name.clone(), rule.hash())).collect();
            self.store().keep_rules(organization, lines, self.now()).await?;
            known = self.store().rules(organization, self.now()).await?;
        }
        for rule in &rules.automatic {
            let record = known.iter().find(|record| record.name == rule.rule.name);
            if record.is_none_or(|record| rule.state(record, self.now()).0 == RuleState::Stopped) {
                continue;
            }
            for alert in self.waiting(organization, rule, round).await? {
                if self.inner.loops.get().is_some_and(CancellationToken::is_cancelled) {
                    return Ok(());
                }
                let first = suggestion(&rules.all, &alert, self.now());
                if first.is_some_and(|first| *first == rule.rule)
                    && !self.take_turn(organization, rule, &alert, result).await?
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Open alerts that match a rule: the newest, and a page of older ones.
    async fn waiting(
        &self,
        organization: OrganizationId,
        rule: &AutomaticRule,
        round: u64,
    ) -> StoreResult<Vec<SharedAlert>> {
        let Some(filter) = rule.rule.waiting(Vocabulary::Desk) else { return Ok(Vec::new()) };
        let filter = AlertFilter { expired: Some(false), ..filter };
        let sort = Sort { field: SortField::CreatedAt, order: SortOrder::Descending };
        let page = |page| AlertQuery { filter: filter.clone(), page: PageRequest { page, size: AT_ONCE }, sort };
        let newest = self.store().list_alerts(organization, &page(0), self.now()).await?;
        let (older, mut alerts) = (newest.total_pages().saturating_sub(1), newest.data);
        if let Some(older) = round.checked_rem(older) {
            alerts.extend(self.store().list_alerts(organization, &page(older + 1), self.now()).await?.data);
        }
        Ok(alerts)
    }

    /// Takes the turn of a rule at an alert; `false` where the rule stops.
    async fn take_turn(
        &self,
        organization: OrganizationId,
        rule: &AutomaticRule,
        alert: &Alert,
        result: &mut AnsweredByRules,
    ) -> StoreResult<bool> {
        let (name, id) = (&rule.rule.name, alert.id);
        if let Some(why) = self.reaches_nobody(alert, rule).await {
            tracing::debug!(rule = name, alert = %id, why, "a rule does not answer");
            return Ok(true);
        }
        match self.store().turn_of_rule(organization, rule.clone(), id, self.now()).await? {
            RuleTurn::Held(why) => tracing::debug!(rule = name, alert = %id, why, "a rule does not answer"),
            RuleTurn::Stop(reason) => {
                tracing::warn!(rule = name, why = reason.words(), "an automatic rule stops");
                self.store().stop_rules(organization, Some(name.clone()), reason, self.now()).await?;
                return Ok(false);
            }
            RuleTurn::Dry => {
                self.store().signed(rule.actor()).note_dry(organization, rule.clone(), id, self.now()).await?;
            }
            RuleTurn::Answer => match self.resolve_by_rule(organization, id, rule).await {
                Some(Ok(_)) => result.answered += 1,
                Some(Err(error)) => {
                    tracing::warn!(rule = name, alert = %id, %error, "the answer of a rule was not recorded");
                    result.failed += 1;
                }
                None => {}
            },
        }
        Ok(true)
    }

    /// Returns why an answer to an alert would reach nobody who waits for it.
    async fn reaches_nobody(&self, alert: &Alert, rule: &AutomaticRule) -> Option<String> {
        let answers = alert.origin.as_ref().map(|origin| origin.answers);
        let by_gateway = !matches!(answers, Some(Answers::Here | Answers::Native));
        let is_played = by_gateway && !self.inner.providers.has_own(&alert.provider);
        if is_played && self.settings().environment == Environment::Production {
            return Some(format!("no gateway takes answers to {}", alert.provider));
        }
        self.closed(&Submission::of(AttemptId::generate(), alert, rule.resolution())).await
    }
}

#[async_trait]
impl Rules for ActingEngine {
    async fn rules(&self) -> Result<Vec<RuleStatus>, ServiceError> {
        let (engine, now) = (&self.engine, self.engine.now());
        let known = engine.store().rules(self.organization(), now).await.map_err(service_error)?;
        let rules = engine.settings().rules.current().map_err(ServiceError::Unavailable)?;
        let status = |rule: &AutomaticRule| {
            let record = known.iter().find(|record| record.name == rule.rule.name && record.hash == rule.hash());
            let stop = known.iter().find(|record| record.is_of_all()).and_then(|record| record.stop);
            rule.status(record.unwrap_or(&rule.unseen(stop, now)), now)
        };
        Ok(rules.automatic.iter().map(status).collect())
    }

    async fn stop_rules(&self) -> Result<(), ServiceError> {
        let (store, now) = (self.store(), self.engine.now());
        store.stop_rules(self.organization(), None, StopReason::Operator, now).await.map_err(service_error)
    }

    async fn start_rules(&self) -> Result<(), ServiceError> {
        self.store().start_rules(self.organization(), self.engine.now()).await.map_err(service_error)
    }
}

/// Returns whether a rule's line is not known, or its file can be read again.
fn is_news(rule: &AutomaticRule, known: &[RuleRecord]) -> bool {
    let record = known.iter().find(|record| record.name == rule.rule.name);
    record.is_none_or(|record| {
        record.hash != rule.hash() || record.stop.is_some_and(|stop| stop.reason == StopReason::File)
    })
}

/// The loop of the rules: a round now and then, and when something has changed.
pub(super) async fn run(engine: Engine, cancel: CancellationToken) {
    let mut changes = engine.store().changes();
    for round in 0.. {
        changes.mark_unchanged();
        if let Err(error) = engine.answer_by_rules_once(round).await {
            tracing::warn!(%error, "the rules could not be applied, trying again");
        }
        if !wait_for_change(&cancel, &mut changes, LONGEST, SHORTEST).await {
            return;
        }
    }
}

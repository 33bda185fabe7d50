//! Rules that the engine answers by: their lines and stops, what they did, and claims within their limits.
//!
//! Claims of an organization's rules come one after the other, so no two of them refund one payment, and the counts of
//! a day are committed with the claim.

use chrono::{NaiveTime, TimeDelta};

use super::{
    alerts::alike,
    attempts::{self, ClaimRequest, open_resolution},
    failing::record_for,
    truth::{others_of_payment, refund_time},
};
use crate::{
    cells::{StoredRow, cell},
    domain::{
        AlertId, Amount, AttemptId, EventKind, EventSubject, OrganizationId,
        attempt::Claim,
        audit::AuditNote,
        duplicate::{Duplicate, DuplicateState},
        is_refund,
        rule::automatic::{
            AutomaticRule, MOST_FAILURES, RuleDay, RuleFacts, RuleRecord, RuleState, RuleStop, RuleTurn, StopReason,
            StoppedRule,
        },
        time::Timestamp,
    },
    error::Work,
    sql::listed,
    units::{UnitOfWork, Way, units},
};

/// Name of the row that stands for all rules.
const ALL: &str = "";

const ANSWER: &str = "answer";
const DRY: &str = "dry";

units! {
    /// Units of work on rules that the engine answers by.
    RuleStore:

    /// Keeps the lines of rules by name and hash; one that is new or has changed is seen from now on. Their file can be
    /// read.
    async fn keep_rules(organization: OrganizationId, [ref] lines: Vec<(String, String)>, now: Timestamp) -> () {
        Way::Visible, organization => keep
    }

    /// The rules that were seen, with what they did.
    async fn rules(organization: OrganizationId, now: Timestamp) -> Vec<RuleRecord> {
        Way::Read, organization => rules
    }

    /// Stops a rule, or all of an organization, and reports it once a day and rule.
    async fn stop_rules(
        organization: OrganizationId,
        [ref] rule: Option<String>,
        reason: StopReason,
        now: Timestamp,
    ) -> () {
        Way::Visible, organization => stop
    }

    /// Starts all rules of an organization again.
    async fn start_rules(organization: OrganizationId, now: Timestamp) -> () {
        Way::Visible, organization => start
    }

    /// The turn of a rule at an alert.
    async fn turn_of_rule(
        organization: OrganizationId,
        [ref] rule: AutomaticRule,
        alert: AlertId,
        now: Timestamp,
    ) -> RuleTurn {
        Way::Read, organization => turn
    }

    /// Notes once what a dry rule would have answered to an alert.
    async fn note_dry(organization: OrganizationId, [ref] rule: AutomaticRule, alert: AlertId, now: Timestamp) -> () {
        Way::Visible, organization => note_dry
    }

    /// Claims the resolution of an alert for a rule, within its limits; `None` where the rule does not answer now.
    async fn claim_by_rule([ref] request: ClaimRequest, [ref] rule: AutomaticRule) -> Option<Claim> {
        Way::Claim => claim
    }
}

async fn keep(unit: &UnitOfWork<'_>, owner: i64, lines: &[(String, String)], now: Timestamp) -> Work<()> {
    if unit.is_beside_service().await? {
        return Ok(());
    }
    let seen = "INSERT INTO rule (organization, name, hash, seen_at) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (organization, name) DO UPDATE SET hash = excluded.hash, seen_at = excluded.seen_at
        WHERE rule.hash <> excluded.hash";
    let readable = "UPDATE rule SET stop_reason = NULL, stopped_at = NULL
        WHERE organization = ?1 AND name = ?2 AND stop_reason = ?3";
    unit.run(seen, &[&owner, &ALL, &"", &now]).await?;
    for (name, hash) in lines {
        unit.run(seen, &[&owner, name, hash, &now]).await?;
        unit.run(readable, &[&owner, name, &StopReason::File]).await?;
    }
    Ok(())
}

async fn rules(unit: &UnitOfWork<'_>, owner: i64, now: Timestamp) -> Work<Vec<RuleRecord>> {
    let mut rules = records(unit, owner).await?;
    for rule in &mut rules {
        rule.today = done_since(unit, owner, &rule.name, ANSWER, midnight(now)).await?;
        rule.would_have_answered = done_since(unit, owner, &rule.name, DRY, rule.seen_at).await?.answered;
    }
    Ok(rules)
}

/// The rules that were seen, without what they did. A stop of all of them is each one's.
async fn records(unit: &UnitOfWork<'_>, owner: i64) -> Work<Vec<RuleRecord>> {
    let rules = "SELECT name, hash, seen_at, stop_reason, stopped_at FROM rule WHERE organization = ?1 ORDER BY name";
    let read = |row: &StoredRow<'_>| {
        let stop = row.get::<Option<_>>(3)?.zip(row.get(4)?).map(|(reason, at)| RuleStop { reason, at });
        let today = RuleDay { answered: 0, amount: Amount::from_micros(0) };
        let (name, hash, seen_at) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(RuleRecord { name, hash, seen_at, stop, today, would_have_answered: 0 })
    };
    let mut rules = unit.all(rules, &[&owner], read).await?;
    let all = rules.iter().find(|rule| rule.is_of_all()).and_then(|rule| rule.stop);
    for rule in &mut rules {
        rule.stop = all.or(rule.stop);
    }
    Ok(rules)
}

/// Begin of the UTC day.
fn midnight(now: Timestamp) -> Timestamp {
    now.date_naive().and_time(NaiveTime::MIN).and_utc()
}

/// Answers of a rule since a moment, given or only noted. What did not reach the network does not count.
async fn done_since(unit: &UnitOfWork<'_>, owner: i64, rule: &str, did: &str, since: Timestamp) -> Work<RuleDay> {
    let done = "SELECT count(*), coalesce(sum(amount), 0)/*+::bigint*/ FROM rule_answer
        WHERE organization = ?1 AND name = ?2 AND did = ?3 AND at >= ?4 AND NOT EXISTS (
            SELECT 1 FROM resolution_attempt r WHERE r.id = rule_answer.attempt AND r.state = 'RELEASED')";
    unit.one(done, &[&owner, &rule, &did, &since], |row| {
        let amount = Amount::from_micros(row.get::<i64>(1)?.into());
        Ok(RuleDay { answered: row.get(0)?, amount })
    })
    .await
}

async fn stop(
    unit: &UnitOfWork<'_>,
    owner: i64,
    rule: &Option<String>,
    reason: StopReason,
    now: Timestamp,
) -> Work<()> {
    if reason == StopReason::File && unit.is_beside_service().await? {
        return Ok(());
    }
    let (name, stop) = (rule.as_deref().unwrap_or(ALL), RuleStop { reason, at: now });
    let stopped = "INSERT INTO rule (organization, name, hash, seen_at, stop_reason, stopped_at)
        VALUES (?1, ?2, '', ?4, ?3, ?4)
        ON CONFLICT (organization, name) DO UPDATE SET stop_reason = excluded.stop_reason,
            stopped_at = excluded.stopped_at
        WHERE rule.stop_reason IS NULL OR rule.stop_reason = 'limit' AND rule.stopped_at < ?5";
    if unit.run(stopped, &[&owner, &name, &reason, &now, &midnight(now)]).await? == 0 {
        return Ok(());
    }
    unit.note(owner, AuditNote::new("rules.stopped", name, reason.words()), now).await?;
    let reported = "UPDATE rule SET reported_at = ?3
        WHERE organization = ?1 AND name <> '' AND (?2 = '' OR name = ?2) AND coalesce(reported_at, 0) < ?4
        RETURNING name";
    let names = unit.all(reported, &[&owner, &name, &now, &midnight(now)], cell::<String>).await?;
    for name in names {
        let subject = StoppedRule { name, stop };
        record_for(unit, owner, &EventKind::RuleStopped, EventSubject::Rule(&subject), None, now).await?;
    }
    Ok(())
}

async fn start(unit: &UnitOfWork<'_>, owner: i64, now: Timestamp) -> Work<()> {
    let started = "UPDATE rule SET stop_reason = NULL, stopped_at = NULL, started_at = ?2 WHERE organization = ?1";
    unit.run(started, &[&owner, &now]).await?;
    unit.note(owner, AuditNote::new("rules.started", "", "all of them"), now).await
}

/// The turn of a rule at an alert: its line, its state, what was done, the guard, and the limits.
async fn turn(
    unit: &UnitOfWork<'_>,
    owner: i64,
    rule: &AutomaticRule,
    alert: AlertId,
    now: Timestamp,
) -> Work<RuleTurn> {
    let held = |why: &str| Ok(RuleTurn::Held(why.to_owned()));
    if unit.is_beside_service().await? {
        return held("a service applies the rules");
    }
    let name = &rule.rule.name;
    let known = records(unit, owner).await?.into_iter().find(|known| known.name == *name);
    let Some(record) = known.filter(|known| known.hash == rule.hash()) else { return held("its line is another one") };
    let did = match rule.state(&record, now).0 {
        RuleState::Stopped => return held("stopped"),
        RuleState::Active => ANSWER,
        RuleState::Dry => DRY,
    };
    let today = done_since(unit, owner, name, did, midnight(now)).await?;
    let Some((alert, alike)) = alike(unit, owner, &[alert]).await?.pop() else { return held("gone") };
    if !rule.rule.filter.matches(&alert, now) {
        return held("it does not match any more");
    }
    // What did not reach the network may be tried again, a minute later.
    let done = "SELECT EXISTS (SELECT 1 FROM rule_answer o JOIN alert a ON a.key = o.alert
            LEFT JOIN resolution_attempt r ON r.id = o.attempt
        WHERE a.organization = ?1 AND a.id = ?2 AND o.name = ?3 AND o.did = ?4
            AND (o.tries >= ?5 OR o.at > ?6 OR r.state IS DISTINCT FROM 'RELEASED'))";
    let lately = now - TimeDelta::minutes(1);
    if alert.outcome.is_some()
        || unit.one(done, &[&owner, &alert.id, name, &did, &MOST_FAILURES, &lately], cell).await?
    {
        return held("done");
    }
    let mut duplicates = Vec::new();
    for other in &alike {
        let coming = open_resolution(unit, owner, other.id).await?.map(DuplicateState::OnItsWay);
        duplicates.extend(Duplicate::of(&alert, other, coming));
    }
    let mut is_refunded_elsewhere = false;
    for other in others_of_payment(unit, owner, &alert).await? {
        let coming = open_resolution(unit, owner, other.id).await?;
        let said = other.outcome.as_ref().map_or("", |outcome| outcome.refunded.as_str());
        is_refunded_elsewhere |= is_refund(&other.status, said) || coming.is_some_and(|said| said.gives_money_back());
    }
    let refund = refund_time(unit, owner, &alert).await?;
    let amount = alert.amount.unwrap_or(Amount::from_micros(0));
    if let Some(why) = rule.objection(&RuleFacts { alert: &alert, duplicates, refund, is_refunded_elsewhere }, now) {
        return Ok(RuleTurn::Held(why));
    }
    let exceeds = rule.exceeds(&today, amount);
    Ok(match did {
        DRY if exceeds => RuleTurn::Held(StopReason::Limit.words().to_owned()),
        DRY => RuleTurn::Dry,
        _ if exceeds => RuleTurn::Stop(StopReason::Limit),
        _ if fails(unit, owner, name).await? => RuleTurn::Stop(StopReason::Failures),
        _ => RuleTurn::Answer,
    })
}

/// Returns whether the last answers of a rule, since it was started, all failed.
async fn fails(unit: &UnitOfWork<'_>, owner: i64, rule: &str) -> Work<bool> {
    let last = "SELECT r.state IN ('RELEASED', 'UNKNOWN', 'PARKED')
        FROM rule_answer a JOIN resolution_attempt r ON r.id = a.attempt
        WHERE a.organization = ?1 AND a.name = ?2 AND a.did = 'answer' AND a.at > coalesce(
            (SELECT started_at FROM rule WHERE organization = ?1 AND name = ?2), 0)
        ORDER BY a.at DESC LIMIT ?3";
    let failed = unit.all(last, &[&owner, &rule, &MOST_FAILURES], cell::<bool>).await?;
    Ok(failed.len() == MOST_FAILURES as usize && failed.iter().all(|failed| *failed))
}

/// Takes the turn of a rule, alone among the organization's rules, and keeps others from claiming an alert on the
/// payment.
async fn turn_alone(
    unit: &UnitOfWork<'_>,
    owner: i64,
    rule: &AutomaticRule,
    alert: AlertId,
    now: Timestamp,
) -> Work<RuleTurn> {
    unit.lock("SELECT name FROM rule WHERE organization = ?1 AND name = '' FOR UPDATE", &[&owner]).await?;
    let mut payment = Vec::new();
    for (alert, alike) in alike(unit, owner, &[alert]).await? {
        payment.extend(others_of_payment(unit, owner, &alert).await?.into_iter().chain(alike).chain([alert]));
    }
    let ids = payment.iter().map(|alert| alert.id.to_string());
    let locked = "SELECT key FROM alert WHERE organization = ?2
            AND id IN (SELECT value::uuid FROM json_array_elements_text(?1::text::json))
        ORDER BY key FOR NO KEY UPDATE";
    unit.lock(locked, &[&listed(&ids.collect::<Vec<_>>()), &owner]).await?;
    turn(unit, owner, rule, alert, now).await
}

async fn note_dry(unit: &UnitOfWork<'_>, owner: i64, rule: &AutomaticRule, alert: AlertId, now: Timestamp) -> Work<()> {
    if turn_alone(unit, owner, rule, alert, now).await? != RuleTurn::Dry {
        return Ok(());
    }
    keep_done(unit, owner, rule, alert, None, now).await?;
    unit.note(owner, AuditNote::would_answer(alert, &rule.resolution()), now).await
}

async fn claim(unit: &UnitOfWork<'_>, request: &ClaimRequest, rule: &AutomaticRule) -> Work<Option<Claim>> {
    let ClaimRequest { organization, alert, attempt, now, .. } = request;
    let owner = unit.owner(*organization).await?;
    if turn_alone(unit, owner, rule, *alert, now.date).await? != RuleTurn::Answer {
        return Ok(None);
    }
    let claimed = attempts::claim(unit, request).await?;
    if let Claim::Claimed { .. } = &claimed {
        keep_done(unit, owner, rule, *alert, Some(*attempt), now.date).await?;
    }
    Ok(Some(claimed))
}

/// Keeps what a rule did with an alert: it answered by an attempt, or was dry.
async fn keep_done(
    unit: &UnitOfWork<'_>,
    owner: i64,
    rule: &AutomaticRule,
    alert: AlertId,
    attempt: Option<AttemptId>,
    now: Timestamp,
) -> Work<()> {
    let kept = "INSERT INTO rule_answer (alert, name, did, organization, at, amount, attempt, tries)
        SELECT key, ?3, ?4, organization, ?5, amount_micros, ?6, 1 FROM alert WHERE organization = ?1 AND id = ?2
        ON CONFLICT (alert, name, did) DO UPDATE SET at = excluded.at, amount = excluded.amount,
            attempt = excluded.attempt, tries = rule_answer.tries + 1";
    let did = if attempt.is_some() { ANSWER } else { DRY };
    unit.run(kept, &[&owner, &alert, &rule.rule.name, &did, &now, &attempt]).await.map(drop)
}

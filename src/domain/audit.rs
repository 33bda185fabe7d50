//! The audit log: who did what, the words for it, the hash chain through its entries, and which of them may be pruned.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::{
    Alert, AlertId, AttemptId, CaCertificates, Credential, CredentialKind, Endpoint, EndpointAuth, EndpointChange,
    EndpointId, IngestReport, RefundProof, Resolution, SalesCount, SigningChange, Timestamp, TruthCounts,
    attempt::word_of, card::mask_card_numbers, sanitize, time::to_iso,
};

/// Actor: who changes something, as the audit log puts it down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// `local`, `key 7Qd2…`, `client avc_live_7Qd2…`, or `avert` for what avert does by itself.
    pub name: String,
    /// Origin: an address, `this machine`, or empty for avert's own actions.
    pub origin: String,
    /// Person named by the caller: an unchecked claim, empty where none was named.
    pub person: String,
    /// Trace context of its request (W3C `traceparent`), empty where it has none.
    pub trace: String,
}

impl Actor {
    /// The origin of what comes from this machine's own command line and console.
    pub const THIS_MACHINE: &str = "this machine";

    /// Returns the actor for avert's own actions.
    pub fn avert() -> Self {
        Self { name: "avert".to_owned(), ..Self::default() }
    }

    /// Returns the actor for work at this machine, by the command line or in the console.
    pub fn at_this_machine() -> Self {
        Self { name: "local".to_owned(), origin: Self::THIS_MACHINE.to_owned(), ..Self::default() }
    }
}

const ALERT_RESOLVED: &str = "alert.resolved";
const ATTEMPT_SETTLED: &str = "attempt.settled";
const WOULD_ANSWER: &str = "rule.would_answer";

/// Action of an entry that records the pruning of entries before it.
const PRUNED: &str = "audit.pruned";

/// Content of an audit log entry: an action, its subject, and details; never a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNote {
    /// Name of the action, such as `key.revoked`.
    pub action: &'static str,
    /// An id.
    pub subject: String,
    pub detail: String,
}

impl AuditNote {
    /// Notes an action on a subject.
    pub fn new(action: &'static str, subject: &(impl ToString + ?Sized), detail: impl Into<String>) -> Self {
        Self { action, subject: subject.to_string(), detail: detail.into() }
    }

    /// Notes an ingested batch; `None` where nothing changed.
    pub fn alerts_taken_in(report: &IngestReport) -> Option<Self> {
        let IngestReport { created, updated, unchanged, .. } = report;
        let detail = format!("{created} created, {updated} updated, {unchanged} unchanged");
        (created + updated > 0).then(|| Self::new("alerts.taken_in", "", detail))
    }

    /// Notes recorded disputes, fraud reports and refunds; `None` where nothing changed.
    pub fn truth_recorded(counts: &TruthCounts) -> Option<Self> {
        let TruthCounts { created, updated, unchanged, matched } = counts;
        let detail = format!("{created} created, {updated} updated, {unchanged} unchanged, {matched} matched");
        (created + updated > 0).then(|| Self::new("reports.taken_in", "", detail))
    }

    /// Notes the proof of a refund beside an alert.
    pub fn refund_recorded(alert: AlertId, proof: &RefundProof) -> Self {
        let money = proof.money().map(|money| format!(" {money}")).unwrap_or_default();
        Self::new("alert.refund_recorded", &alert, format!("{}{money} {}", proof.reference, proof.state.as_str()))
    }

    /// Notes the entered sales of a month.
    pub fn sales_entered(sales: &SalesCount) -> Self {
        Self::new("sales.entered", &format!("{} {}", sales.month, sales.scheme.as_str()), sales.count.to_string())
    }

    /// Notes that an alert got its outcome, by this resolution.
    pub fn alert_resolved(alert: &Alert, resolution: &Resolution) -> Self {
        Self::new(ALERT_RESOLVED, &alert.id, format!("{}: {resolution}", alert.status))
    }

    /// Notes what a dry rule would have answered.
    pub fn would_answer(alert: AlertId, resolution: &Resolution) -> Self {
        Self::new(WOULD_ANSWER, &alert, resolution.to_string())
    }

    /// Notes that a person decided a parked attempt.
    pub fn attempt_settled(attempt: AttemptId, alert: AlertId, applied: bool) -> Self {
        Self::new(ATTEMPT_SETTLED, &attempt, format!("alert {alert}: {}", word_of(applied)))
    }

    /// Notes that the oldest entries were pruned, up to this link, with the number of those of an organization.
    pub fn audit_pruned(entries: i64, through: AuditLink) -> Self {
        let detail =
            format!("{entries} entries up to number {}, whose SHA-256 is {}", through.number, hex(&through.hash));
        Self::new(PRUNED, &through.number, detail)
    }

    /// Notes that access tokens are signed with another key; those of the one before are taken until then.
    pub fn signing_key_rotated(key: &str, before: &str, until: Timestamp) -> Self {
        Self::new("signing_key.rotated", key, format!("tokens of {before} are taken until {}", to_iso(until)))
    }

    /// Notes that a key or client credentials were created.
    pub fn credential_created(credential: &Credential) -> Self {
        match credential.kind {
            CredentialKind::Key(scope) => Self::new("key.created", &credential.id, scope.as_str()),
            CredentialKind::Client => Self::new("client.created", &credential.id, ""),
        }
    }

    /// Notes that a key or client credentials were revoked.
    pub fn credential_revoked(credential: &Credential) -> Self {
        let is_client = credential.kind == CredentialKind::Client;
        Self::new(if is_client { "client.revoked" } else { "key.revoked" }, &credential.id, "")
    }

    /// Notes that an endpoint was changed in the parts of the change; `None` where it has none.
    pub fn endpoint_changed(before: &Endpoint, change: &EndpointChange) -> Option<Self> {
        let credential = |auth: &EndpointAuth| match auth {
            EndpointAuth::Basic { .. } => "credential Basic".to_owned(),
            EndpointAuth::Header { name, .. } => format!("credential {name}"),
        };
        let signing = |signing: &SigningChange| match signing {
            SigningChange::Rotate { overlap, .. } if before.signed => {
                format!("another signing secret, overlap {} h", overlap.num_hours())
            }
            SigningChange::Rotate { .. } => "signed".to_owned(),
            SigningChange::Stop => "no longer signed".to_owned(),
        };
        let certificate = |named: &CaCertificates| if named.is_empty() { "no" } else { "another" };
        let changed = [
            change.url.as_ref().map(|url| format!("url {url}")),
            change.auth.as_ref().map(credential),
            change.signing.as_ref().map(signing),
            change.enabled.map(|enabled| if enabled { "enabled" } else { "disabled" }.to_owned()),
            change.ca_certificate.as_ref().map(|named| format!("{} CA certificate", certificate(named))),
        ];
        let changed: Vec<String> = changed.into_iter().flatten().collect();
        (!changed.is_empty()).then(|| Self::new("endpoint.changed", &before.id, changed.join(", ")))
    }

    /// Notes that an endpoint was disabled automatically.
    pub fn endpoint_disabled(id: EndpointId, reason: &str) -> Self {
        Self::new("endpoint.disabled", &id, reason)
    }
}

/// Entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Number in the log; later ones are larger.
    pub number: u64,
    pub at: Timestamp,
    pub actor: String,
    pub origin: String,
    /// Person named by the caller: a claim, empty where none was named.
    pub person: String,
    /// Name of the action, such as `key.revoked`.
    pub action: String,
    /// Id of its subject.
    pub subject: String,
    /// Details; never a secret.
    pub detail: String,
    /// SHA-256 of the entry before.
    pub previous: [u8; 32],
    /// SHA-256 of this entry.
    pub hash: [u8; 32],
}

impl AuditEntry {
    /// Returns the alert that it is about: its subject, or the one whose parked attempt a person decided.
    pub fn alert(&self) -> Option<AlertId> {
        let id = match self.action.as_str() {
            ATTEMPT_SETTLED => self.detail.strip_prefix("alert ")?.split(':').next()?,
            action if action == WOULD_ANSWER || action.starts_with("alert.") => &self.subject,
            _ => return None,
        };
        id.parse().ok()
    }

    /// Returns true for the entry of a resolved alert.
    pub fn tells_of_resolution(&self) -> bool {
        self.action == ALERT_RESOLVED
    }

    /// Describes the actor: the credential, and behind it the person named by the caller.
    pub fn by_whom(&self) -> String {
        if self.person.is_empty() { self.actor.clone() } else { format!("{} “{}”", self.actor, self.person) }
    }
}

/// Returns the entries about these alerts.
pub fn audit_of(entries: Vec<AuditEntry>, alerts: &[AlertId]) -> Vec<AuditEntry> {
    entries.into_iter().filter(|entry| entry.alert().is_some_and(|alert| alerts.contains(&alert))).collect()
}

/// An entry, as the one after it refers to it. Number 0 is where a log begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditLink {
    pub number: i64,
    pub hash: [u8; 32],
}

/// Unlinked entry of the audit log: all of it but its number and the hash of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlinkedEntry {
    /// Microseconds since 1970.
    pub at: i64,
    /// The number by which the store knows the organization.
    pub organization: i64,
    /// Actor, origin, action, subject, detail.
    pub texts: [String; 5],
    /// Person named by the actor; empty where none was named.
    pub person: String,
}

impl UnlinkedEntry {
    /// Records an action of an actor for an organization.
    pub fn of(organization: i64, by: &Actor, note: AuditNote, now: Timestamp) -> Self {
        Self {
            at: now.timestamp_micros(),
            organization,
            texts: [by.name.clone(), by.origin.clone(), note.action.to_owned(), note.subject, note.detail],
            person: by.person.clone(),
        }
    }

    /// Returns the record that follows `previous`, under a number that was never assigned before.
    pub fn following(self, previous: AuditLink, last_number: i64) -> AuditRecord {
        let number = last_number.max(previous.number) + 1;
        AuditRecord { number, entry: self, previous: previous.hash }
    }
}

/// Hashed record: an entry as it is stored, and as its hash covers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    pub number: i64,
    pub entry: UnlinkedEntry,
    pub previous: [u8; 32],
}

impl AuditRecord {
    /// Returns the SHA-256 of the hash before, the three numbers, and each text with its length before it, so that none
    /// runs into the next. Who the actor says to be is one text more where it was said: entries from before that was
    /// asked keep their hash.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(self.previous);
        let UnlinkedEntry { at, organization, texts, person } = &self.entry;
        for number in [self.number, *at, *organization] {
            hasher.update(number.to_be_bytes());
        }
        let person = Some(person).filter(|person| !person.is_empty());
        for text in texts.iter().chain(person) {
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().into()
    }

    /// Returns true for the entry that records the pruning of all up to this link.
    fn tells_of(&self, pruned: AuditLink) -> bool {
        let [_, _, action, subject, detail] = &self.entry.texts;
        action == PRUNED && *subject == pruned.number.to_string() && detail.contains(&hex(&pruned.hash))
    }
}

/// The result of verifying the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditState {
    /// Every entry follows from the one before.
    Whole {
        /// Number of entries.
        entries: u64,
        /// The number of the newest one; 0 in a log that is still empty.
        newest: u64,
        /// SHA-256 of the newest one. Noted elsewhere, it proves later that nothing up to it was forged.
        hash: [u8; 32],
    },
    /// Something was altered, or is missing.
    Broken {
        /// The entry at which it shows.
        number: u64,
        what: String,
    },
}

/// Chain verification, which detects changes made to the log by hand.
///
/// It detects every alteration, gap, change of order and missing beginning, and a missing end by the number that was
/// assigned last. A writer of the database who forges all of it (every later hash, that number) is detected only by a
/// hash that was noted elsewhere.
#[derive(Debug)]
pub struct AuditCheck {
    start: AuditLink,
    before: AuditLink,
    entries: u64,
    /// True unless the log has lost its beginning, and no entry so far records the pruning.
    told: bool,
}

impl AuditCheck {
    /// Returns a log whose oldest entry follows from this link.
    pub fn from(start: AuditLink) -> Self {
        Self { start, before: start, entries: 0, told: start.number == 0 }
    }

    /// Takes the next entry in, by its number, with the hash that is stored with it.
    ///
    /// # Errors
    /// [`AuditState::Broken`] with the reason.
    pub fn next(&mut self, record: &AuditRecord, hash: [u8; 32]) -> Result<(), AuditState> {
        if record.hash() != hash {
            return Err(broken(record.number, "was altered: its hash does not fit"));
        }
        if record.number > self.before.number + 1 {
            return Err(broken(self.before.number + 1, "is missing"));
        }
        if record.number <= self.before.number || record.previous != self.before.hash {
            return Err(broken(record.number, "does not follow from the one before"));
        }
        self.told |= record.tells_of(self.start);
        self.before = AuditLink { number: record.number, hash };
        self.entries += 1;
        Ok(())
    }

    /// Returns the state of the whole log, given the last number that was assigned.
    pub fn end(self, last_number: i64) -> AuditState {
        let AuditLink { number, hash } = self.before;
        if !self.told {
            return broken(self.start.number, "was taken away with all before it, and no later entry tells of it");
        }
        if last_number > number {
            return broken(number + 1, "is missing at the end");
        }
        if last_number < number {
            return broken(number, "is later than the last one that was written");
        }
        AuditState::Whole { entries: self.entries, newest: number.unsigned_abs(), hash }
    }
}

fn broken(number: i64, what: &str) -> AuditState {
    AuditState::Broken { number: number.unsigned_abs(), what: what.to_owned() }
}

/// Returns the number up to which entries may be pruned: those before the first that is not older than the cut-off.
/// `oldest` are entries from the oldest on: number, microseconds since 1970, action. `None` where only entries about
/// earlier prunings would go: each pruning leaves such an entry, so it would never end.
pub fn prunable(oldest: &[(i64, i64, String)], cut_off: Timestamp) -> Option<i64> {
    let old = |entry: &&(i64, i64, String)| entry.1 < cut_off.timestamp_micros();
    let (mut through, mut worth_it) = (None, false);
    for (number, _, action) in oldest.iter().take_while(old) {
        through = Some(*number);
        worth_it |= action != PRUNED;
    }
    through.filter(|_| worth_it)
}

/// Returns the hexadecimal digits, as `sha256sum` writes them.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The header that carries the name, in lower case.
pub const PERSON_HEADER: &str = "x-avert-user";

/// The most characters of a name.
const MOST_CHARS: usize = 64;

/// ASCII characters that a header cannot hold as they are; everything beyond ASCII is encoded as well.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// Returns a name as it is stored: one line that is safe to show, no full card number, at most 64 characters. It is
/// empty where nothing is left.
pub fn person_name(said: &str) -> String {
    // An overlong text need not be gone through to its end.
    let start: String = said.chars().take(16 * MOST_CHARS).collect();
    let shown: String =
        sanitize::line(&sanitize::stored_line(&start)).chars().filter(|c| !sanitize::is_unsafe(*c)).collect();
    mask_card_numbers(shown.trim()).chars().take(MOST_CHARS).collect::<String>().trim_end().to_owned()
}

/// Returns a name as a header carries it: UTF-8, percent-encoded where it is not plain ASCII; `None` for no name.
pub fn person_header(name: &str) -> Option<String> {
    let name = person_name(name);
    (!name.is_empty()).then(|| utf8_percent_encode(&name, ENCODED).to_string())
}

/// Returns the name that a header carries. Invalid bytes become replacement characters, and never a refusal: a claim is
/// not worth a missed deadline.
pub fn person_of_header(value: &[u8]) -> String {
    person_name(&percent_decode_str(&String::from_utf8_lossy(value)).decode_utf8_lossy())
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ana", "ana")]
    #[case("Ana Perez", "Ana Perez")]
    #[case("Ana Pérez", "Ana P%C3%A9rez")]
    #[case("100% 東京", "100%25 %E6%9D%B1%E4%BA%AC")]
    fn a_name_is_carried_by_a_header_and_read_back(#[case] name: &str, #[case] header: &str) {
        assert_eq!(person_header(name).as_deref(), Some(header));
        assert_eq!(person_of_header(header.as_bytes()), name);
    }

    #[rstest]
    #[case(b"  ", "")]
    #[case(b"%E2%80%AEana%0A%1B[2J", "ana [2J")]
    #[case(b"4111111111111111", "411111******1111")]
    #[case(b"%FF%", "\u{fffd}%")]
    #[case(b"\xe9", "\u{fffd}")]
    fn what_is_said_is_made_fit_to_be_kept(#[case] header: &[u8], #[case] kept: &str) {
        assert_eq!(person_of_header(header), kept);
    }

    #[test]
    fn no_name_is_no_header() {
        assert_eq!(person_header(" \u{200b} "), None);
    }

    proptest! {
        #[test]
        fn every_name_fits_into_a_header_and_comes_back(name in any::<String>()) {
            let kept = person_name(&name);
            prop_assert!(kept.chars().count() <= MOST_CHARS && !kept.contains(sanitize::is_unsafe));
            let header = person_header(&name);
            prop_assert!(header.iter().all(|text| text.bytes().all(|byte| (0x20..0x7f).contains(&byte))));
            prop_assert_eq!(header.map_or_else(String::new, |text| person_of_header(text.as_bytes())), kept);
        }
    }

    const START: AuditLink = AuditLink { number: 0, hash: [0; 32] };

    /// Returns a log of so many entries that follow a link.
    fn log(start: AuditLink, entries: usize) -> Vec<(AuditRecord, [u8; 32])> {
        let mut before = start;
        let next = || {
            let note = AuditNote::new("backup.restored", "", format!("backup {}", before.number));
            let record = UnlinkedEntry::of(1, &Actor::avert(), note, Timestamp::UNIX_EPOCH).following(before, 0);
            before = AuditLink { number: record.number, hash: record.hash() };
            (record, before.hash)
        };
        std::iter::repeat_with(next).take(entries).collect()
    }

    fn check(start: AuditLink, log: &[(AuditRecord, [u8; 32])], last_number: i64) -> AuditState {
        let mut check = AuditCheck::from(start);
        match log.iter().try_for_each(|(record, hash)| check.next(record, *hash)) {
            Ok(()) => check.end(last_number),
            Err(broken) => broken,
        }
    }

    proptest! {
        #[test]
        fn whatever_is_altered_in_an_entry_shows_at_it(at in 0usize..4, part in 0usize..7, text in ".{1,9}") {
            let mut log = log(START, 4);
            let whole = matches!(check(START, &log, 4), AuditState::Whole { entries: 4, newest: 4, .. });
            prop_assert!(whole);
            let record = &mut log[at].0;
            match part {
                5 => record.entry.at += 1,
                6 => record.entry.organization += 1,
                _ => record.entry.texts[part].push_str(&text),
            }

            let found = matches!(check(START, &log, 4), AuditState::Broken { number, .. } if number == at as u64 + 1);
            prop_assert!(found);
        }

        #[test]
        fn whatever_is_taken_out_shows(from in 0usize..4, count in 1usize..4) {
            let mut log = log(START, 4);
            log.drain(from..(from + count).min(4));

            let found = matches!(check(START, &log, 4), AuditState::Broken { number, .. } if number == from as u64 + 1);
            prop_assert!(found);
        }
    }

    #[test]
    fn texts_that_run_into_each_other_are_other_entries() {
        let [(record, hash)] = log(START, 1).try_into().unwrap();
        let [_, origin, rest @ ..] = record.entry.texts.clone();
        let texts: Vec<String> = [String::new(), format!("avert{origin}")].into_iter().chain(rest).collect();
        let entry = UnlinkedEntry { texts: texts.try_into().unwrap(), ..record.entry };
        let shifted = AuditRecord { entry, ..record };

        assert_ne!(shifted.hash(), hash);
    }

    #[test]
    fn who_somebody_said_to_be_cannot_be_changed_added_or_taken_away() {
        let said = |person: &str| {
            let by = Actor { person: person.to_owned(), ..Actor::at_this_machine() };
            UnlinkedEntry::of(1, &by, AuditNote::new("backup.restored", "", "x"), Timestamp::UNIX_EPOCH)
                .following(START, 0)
                .hash()
        };
        let hashes = [said(""), said("ana"), said("omar")];

        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    }

    #[test]
    fn a_log_that_was_pruned_is_whole_only_where_an_entry_tells_of_it() {
        let pruned = AuditLink { number: 7, hash: [3; 32] };
        let [(plain, hash)] = log(pruned, 1).try_into().unwrap();
        let note = AuditNote::audit_pruned(7, pruned);
        let told = UnlinkedEntry::of(1, &Actor::avert(), note, Timestamp::UNIX_EPOCH).following(pruned, 7);

        assert!(matches!(check(pruned, &[(plain, hash)], 8), AuditState::Broken { number: 7, .. }));
        assert!(matches!(
            check(pruned, &[(told.clone(), told.hash())], 8),
            AuditState::Whole { entries: 1, newest: 8, .. }
        ));
    }

    #[test]
    fn entries_go_up_to_the_first_young_one_and_never_those_alone_that_tell_of_prunings() {
        let cut_off = Timestamp::UNIX_EPOCH + TimeDelta::microseconds(10);
        let entry = |number, at, action: &str| (number, at, action.to_owned());
        let (old, young) = (entry(1, 9, "key.created"), entry(2, 10, "key.created"));
        let about = entry(1, 1, PRUNED);

        assert_eq!(prunable(&[old.clone(), young.clone(), entry(3, 1, "key.created")], cut_off), Some(1));
        assert_eq!(prunable(&[young], cut_off), None);
        assert_eq!(prunable(std::slice::from_ref(&about), cut_off), None);
        assert_eq!(prunable(&[about, entry(2, 2, "key.revoked")], cut_off), Some(2));
        assert_eq!(prunable(&[], cut_off), None);
    }

    #[test]
    fn an_intake_is_noted_where_it_changed_something() {
        let noted = |created, updated| {
            let report = IngestReport { created, updated, unchanged: 9, ..IngestReport::default() };
            AuditNote::alerts_taken_in(&report).map(|note| note.detail)
        };

        assert_eq!(noted(2, 3).as_deref(), Some("2 created, 3 updated, 9 unchanged"));
        assert_eq!([noted(1, 0), noted(0, 1), noted(1, 1)].map(|noted| noted.is_some()), [true; 3]);
        assert_eq!(noted(0, 0), None);
    }

    fn endpoint(signed: bool) -> Endpoint {
        Endpoint {
            id: EndpointId::generate(),
            url: crate::url::EndpointUrl::parse("https://a.example/", crate::url::PlainHttp::Allowed).unwrap(),
            auth: "Basic".to_owned(),
            created_at: Timestamp::UNIX_EPOCH,
            disabled: None,
            failing_since: None,
            last_success: None,
            signed,
            old_secret_until: None,
            has_ca_certificate: false,
            subscription: crate::Subscription::default(),
        }
    }

    #[test]
    fn a_change_of_an_endpoint_is_noted_in_what_it_says_and_not_where_that_is_nothing() {
        let rotated =
            || Some(SigningChange::Rotate { secret: crate::Secret::new("whsec_x"), overlap: TimeDelta::hours(24) });
        let noted = |signed, change| AuditNote::endpoint_changed(&endpoint(signed), &change).map(|note| note.detail);

        let change = EndpointChange { enabled: Some(false), signing: rotated(), ..EndpointChange::default() };
        assert_eq!(noted(true, change).as_deref(), Some("another signing secret, overlap 24 h, disabled"));
        let change = EndpointChange { signing: rotated(), ..EndpointChange::default() };
        assert_eq!(noted(false, change).as_deref(), Some("signed"));
        let change = EndpointChange { signing: Some(SigningChange::Stop), ..EndpointChange::default() };
        assert_eq!(noted(true, change).as_deref(), Some("no longer signed"));
        assert_eq!(noted(true, EndpointChange::default()), None);
    }

    #[test]
    fn an_entry_tells_of_a_pruning_only_by_its_action_its_number_and_its_hash() {
        let pruned = AuditLink { number: 7, hash: [3; 32] };
        let note = AuditNote::audit_pruned(7, pruned);
        let told = UnlinkedEntry::of(1, &Actor::avert(), note, Timestamp::UNIX_EPOCH).following(pruned, 7);
        let with = |place: usize, text: &str| {
            let mut record = told.clone();
            text.clone_into(&mut record.entry.texts[place]);
            check(pruned, &[(record.clone(), record.hash())], 8)
        };

        assert!(told.entry.texts[4].ends_with(&"03".repeat(32)), "{}", told.entry.texts[4]);
        for wrong in [with(2, "key.created"), with(3, "8"), with(4, "7 entries up to number 7")] {
            assert!(matches!(wrong, AuditState::Broken { number: 7, .. }), "{wrong:?}");
        }
    }

    #[test]
    fn an_entry_under_a_number_that_is_taken_and_one_behind_the_last_show() {
        let [first, second] = log(START, 2).try_into().unwrap();
        let again = AuditRecord { number: 1, previous: first.1, ..second.0.clone() };
        let again_hash = again.hash();

        let taken_twice = check(START, &[first.clone(), (again, again_hash)], 2);
        let behind_the_last = check(START, &[first, second], 1);

        assert!(
            matches!(&taken_twice, AuditState::Broken { number: 1, what } if what.contains("does not follow")),
            "{taken_twice:?}"
        );
        assert!(
            matches!(&behind_the_last, AuditState::Broken { number: 2, what } if what.contains("later than the last")),
            "{behind_the_last:?}"
        );
    }
}

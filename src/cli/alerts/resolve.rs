//! `avert alerts resolve`: one decision from flags, confirmed, sent once, with the same steps in the desk's journal as
//! from a console.

use std::{collections::HashMap, sync::Arc};

use anyhow::{Context as _, bail};

use super::{
    super::{
        args::AlertResolveArgs,
        ask::confirm,
        context::Context,
        failure::{Misused, Signalled},
        output::printable,
        process::Signals,
        source::{AlertAccess, MeantAlerts},
    },
    answer::{answered, as_decided, card, find_named, in_words, joined, require_name},
    command_journal::CommandJournal,
};
use crate::{
    desk::ledger::{command::CommandDecision, preflight::PreflightResult},
    domain::{
        Alert, Environment, Money, RefundProof, RefundState, Resolution, ResolutionParts, Timestamp, duplicate,
        time::to_iso,
    },
    service::{ServiceError, Truth},
    wire::Dialect,
};

pub(super) async fn run(context: &Context, args: AlertResolveArgs) -> anyhow::Result<()> {
    let name = args.id.as_deref().unwrap_or_default();
    require_name(name)?;
    let source = MeantAlerts::of(context, &args.remote)?.open_as_operator(context).await?;
    source.require_writable()?;
    // Read before anything else: the question has to show the alert.
    let alert = find_named(&source, name, args.provider.as_deref()).await?;
    let id = alert.id;
    let resolution = resolution(&args, source.dialect, alert.money().as_ref())?;
    let refund = refund(&args, &source, &resolution, &alert)?;
    if alert.outcome.is_some() {
        return Err(ServiceError::AlreadyResolved(Box::new(alert)).into());
    }
    let mut decision = CommandDecision::new(alert, resolution);
    let (warnings, mut checked) = warnings(&mut decision, &source).await;
    if args.yes {
        warnings.iter().for_each(|line| say!("warning: {line}"));
    } else {
        confirm(question(&decision.alert, &decision.resolution, &warnings, source.environment)).await?;
        // The question may have stood for long.
        checked = decision.check(&source.sender(), source.history(), &HashMap::new()).await;
    }
    match checked {
        PreflightResult::Answered(alert) => return Err(ServiceError::AlreadyResolved(alert).into()),
        PreflightResult::InPart(why, _) => decision.unlooked = Some(why),
        checked => {
            if let Some(why) = checked.objection() {
                bail!("not sent: {why}");
            }
        }
    }
    let mut signals = Signals::listen()?;
    let (journal, sender) = (CommandJournal::open(&source), source.sender());
    let write = |key: &str, steps| journal.write(key, steps);
    let sent = decision.send(&sender, &*source.clock, signals.next(), write).await;
    let landed = sent.map_err(Signalled).inspect_err(|_| {
        say!(
            "the decision may have left, and its answer was not waited for: `avert alerts show {id}` tells what became \
             of it"
        );
    })??;
    if landed.found {
        say!("the alert is {}", as_decided());
    }
    let mut kept = None;
    if let Some((truth, proof)) = refund.filter(|_| landed.alert.was_refunded()) {
        let words = format!("the answer is recorded, and its refund reference is not: give it to alert {id} again");
        kept = Some(truth.keep_refund(id, proof).await.context(words)?);
    }
    let answer = answered(&landed, kept, source.now())?;
    source.close();
    context.output.print(&answer)
}

/// Returns the proof of the refund that the flags name, and what keeps it.
fn refund(
    args: &AlertResolveArgs,
    source: &AlertAccess,
    resolution: &Resolution,
    alert: &Alert,
) -> anyhow::Result<Option<(Arc<dyn Truth>, RefundProof)>> {
    let Some(reference) = args.refund_reference.clone() else { return Ok(None) };
    if !resolution.gives_money_back() {
        refuse!("--refund-reference goes with --refunded refunded");
    }
    let missing = || misused!("--refund-reference: kept by an avert only, with an operator's key");
    let truth = source.deployment.truth.clone().ok_or_else(missing)?;
    let (amount, currency) = alert.money().map(|money| (money.amount, money.currency)).unzip();
    // That it succeeded the payment provider tells.
    let proof = RefundProof { reference, amount, currency, state: RefundState::Pending };
    let proof = proof.validate().map_err(|error| misused!("--refund-reference: {}", error.message))?;
    Ok(Some((truth, proof)))
}

/// Reads the decision of the flags in the dialect's words; all errors are reported at their flags.
fn resolution(args: &AlertResolveArgs, dialect: Dialect, disputed: Option<&Money>) -> Result<Resolution, Misused> {
    let refunded = args.refunded.as_deref().unwrap_or_default();
    let parts = parts(refunded, args.resolution.as_deref(), args.amount_stopped.as_deref(), args.comments.as_deref());
    if dialect == Dialect::Current && parts.amount_stopped.is_some() {
        refuse!("--amount-stopped is for the older dialect (--dialect older)");
    }
    Resolution::from_parts(parts, dialect, disputed)
        .map_err(|errors| Misused(errors.iter().map(in_words).collect::<Vec<_>>().join("; ")))
}

/// Normalizes the parts of a decision as they were typed: words in any letter case, also with hyphens, as in
/// not-refunded.
pub(super) fn parts(
    refunded: &str,
    resolution: Option<&str>,
    amount_stopped: Option<&str>,
    comments: Option<&str>,
) -> ResolutionParts {
    let spelled = |text: &str, gap: char| text.trim().to_ascii_uppercase().replace(['-', '_', ' '], &gap.to_string());
    ResolutionParts {
        refunded: Some(spelled(refunded, ' ')),
        resolution: resolution.map(|text| spelled(text, '_')),
        amount_stopped: amount_stopped.map(str::to_owned),
        comments: comments.unwrap_or_default().to_owned(),
    }
}

/// Describes an alert that has expired, or that expects no answer; `None` for others.
pub(super) fn unanswerable(alert: &Alert, now: Timestamp) -> Option<String> {
    if alert.is_closed(now) {
        let end = alert.expired_at.or_else(|| alert.deadline.moment());
        let end = end.map_or_else(String::new, |end| format!(", {}", to_iso(end)));
        return Some(format!("the window has closed{end}"));
    }
    alert
        .alert_type
        .is_notice()
        .then(|| format!("a notice ({}): no answer is asked for", printable(alert.alert_type.words())))
}

/// Describes the fields that a search for the same payment left uncompared, where it went by the interface alone.
pub(super) fn not_compared(source: &AlertAccess, alert: &Alert) -> Option<String> {
    // A local engine compares all that it has.
    duplicate::not_compared(alert).filter(|_| source.deployment.duplicates.is_none())
}

/// Describes the network's rule that has probably refunded an alert already.
pub(super) fn rule_in_words(alert: &Alert) -> Option<String> {
    let name = alert.rule_name.as_deref().map(|name| format!(" {:?}", printable(name))).unwrap_or_default();
    alert.network_rule_applied().then(|| format!("its network's rule{name} has probably refunded it already"))
}

/// Returns the question that confirms the decision, with the alert and the warnings.
fn question(alert: &Alert, resolution: &Resolution, warnings: &[String], environment: Option<Environment>) -> String {
    let about = [
        alert.provider.to_string(),
        alert.alert_type.words().to_owned(),
        alert.money().map(|money| money.to_string()).unwrap_or_default(),
        alert.merchant_descriptor.clone(),
        card(alert),
    ];
    let comments = match resolution.comments() {
        "" => String::new(),
        comments => format!("\ncomments: {}", comments.lines().map(printable).collect::<Vec<_>>().join(" / ")),
    };
    let warnings: String = warnings.iter().map(|line| format!("\n{line}")).collect();
    format!(
        "{}{}\n{}\n{resolution}{comments}{warnings}\nThis is final. Send it? [y/N] ",
        alert.id,
        match environment {
            Some(Environment::Production) => " (PRODUCTION)",
            Some(Environment::Sandbox) => " (sandbox)",
            None => "",
        },
        printable(&joined(about))
    )
}

/// Returns what speaks against a decision, a line each, and the result of the preflight check. A refund that is told is
/// known from then on.
async fn warnings(decision: &mut CommandDecision, source: &AlertAccess) -> (Vec<String>, PreflightResult) {
    let mut warnings: Vec<String> = unanswerable(&decision.alert, source.now()).into_iter().collect();
    if decision.resolution.gives_money_back() {
        warnings.extend(rule_in_words(&decision.alert));
        warnings.extend(not_compared(source, &decision.alert));
    }
    loop {
        let checked = decision.check(&source.sender(), source.history(), &HashMap::new()).await;
        match &checked {
            PreflightResult::Refunded(other, _) => decision.known.alerts.push(other.id),
            // The shop's order may be what speaks against it: that is asked of once.
            PreflightResult::Against(_) if !decision.known.by_order => decision.known.by_order = true,
            PreflightResult::InPart(why, _) => {
                warnings.push(format!("alerts on the same payment could not be looked for: {why}"));
                return (warnings, checked);
            }
            _ => return (warnings, checked),
        }
        warnings.extend(checked.objection());
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::resolution::{Decision, InvalidReason};
    use crate::domain::{AlertId, AlertType, Currency, Provider};

    fn args(refunded: &str, resolution: Option<&str>) -> AlertResolveArgs {
        AlertResolveArgs {
            refunded: Some(refunded.to_owned()),
            resolution: resolution.map(str::to_owned),
            ..AlertResolveArgs::default()
        }
    }

    #[rstest]
    #[case("REFUNDED", None, Decision::Refunded)]
    #[case("not-refunded", None, Decision::NotRefunded)]
    #[case("NOT REFUNDED", None, Decision::NotRefunded)]
    #[case("invalid", Some("not-refunded-duplicate"), Decision::Invalid(InvalidReason::Duplicate))]
    fn words_may_be_typed_as_flags_are(
        #[case] refunded: &str,
        #[case] reason: Option<&str>,
        #[case] decision: Decision,
    ) {
        let said = resolution(&args(refunded, reason), Dialect::Current, None).unwrap();

        assert_eq!(said, Resolution::Current { decision, comments: String::new() });
    }

    #[rstest]
    #[case(args("maybe", None), Dialect::Current, "--refunded: \"MAYBE\"")]
    #[case(args("invalid", None), Dialect::Current, "--resolution: is required")]
    #[case(args("refunded", None), Dialect::Older, "--resolution: is required")]
    #[case(AlertResolveArgs { amount_stopped: Some("5".into()), ..args("refunded", None) }, Dialect::Current,
        "--amount-stopped is for the older")]
    #[case(AlertResolveArgs { amount_stopped: Some("11".into()), ..args("refunded", Some("partially-stopped")) },
        Dialect::Older, "--amount-stopped: 11")]
    #[case(AlertResolveArgs { amount_stopped: Some("x".into()), ..args("refunded", Some("stopped")) },
        Dialect::Older, "--amount-stopped: \"x\"")]
    #[case(AlertResolveArgs { comments: Some("x".repeat(251)), ..args("refunded", None) }, Dialect::Current,
        "--comments: has 251")]
    fn what_is_wrong_is_told_at_its_flag(
        #[case] args: AlertResolveArgs,
        #[case] dialect: Dialect,
        #[case] words: &str,
    ) {
        let disputed = Money { amount: "10".parse().unwrap(), currency: Currency::new("EUR") };

        let Misused(error) = resolution(&args, dialect, Some(&disputed)).unwrap_err();

        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn the_question_says_what_is_sent_about_what_and_where() {
        let alert = Alert {
            merchant_descriptor: "ACME\u{1b}[2J".to_owned(),
            amount: Some("129.9".parse().unwrap()),
            ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        };
        let said = Resolution::Current {
            decision: Decision::Invalid(InvalidReason::Duplicate),
            comments: "see\nother".to_owned(),
        };

        let question = question(
            &alert,
            &said,
            &["possible double refund: VERIFI 7 is refunded".to_owned()],
            Some(Environment::Production),
        );

        for text in [
            "(PRODUCTION)",
            "Confirmed fraud, 129.90",
            "INVALID, NOT_REFUNDED_DUPLICATE",
            "see / other",
            "possible double refund: VERIFI 7",
            "final",
        ] {
            assert!(question.contains(text), "{text:?} is not in {question}");
        }
        assert!(!question.contains('\u{1b}'));
    }
}

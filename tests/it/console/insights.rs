//! The Insights screen: the pace and what lapses at it, of the alerts that the Queue is filtered to; sales that are
//! entered; and what is said where it cannot be known.

use avert::{
    console::{SessionInfo, message::Message},
    desk::{JournalDecision, JournalStep, JournalWriter, WholeJournal},
    domain::{
        Alert, AlertId, AlertStatus, AlertType, AnswerKind, CardScheme, Currency, Deadline, HeldCount, Outcome,
        Provider, Resolution, SalesCount, Timestamp, resolution::Decision, time::Clock,
    },
    service::ServiceError,
};
use chrono::Duration;
use crossterm::event::MouseEventKind;
use uuid::Uuid;

use super::{
    fake::morning,
    rig::{Made, Rig, assert_screens, clock, screens},
};

/// A morning, and some weeks before it that were answered or missed.
pub fn weeks(now: Timestamp) -> Vec<Alert> {
    let mut alerts = morning(now);
    let sample = alerts[0].clone();
    for number in 0..180u64 {
        let ago = Duration::minutes(i64::try_from(90 + number * 211).unwrap());
        let mut alert = Alert {
            id: AlertId(Uuid::from_u128(u128::from(number) + 5_000)),
            provider: [Provider::Ethoca, Provider::Verifi, Provider::Cdrn][usize::try_from(number % 3).unwrap()]
                .clone(),
            alert_time: Some(now - ago - Duration::hours(3)),
            status: AlertStatus::Resolved,
            ..sample.clone()
        };
        if number % 17 == 0 {
            alert.status = AlertStatus::Expired;
            alert.expired_at = Some(now - ago);
        } else {
            let (status, refunded) = if number % 5 == 0 {
                (AlertStatus::Chargeback, "not refunded")
            } else {
                (AlertStatus::Resolved, "refunded")
            };
            alert.status = status;
            let took = Duration::minutes(i64::try_from(number % 170 + 4).unwrap());
            alert.outcome = Some(Outcome {
                alert_id: alert.id,
                outcome: "resolved".to_owned(),
                refunded: refunded.to_owned(),
                action_time: alert.alert_time.map(|at| at + took),
                ..Outcome::default()
            });
        }
        alerts.push(alert);
    }
    alerts
}

/// One decision each so many minutes until now.
pub fn recorded(minutes: i64, count: i64, now: Timestamp) -> Vec<Timestamp> {
    (0..count).map(|number| now - Duration::minutes(number * minutes)).collect()
}

/// The desk has recorded a decision at each of these moments.
fn worked(moments: Vec<Timestamp>) -> Message {
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    let desk = JournalWriter { session: Uuid::from_u128(7), place: "acme-eu".to_owned(), user: None };
    let steps = moments.into_iter().zip(0..).flat_map(|(at, number)| {
        let said = JournalDecision::of(&Alert { id: AlertId::generate(), ..Alert::sample() }, &refunded);
        let steps = [JournalStep::staged(said, None), JournalStep::Recorded { status: "RESOLVED".to_owned() }];
        steps.map(|step| desk.entry(at, Some(format!("worked-{number}")), step))
    });
    Message::JournalRead(Ok(WholeJournal { entries: steps.collect(), unreadable: Vec::new() }))
}

/// The desk records a decision each so many minutes, and has these sales counts.
pub fn figures(rig: &mut Rig, minutes: i64, sales: Vec<SalesCount>) {
    rig.update(worked(recorded(minutes, 30, clock().now())));
    rig.service.sales.lock().unwrap().clone_from(&sales);
    rig.update(Message::Sales(Ok(sales)));
}

pub fn sales(month: &str, scheme: CardScheme, count: u64) -> SalesCount {
    SalesCount { month: month.parse().unwrap(), scheme, count, entered_at: clock().now() - Duration::days(1) }
}

fn open(made: Made) -> Rig {
    let mut rig = made.start();
    rig.press("2");
    rig
}

fn whole() -> Rig {
    open(Made { size: (200, 60), ..Made::of(weeks(clock().now())) })
}

/// How many alerts wait and lapse so many minutes from now, each with a thousand euros.
fn waiting(count: u128, minutes: i64) -> Vec<Alert> {
    let sample = morning(clock().now())[0].clone();
    let one = |number| Alert {
        id: AlertId(Uuid::from_u128(number)),
        deadline: Deadline::At(clock().now() + Duration::minutes(minutes)),
        amount: Some("1000".parse().unwrap()),
        ..sample.clone()
    };
    (1..=count).map(one).collect()
}

fn line(rig: &mut Rig, words: &str) -> String {
    let screen = rig.screen();
    screen.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("no {words}:\n{screen}")).to_owned()
}

#[test]
fn the_sentence_says_how_many_will_lapse_at_this_pace() {
    let mut rig = open(Made::of(waiting(33, 119)));

    figures(&mut rig, 5, Vec::new());

    // They lapse about 16:07, and 24 can be done until then, one each five minutes.
    assert!(
        line(&mut rig, "33 due within").contains("33 due within 4 h, you do 12 an hour: 9 will expire"),
        "{}",
        rig.screen()
    );
}

#[test]
fn where_all_can_be_done_it_says_until_when() {
    let mut rig = open(Made::of(waiting(6, 200)));

    figures(&mut rig, 5, Vec::new());

    // Half an hour's work from 18:03, where the analyst sits.
    assert!(line(&mut rig, "6 due within").contains("you do 12 an hour: all can be done by 14:33"), "{}", rig.screen());
}

#[test]
fn without_ten_minutes_of_work_there_is_no_pace_yet() {
    let mut rig = open(Made::of(waiting(3, 100)));
    let few = recorded(3, 4, clock().now());

    rig.update(worked(few));

    assert!(line(&mut rig, "3 due within").contains("3 due within 4 h   Pace: shown after 10 minutes of work"));
    assert!(!rig.screen().contains("an hour"));
}

#[test]
fn money_is_told_in_the_currency_of_most_alerts_and_never_cut_however_large() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut alerts = waiting(4, 100);
        for (alert, (amount, currency)) in alerts.iter_mut().zip([
            ("9000000000000.50", "EUR"),
            ("9000000000000.75", "EUR"),
            ("8123456789012.345", "KWD"),
            ("7999999999999", "JPY"),
        ]) {
            alert.amount = Some(amount.parse().unwrap());
            alert.currency = Currency::new(currency);
        }
        let mut rig = open(Made { size, ..Made::of(alerts) });

        let screen = rig.screen();

        assert!(screen.contains("18,000,000,000,001.25 EUR + 2 currencies"), "{size:?}:\n{screen}");
    }
}

#[test]
fn an_amount_that_is_not_known_is_in_no_sum_and_is_said() {
    let mut alerts = waiting(2, 100);
    alerts[0].amount = None;
    let mut rig = open(Made::of(alerts));

    let row = line(&mut rig, "at risk within 4 h");

    assert!(row.contains("1,000.00 EUR  1 without an amount"), "{row}");
}

#[test]
fn what_lapses_is_told_by_the_hour_of_the_clock_in_its_heading() {
    let mut rig = whole();

    let screen = rig.screen();

    // 14:45 UTC, by the analyst's own clock.
    let first = screen.lines().position(|line| line.contains("DUE BY HOUR")).unwrap() + 1;
    let row = screen.lines().nth(first).unwrap();
    assert!(row.trim_start().starts_with("before 15:00") && row.contains("129.90 EUR"), "{row}");
}

#[test]
fn sales_that_were_entered_are_measured_by() {
    let mut rig = whole();
    assert!(rig.screen().contains("Visa: no sales of November 2026"), "{}", rig.screen());

    figures(&mut rig, 5, vec![sales("2026-11", CardScheme::Visa, 20_000)]);

    assert!(rig.screen().contains("Visa sales of November 2026: 20,000, entered 2026-11-19"), "{}", rig.screen());
    assert!(line(&mut rig, "US, CA, EU, AP").contains("Visa VAMP, EU/US"));
    assert!(rig.screen().contains("Mastercard: no sales of October 2026"));
}

#[test]
fn what_the_thresholds_are_counted_by_is_said() {
    let mut rig = whole();
    let without = rig.screen();

    *rig.service.feeds.lock().unwrap() = (true, true);
    rig.advance(Duration::seconds(31));

    let by_alerts = ["No dispute of this month names a scheme", "fraud alerts count"];
    assert!(by_alerts.iter().all(|words| without.contains(words)), "{without}");
    assert!(rig.screen().contains("Chargebacks are this month's disputes that name a scheme."), "{}", rig.screen());
    assert!(rig.screen().contains("Visa fraud is this month's fraud reports that name a scheme."), "{}", rig.screen());
}

#[test]
fn answers_that_were_disputed_afterwards_are_counted_each_way() {
    let of = |issuer: &str, answer, minutes, answered, disputed| HeldCount {
        network: Provider::Ethoca,
        issuer: issuer.to_owned(),
        answer,
        minutes,
        answered,
        disputed,
    };
    let made = Made { size: (200, 60), ..Made::of(weeks(clock().now())) };
    let mut rig = made.start();
    *rig.service.held.lock().unwrap() = vec![
        of("HSBC", AnswerKind::Refunded, Some(240), 150, 3),
        of("Chase", AnswerKind::NotRefunded, Some(15), 50, 10),
        of("HSBC", AnswerKind::Refunded, None, 50, 0),
    ];

    rig.press("2");

    for (row, told) in [
        ("all", "all 250 13 5.2 %"),
        ("REFUNDED", "REFUNDED 200 3 1.5 %"),
        ("NOT REFUNDED", "NOT REFUNDED 50 10 20.0 %"),
        ("Chase", "Chase 50 10 20.0 %"),
        ("4h before due", "4h before due 150 3 2.0 %"),
        ("no deadline", "no deadline 50 0 0.0 %"),
    ] {
        let screen = rig.screen();
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(screen.lines().any(|line| squeezed(line).contains(told)), "{row}:\n{screen}");
    }
}

#[test]
fn a_gauge_is_red_where_a_programme_applies() {
    let now = clock().now();
    let mut alerts = morning(now);
    let sample = alerts[0].clone();
    alerts.extend((0..200u128).map(|number| Alert {
        id: AlertId(Uuid::from_u128(9_000 + number)),
        status: AlertStatus::Chargeback,
        alert_time: Some(now - Duration::hours(2)),
        ..sample.clone()
    }));
    let mut rig = open(Made { size: (200, 60), ..Made::of(alerts) });

    figures(&mut rig, 5, vec![sales("2026-11", CardScheme::Visa, 10_000)]);

    // Reports of fraud count beside the chargebacks that came of them.
    let row = line(&mut rig, "VAMP, CEMEA");
    assert!(row.contains("4.04 % of 2.20 %  404 of 150 "), "{row}");
}

#[test]
fn a_ratio_a_hair_below_its_bound_reads_as_below_it_and_neither_as_lower_nor_as_reached() {
    let now = clock().now();
    let sample = morning(now).remove(0);
    let alerts = (0..200u128).map(|number| Alert {
        id: AlertId(Uuid::from_u128(9_000 + number)),
        status: AlertStatus::Chargeback,
        alert_time: Some(now - Duration::hours(2)),
        ..sample.clone()
    });
    let mut rig = open(Made { size: (200, 60), ..Made::of(alerts.collect()) });

    // 400 of them are 2.19998 %.
    figures(&mut rig, 5, vec![sales("2026-11", CardScheme::Visa, 18_182)]);

    let row = line(&mut rig, "VAMP, CEMEA");
    assert!(row.contains(" <2.20 % of 2.20 %  400 of 150 "), "{row}");
}

#[test]
fn a_gauge_is_of_what_decides_whichever_bound_is_passed_beside_it() {
    let now = clock().now();
    let sample = morning(now).remove(0);
    let alerts = (0..40u128).map(|number| Alert {
        id: AlertId(Uuid::from_u128(9_000 + number)),
        status: AlertStatus::Chargeback,
        alert_time: Some(now - Duration::hours(2)),
        ..sample.clone()
    });
    let mut rig = open(Made { size: (200, 60), ..Made::of(alerts.collect()) });

    // 80 of 1,200 are 6.67 %, and far from 1,500.
    figures(&mut rig, 5, vec![sales("2026-11", CardScheme::Visa, 1_200)]);

    let row = line(&mut rig, "VAMP, EU/US");
    let told: Vec<&str> = row.split_whitespace().collect();
    assert!(told.join(" ").contains("6.67 % of 1.50 % 80 of 1,500 ▆ US"), "{row}");
}

#[test]
fn what_cannot_be_read_is_said_and_what_was_read_stays() {
    let mut rig = whole();
    rig.service.set_down(Some(ServiceError::Unavailable("the database is busy".to_owned())));

    rig.press("ctrl-r");

    assert!(line(&mut rig, "  Insights   ▲").contains("▲ stale since 14:03"), "{}", rig.screen());
    assert!(rig.screen().contains("DUE BY HOUR"));
}

#[test]
fn where_nothing_was_ever_read_it_says_why() {
    let mut rig = Made { down: true, ..Made::default() }.start();

    rig.press("2");

    assert!(rig.screen().contains("Insights cannot be shown: "), "{}", rig.screen());
}

#[test]
fn another_deployments_lists_are_read_within_a_bound_which_is_said() {
    let now = clock().now();
    let place = SessionInfo { name: "acme-eu".to_owned(), remote: true, ..SessionInfo::default() };
    let mut alerts = waiting(2_500, 100);
    alerts.iter_mut().for_each(|alert| alert.alert_time = Some(now));
    let mut rig = open(Made { operator: false, place, size: (200, 60), ..Made::of(alerts) });

    let screen: String = rig.screen().split_whitespace().collect::<Vec<_>>().join(" ");

    assert!(screen.contains("2,000 due within 4 h"), "{screen}");
    assert!(screen.contains("Not available here."), "{screen}");
    assert!(screen.contains("▲ Not all of 2,500 open alerts were read."), "{screen}");
    assert!(screen.contains("▲ Answers are those of the newest 1,000 of 2,500 alerts."), "{screen}");
}

#[test]
fn that_nothing_lapses_is_never_said_of_alerts_that_were_not_read() {
    let place = SessionInfo { name: "acme-eu".to_owned(), remote: true, ..SessionInfo::default() };
    let mut alerts = waiting(1_200, 100);
    alerts.iter_mut().for_each(|alert| alert.alert_type = AlertType::VerifiDisputeNotice);
    let mut rig = open(Made { operator: false, place, size: (200, 60), ..Made::of(alerts) });

    let screen = rig.screen();

    assert!(screen.contains("nothing read due within 4 h"), "{screen}");
    assert!(screen.contains("▲ Not all of 1,200 open alerts were read."), "{screen}");
    assert!(screen.contains("Nothing read can expire.") && !screen.contains("whole hours"), "{screen}");
}

#[test]
fn a_small_deployments_lists_tell_what_its_counts_would() {
    let mut counted = whole();
    let mut listed = open(Made { operator: false, size: (200, 60), ..Made::of(weeks(clock().now())) });

    let told = |rig: &mut Rig| {
        let screen = rig.screen();
        let body = screen
            .lines()
            .skip_while(|line| !line.contains("within 4 h"))
            .map(|line| line.split("ANSWERS THAT HELD").next().unwrap_or_default().trim_end().to_owned());
        // What held and the thresholds are counted by an avert alone.
        body.take_while(|line| !line.contains("today")).collect::<Vec<_>>()
    };

    assert_eq!(told(&mut counted), told(&mut listed));
}

#[test]
fn it_is_read_again_while_it_is_looked_at_and_not_behind_another_screen() {
    let mut rig = whole();
    let asked = |rig: &Rig| rig.service.scopes.lock().unwrap().len();
    let first = asked(&rig);

    rig.advance(Duration::seconds(61));
    let while_shown = asked(&rig);
    rig.press("1");
    rig.advance(Duration::minutes(5));

    assert_eq!((first, while_shown - first, asked(&rig) - while_shown), (1, 2, 0));
}

#[test]
fn what_does_not_fit_is_scrolled_to() {
    let mut rig = open(Made { size: (80, 24), ..Made::of(weeks(clock().now())) });
    assert!(rig.screen().contains("within 4 h") && !rig.screen().contains("WHAT CANNOT"));

    rig.press("G");
    assert!(rig.screen().contains("SCHEME THRESHOLDS"), "{}", rig.screen());
    rig.press("g j");
    rig.mouse(MouseEventKind::ScrollDown, 10, 10);
    let scrolled = rig.screen();
    rig.press("k k k k k k k k");

    assert!(!scrolled.contains("due within") && rig.screen().contains("due within"));
}

#[test]
fn the_last_seven_days_have_a_row_each() {
    let mut rig = open(Made { size: (200, 60), ..Made::of(weeks(clock().now())) });

    let screen = rig.screen();

    let first = screen.lines().position(|line| line.contains("ANSWERED PER DAY")).unwrap() + 2;
    let days: Vec<&str> = screen.lines().skip(first).take(7).map(str::trim_start).collect();
    assert!(days[0].starts_with("today") && days[6].starts_with("14 Nov"), "{screen}");
}

fn pictures(name: &str, made: impl Fn() -> Made, state: impl Fn(&mut Rig)) {
    let taken = screens(|size| {
        let mut rig = open(Made { size, ..made() });
        state(&mut rig);
        rig
    });
    assert_screens!(name, taken);
}

/// Of another deployment, which is read by its lists.
fn elsewhere() -> Made {
    let place = SessionInfo { remote: true, ..Made::default().place };
    let mut alerts = waiting(2_500, 100);
    alerts.iter_mut().for_each(|alert| alert.alert_time = Some(clock().now()));
    Made { operator: false, place, ..Made::of(alerts) }
}

#[test]
fn another_deployment_in_pictures() {
    pictures("elsewhere", elsewhere, |_| {});
    pictures("elsewhere-end", elsewhere, |rig| {
        rig.draw();
        rig.press("G");
    });
}

#[test]
fn what_cannot_be_read_in_pictures() {
    pictures("unread", || Made { down: true, ..Made::default() }, |_| {});
    pictures(
        "stale",
        || Made::of(weeks(clock().now())),
        |rig| {
            rig.service.set_down(Some(ServiceError::Unavailable("the database is busy".to_owned())));
            rig.press("ctrl-r");
        },
    );
}

#[test]
fn gauges_in_pictures() {
    let made = || {
        let sample = morning(clock().now()).remove(0);
        let fraud = (0..200u128).map(move |number| Alert {
            id: AlertId(Uuid::from_u128(9_000 + number)),
            status: AlertStatus::Chargeback,
            alert_time: Some(clock().now() - Duration::hours(2)),
            ..sample.clone()
        });
        Made::of(weeks(clock().now()).into_iter().chain(fraud).collect())
    };
    // Where they are far down they are scrolled to, with their heading.
    pictures("gauges", made, |rig| {
        let sales = [sales("2026-11", CardScheme::Visa, 10_000), sales("2026-10", CardScheme::Mastercard, 3_100)];
        figures(rig, 5, sales.to_vec());
        rig.draw();
        rig.press("G");
        for _ in 0..40 {
            if !rig.screen().contains("SCHEME THRESHOLDS") {
                rig.press("k");
            }
        }
    });
}

//! `avert orders import`: the shop's orders from a CSV, kept by the desk of a profile.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use avert::{
    desk::Desk,
    domain::{Alert, AlertId, AlertType, Provider},
};
use serde_json::{Value, json};

use crate::support::{
    binary::{run, run_ok},
    operations::refused,
};

const ID: &str = "018f0000-0000-7000-8000-000000000001";

fn file(home: &Path, text: &str) -> String {
    let file = home.join("orders.csv");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The order that an alert with this transaction has on a desk.
fn order_on(desk: PathBuf, transaction: &str) -> Option<String> {
    let alert = Alert {
        transaction_id: Some(transaction.to_owned()),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    };
    let matched = Desk::open(desk).unwrap().orders().unwrap()?.matches(&alert).unwrap();
    matched.matches.into_iter().next().map(|found| found.order.order_id)
}

#[test]
fn orders_are_brought_in_and_brought_up_to_date_and_the_counts_are_those_of_import() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(
        home.path(),
        "order_id,transaction_id,amount,currency,state\nA-1,T-1,129.90,EUR,paid\nA-2,T-2,5,EUR,paid\n",
    );
    let first: Value =
        serde_json::from_str(&run_ok(home.path(), &["orders", "import", &orders, "--output", "json"])).unwrap();
    let orders = file(home.path(), "order_id,state\nA-1,shipped\nA-2,paid\nA-3,paid\n");

    let second: Value = serde_json::from_str(&run_ok(home.path(), &["orders", "import", &orders])).unwrap();

    assert_eq!(first, json!({"created": 2, "updated": 0, "unchanged": 0, "rejected": 0}));
    assert_eq!(second, json!({"created": 1, "updated": 1, "unchanged": 1, "rejected": 0}));
    assert_eq!(order_on(home.path().join("desk"), "t-1").as_deref(), Some("A-1"));
    assert!(!home.path().join("avert.db").exists(), "no engine is made for it");
}

#[test]
fn a_row_that_is_wrong_is_told_with_its_line_and_the_rest_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let text = "order_id,transaction_id,card_bin,amount,currency\nA-1,T-1,4111111111111111,10.00,EUR\nA-2,T-2,,ten,\
        EUR\n,T-3,,,\n";
    let rejects = home.path().join("rejects.ndjson");
    let orders = file(home.path(), text);

    let output = run(home.path(), &["orders", "import", &orders, "--rejects", rejects.to_str().unwrap()]);

    let said = refused(&output, 1);
    assert!(
        said.contains("line 3: amount is \"ten\": a decimal such as 129.90")
            && said.contains("line 4: order_id is missing"),
        "{said}"
    );
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts, json!({"created": 1, "updated": 0, "unchanged": 0, "rejected": 2}));
    assert_eq!(fs::read_to_string(rejects).unwrap().lines().count(), 2);
    for entry in fs::read_dir(home.path().join("desk")).unwrap() {
        let path = entry.unwrap().path();
        let kept = fs::read(&path).unwrap();
        assert!(!kept.windows(16).any(|bytes| bytes == b"4111111111111111"), "{}", path.display());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
}

#[test]
fn the_header_of_a_column_is_named_once_and_kept_for_files_with_the_same_first_row() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "Name;Id;Transaction Id;State\n#1001;7;T-1;paid\n");
    let unnamed = refused(&run(home.path(), &["orders", "import", &orders]), 2);

    run_ok(home.path(), &["orders", "import", &orders, "--map", "order_id=Name"]);
    let again = run(home.path(), &["orders", "import", &orders]);
    let other = file(home.path(), "Name;Id;Transaction Id;Total;State\n#1002;8;T-2;5;paid\n");
    let other = refused(&run(home.path(), &["orders", "import", &other]), 2);

    assert!(unnamed.contains("--map order_id=Header; the first row has \"Name\", \"Id\""), "{unnamed}");
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.success() && said.contains("order_id is the column \"Name\", as named before"), "{said}");
    assert!(said.contains("ignored columns: \"Id\""), "{said}");
    assert!(!other.contains("named before"), "{other}");
    assert_eq!(order_on(home.path().join("desk"), "T-1").as_deref(), Some("#1001"));
}

#[test]
fn a_header_is_taken_back_though_the_file_cannot_be_read_without_it() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "Name;State\n#1001;paid\n");
    run_ok(home.path(), &["orders", "import", &orders, "--map", "order_id=Name"]);

    let taken_back = refused(&run(home.path(), &["orders", "import", &orders, "--map", "order_id="]), 2);
    let after = refused(&run(home.path(), &["orders", "import", &orders]), 2);

    let unnamed = "--map order_id=Header; the first row has \"Name\", \"State\"";
    assert!(
        taken_back.contains(unnamed) && after.contains(unnamed) && !after.contains("named before"),
        "{taken_back}\n{after}"
    );
}

#[test]
fn a_header_that_is_not_in_the_file_is_misuse_and_is_not_kept() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "order_id,ref,state\nA-1,R,paid\n");

    let wrong = refused(&run(home.path(), &["orders", "import", &orders, "--map", "arn=Reference"]), 2);
    let unknown = refused(&run(home.path(), &["orders", "import", &orders, "--map", "colour=ref"]), 2);
    let after = run(home.path(), &["orders", "import", &orders]);

    assert!(
        wrong.contains("there is no column \"Reference\" for arn: the first row has \"order_id\", \"ref\", \"state\""),
        "{wrong}"
    );
    assert!(
        unknown.contains("there is no column \"colour\"") && unknown.contains("order_id, transaction_id"),
        "{unknown}"
    );
    assert!(after.status.success() && !String::from_utf8_lossy(&after.stderr).contains("named before"));
}

#[test]
fn a_profile_has_orders_of_its_own_and_no_credential_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key");
    fs::write(&key, "k").unwrap();
    let url = "https://shop.example";
    let add = [
        "profiles",
        "add",
        "shop",
        "--url",
        url,
        "--environment",
        "sandbox",
        "--api-key-file",
        key.to_str().unwrap(),
        "--plain-secrets",
    ];
    run_ok(home.path(), &add);
    fs::remove_file(home.path().join(".config/avert/secrets.toml")).unwrap();
    let orders = file(home.path(), "order_id,transaction_id\nA-1,T-1\n");

    run_ok(home.path(), &["orders", "import", &orders, "--profile", "shop"]);
    run_ok(home.path(), &["orders", "import", &orders, "--url", "http://elsewhere.example/x"]);

    let desk = home.path().join("desk");
    assert_eq!(order_on(desk.join("profiles/shop/shop.example"), "T-1").as_deref(), Some("A-1"));
    assert_eq!(order_on(desk.join("hosts/elsewhere.example%2fx"), "T-1").as_deref(), Some("A-1"));
    assert_eq!(order_on(desk, "T-1"), None);
    refused(&run(home.path(), &["orders", "import", &orders, "--profile", "none"]), 3);
}

#[test]
fn an_empty_file_is_no_failure_and_no_file_is_misuse() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "\n");

    let output = run(home.path(), &["orders", "import", &orders]);

    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("nothing to import"));
    refused(&run(home.path(), &["orders", "import", "/nowhere/orders.csv"]), 2);
}

#[test]
fn alerts_are_found_by_the_id_of_an_order_that_they_match() {
    let home = tempfile::tempdir().unwrap();
    let alerts = home.path().join("alerts.ndjson");
    let row = |id: &str, transaction: &str| {
        json!({"provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD",
        "providerId": id, "amount": "129.90", "currency": "EUR", "transactionId": transaction})
    };
    fs::write(&alerts, format!("{}\n{}\n", row("E-1", "T-77123"), row("E-2", "T-99456"))).unwrap();
    run_ok(home.path(), &["import", alerts.to_str().unwrap()]);
    let orders = file(home.path(), "order_id,transaction_id,amount,currency,state\nSHOP-5,T-77123,129.90,EUR,paid\n");
    run_ok(home.path(), &["orders", "import", &orders]);

    let output = run(home.path(), &["alerts", "find", "shop-5", "--output", "json"]);
    let none = run_ok(home.path(), &["alerts", "find", "shop-6", "--output", "json"]);

    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found.as_array().unwrap().iter().map(|alert| alert["providerId"].clone()).collect::<Vec<_>>(), ["E-1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("alerts that the shop's order SHOP-5 matches: 1"), "{said}");
    assert_eq!(none.trim(), "[]");
}

#[test]
fn a_header_that_was_named_once_does_not_have_to_be_in_every_file() {
    let home = tempfile::tempdir().unwrap();
    let whole = file(home.path(), "Name,Total,currency,transaction_id\nA-1,5,EUR,T-1\n");
    run_ok(home.path(), &["orders", "import", &whole, "--map", "order_id=Name", "--map", "amount=Total"]);
    let states = file(home.path(), "order_id,state\nA-1,refunded\n");

    let output = run(home.path(), &["orders", "import", &states]);

    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("as named before"), "{said}");
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts, json!({"created": 0, "updated": 1, "unchanged": 0, "rejected": 0}));
}

#[test]
fn a_refund_of_an_order_that_was_refunded_is_warned_of_and_refused_in_a_file() {
    let home = tempfile::tempdir().unwrap();
    let alert = json!({"id": ID, "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": "E-1",
        "amount": "9.90",
        "currency": "EUR", "transactionId": "T-1", "hoursLeft": 9});
    let (alerts, from) = (home.path().join("alerts.json"), home.path().join("decisions.ndjson"));
    fs::write(&alerts, alert.to_string()).unwrap();
    fs::write(&from, json!({"id": ID, "refunded": "REFUNDED"}).to_string()).unwrap();
    run_ok(home.path(), &["import", alerts.to_str().unwrap()]);
    let orders = file(home.path(), "order_id,transaction_id,state,state_at\nA-1,T-1,refunded,2026-01-01T10:00:00Z\n");
    run_ok(home.path(), &["orders", "import", &orders]);

    let many = run(home.path(), &["alerts", "resolve", "--from", from.to_str().unwrap(), "--dry-run"]);
    let one = run(home.path(), &["alerts", "resolve", ID, "--refunded", "refunded", "--yes"]);

    let [told, warned] = [String::from_utf8_lossy(&many.stdout), String::from_utf8_lossy(&one.stderr)];
    assert!(told.contains("order A-1 was refunded before the alert") && many.status.code() == Some(1), "{told}");
    assert!(
        warned.contains("warning: possible double refund: order A-1 was refunded before the alert")
            && one.status.success(),
        "{warned}"
    );
}

#[test]
fn a_refunded_order_that_another_alert_names_and_a_rule_of_the_network_hold_a_refund_back_in_a_file() {
    let home = tempfile::tempdir().unwrap();
    let on_one_payment = |id: &str, provider: &str, more: Value| {
        let mut alert = json!({"provider": provider, "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": id,
            "amount": "9.90",
            "currency": "EUR", "cardBin": "411111", "cardLastFour": "4242", "hoursLeft": 9});
        alert.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        alert
    };
    let ruled = json!({"provider": "VERIFI", "type": "VERIFI_DISPUTE", "providerId": "R-1", "amount": "5",
        "currency": "EUR",
        "ruleName": "Above 10", "hoursLeft": 9});
    let alerts = [
        on_one_payment("E-1", "ETHOCA", json!({})),
        on_one_payment("V-1", "CDRN", json!({"transactionId": "T-1"})),
        ruled,
    ];
    let (file_of_alerts, from) = (home.path().join("alerts.json"), home.path().join("decisions.ndjson"));
    fs::write(&file_of_alerts, alerts.iter().map(|alert| format!("{alert}\n")).collect::<String>()).unwrap();
    let refund =
        |provider: &str, id: &str| json!({"provider": provider, "providerId": id, "refunded": "REFUNDED"}).to_string();
    fs::write(&from, format!("{}\n{}\n", refund("ETHOCA", "E-1"), refund("VERIFI", "R-1"))).unwrap();
    run_ok(home.path(), &["import", file_of_alerts.to_str().unwrap()]);
    let orders = file(home.path(), "order_id,transaction_id,state,state_at\nA-1,T-1,refunded,2026-01-01T10:00:00Z\n");
    run_ok(home.path(), &["orders", "import", &orders]);

    let many = run(home.path(), &["alerts", "resolve", "--from", from.to_str().unwrap(), "--yes"]);
    let one = run(home.path(), &["alerts", "resolve", "R-1", "--refunded", "refunded", "--yes"]);

    let [told, warned] = [String::from_utf8_lossy(&many.stdout), String::from_utf8_lossy(&one.stderr)];
    assert!(told.contains("order A-1 was refunded before the alert") && many.status.code() == Some(1), "{told}");
    assert!(told.contains("rule \\\"Above 10\\\" has probably refunded it already"), "{told}");
    assert!(!told.contains("recorded"), "{told}");
    assert!(warned.contains("warning: its network's rule \"Above 10\" has probably refunded it already"), "{warned}");
}

#[test]
fn the_orders_of_one_organization_are_none_of_anothers() {
    let home = tempfile::tempdir().unwrap();
    let alert = json!({"provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": "E-1", "amount": "9.90",
        "currency": "EUR",
        "transactionId": "T-1", "hoursLeft": 9});
    let alerts = home.path().join("alerts.json");
    fs::write(&alerts, alert.to_string()).unwrap();
    let old = file(home.path(), "order_id,transaction_id,state\nOLD-1,T-1,paid\n");
    run_ok(home.path(), &["orders", "import", &old]);
    run_ok(home.path(), &["organizations", "create", "second"]);
    for organization in ["default", "second"] {
        run_ok(home.path(), &["import", alerts.to_str().unwrap(), "--organization", organization]);
    }
    let orders = file(home.path(), "order_id,transaction_id,state,state_at\nNEW-1,T-1,refunded,2026-01-01T10:00:00Z\n");

    let unnamed = refused(&run(home.path(), &["orders", "import", &orders]), 2);
    run_ok(home.path(), &["orders", "import", &orders, "--organization", "second"]);

    let found = |organization: &str, order: &str| {
        let told = run_ok(home.path(), &["alerts", "find", order, "--organization", organization, "--output", "json"]);
        serde_json::from_str::<Value>(&told).unwrap().as_array().unwrap().len()
    };
    let refund = |organization: &str| {
        let output = run(
            home.path(),
            &["alerts", "resolve", "E-1", "--refunded", "refunded", "--yes", "--organization", organization],
        );
        String::from_utf8_lossy(&output.stderr).contains("order NEW-1 was refunded before the alert")
    };
    assert!(unnamed.contains("organization must be named: there are default, second"), "{unnamed}");
    assert_eq!([found("default", "old-1"), found("second", "old-1")], [1, 0]);
    assert_eq!([found("default", "new-1"), found("second", "new-1")], [0, 1]);
    assert_eq!([refund("default"), refund("second")], [false, true]);
}

#[test]
fn an_organization_is_not_named_for_the_orders_of_another_deployment() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "order_id\nA-1\n");

    let output =
        run(home.path(), &["orders", "import", &orders, "--url", "https://alerts.example", "--organization", "second"]);

    assert!(refused(&output, 2).contains("--organization is for this machine's own alerts"));
}

#[test]
fn lines_that_end_with_a_carriage_return_alone_are_lines() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "order_id,state\rA-1,paid\rA-2,paid\r");

    let counts: Value = serde_json::from_str(&run_ok(home.path(), &["orders", "import", &orders])).unwrap();

    assert_eq!(counts["created"], 2);
}

#[test]
fn a_file_of_which_only_ids_are_understood_is_not_taken_in_and_says_what_was_missed() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "order_id,transaction_id,Betrag,Zustand\nA-1,T-1,5,bezahlt\n");

    let said = refused(&run(home.path(), &["orders", "import", &orders]), 1);

    assert!(said.contains("ignored columns: \"Betrag\", \"Zustand\"") && said.contains("--map"), "{said}");
    assert_eq!(order_on(home.path().join("desk"), "T-1"), None);
}

/// The header of Shopify's export, and rows of it by some of its columns.
fn shopify(rows: &[&[(&str, &str)]]) -> String {
    const HEADER: &str = "Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Accepts \
        Marketing,Currency,Subtotal,Shipping,\
        Taxes,Total,Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem \
        price,Lineitem compare \
        at price,Lineitem sku,Lineitem requires shipping,Lineitem taxable,Lineitem fulfillment status,Billing \
        Name,Billing Street,Billing \
        Address1,Billing Address2,Billing Company,Billing City,Billing Zip,Billing Province,Billing Country,Billing \
        Phone,Shipping Name,\
        Shipping Street,Shipping Address1,Shipping Address2,Shipping Company,Shipping City,Shipping Zip,Shipping \
        Province,Shipping Country,\
        Shipping Phone,Notes,Note Attributes,Cancelled at,Payment Method,Payment Reference,Refunded \
        Amount,Vendor,Outstanding Balance,\
        Employee,Location,Device ID,Id,Tags,Risk Level,Source,Lineitem discount,Tax 1 Name,Tax 1 Value,Tax 2 Name,Tax \
        2 Value,Tax 3 Name,\
        Tax 3 Value,Tax 4 Name,Tax 4 Value,Tax 5 Name,Tax 5 Value,Phone,Receipt Number,Duties,Billing Province \
        Name,Shipping Province Name,\
        Payment ID,Payment Terms Name,Next Payment Due At,Payment References";
    csv_of(HEADER, rows)
}

fn csv_of(header: &str, rows: &[&[(&str, &str)]]) -> String {
    let cells = |row: &&[(&str, &str)]| {
        let cell = |name: &str| row.iter().find(|(column, _)| *column == name).map_or("", |(_, cell)| *cell);
        header.split(',').map(cell).collect::<Vec<_>>().join(",")
    };
    std::iter::once(header.to_owned()).chain(rows.iter().map(cells)).map(|line| line + "\n").collect()
}

/// Shows a file by a dry run.
fn understood(home: &Path, text: &str, more: &[&str]) -> (Value, String) {
    let orders = file(home, text);
    let output = run(home, &[&["orders", "import", &orders, "--dry-run", "--output", "json"], more].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}")), said)
}

#[test]
fn an_export_of_shopify_is_read_by_its_header_and_an_order_of_several_rows_is_one() {
    let home = tempfile::tempdir().unwrap();
    let paid = [
        ("Currency", "EUR"),
        ("Total", "129.90"),
        ("Paid at", "2026-11-20 21:03:12 +0100"),
        ("Refunded Amount", "0.00"),
    ];
    let first = [
        &paid[..],
        &[("Name", "#1001"), ("Financial Status", "paid"), ("Fulfillment Status", "fulfilled"), ("Id", "55")],
    ]
    .concat();
    let first = [&first[..], &[("Fulfilled at", "2026-11-21 09:00:00 +0100"), ("Payment Reference", "c1.1")]].concat();
    let item = [("Name", "#1001"), ("Created at", "2026-11-20 21:00:00 +0100"), ("Lineitem name", "Cup")];
    let part = [
        &paid[..],
        &[("Name", "#1002"), ("Financial Status", "partially_refunded"), ("Fulfillment Status", "unfulfilled")],
    ]
    .concat();
    let gone = [&paid[..], &[("Name", "#1003"), ("Financial Status", "refunded"), ("Fulfillment Status", "fulfilled")]]
        .concat();
    let void = [("Name", "#1004"), ("Financial Status", "voided"), ("Cancelled at", "2026-11-22 08:00:00 +0100")];
    let open = [("Name", "#1005"), ("Financial Status", "pending")];
    let text = shopify(&[&first, &item, &part, &gone, &void, &open]);

    let (orders, said) = understood(home.path(), &text, &[]);
    let nothing = order_on(home.path().join("desk"), "c1.1");
    let counts: Value =
        serde_json::from_str(&run_ok(home.path(), &["orders", "import", &file(home.path(), &text)])).unwrap();

    let states: Vec<_> =
        orders.as_array().unwrap().iter().map(|order| (order["order_id"].as_str(), order["state"].as_str())).collect();
    let expected = [
        ("#1001", Some("shipped")),
        ("#1002", Some("paid")),
        ("#1003", Some("refunded")),
        ("#1004", Some("cancelled")),
        ("#1005", None),
    ];
    assert_eq!(states, expected.map(|(id, state)| (Some(id), state)));
    let facts = json!([
        orders[0]["transaction_id"],
        orders[0]["amount"],
        orders[0]["paid_at"],
        orders[0]["state_at"],
        orders[3]["state_at"]
    ]);
    let times = ["2026-11-20T20:03:12.000Z", "2026-11-21T08:00:00.000Z", "2026-11-22T07:00:00.000Z"];
    assert_eq!(facts, json!(["c1.1", "129.90", times[0], times[1], times[2]]));
    assert!(
        said.contains("read as Shopify orders")
            && said.contains("ignored columns: \"Email\"")
            && !said.contains("not there"),
        "{said}"
    );
    assert_eq!(nothing, None);
    assert_eq!(counts, json!({"created": 5, "updated": 0, "unchanged": 0, "rejected": 0}));
    assert_eq!(order_on(home.path().join("desk"), "c1.1").as_deref(), Some("#1001"));
}

#[test]
fn exports_of_woocommerce_are_read_by_the_number_that_customers_quote() {
    let home = tempfile::tempdir().unwrap();
    let common = "Order ID,Order Number,Order Status,Order Date,Paid Date,Order Total,Order Currency,Transaction \
        ID,Billing Email\n\
        77,10626,wc-completed,2026-11-20,2026-11-20,129.90,EUR,T-1,a@shop.example\n78,10627,On \
        hold,2026-11-20,,5.00,EUR,,\n\
        79,10628,Packing,2026-11-21,,5.00,EUR,,\n";
    let webtoffee = "order_id,order_number,order_date,paid_date,status,shipping_total,order_total,order_currency,\
        payment_method,transaction_id\n\
        77,10626,2026-11-20 21:03,2026-11-20 21:04,completed,0,129.90,EUR,stripe,T-1\n";
    let advanced = "\"Order Number\",\"Order Status\",\"Order Date\",\"Customer Note\",\"Item #\",\"Order Refund \
        Amount\",\"Order Total Amount\"\n\
        10626,Completed,2026-11-20,,1,0,129.90\n10626,Completed,2026-11-20,,2,0,129.90\n";
    let core = "Date,\"Order #\",Status,Customer,\"Customer type\",Product(s),\"Items sold\",Coupon(s),\"Net Sales\"\n\
        \"2026-11-20 21:03:12\",10626,processing,A,new,Cup,1,,129.90\n";

    let [common, zoned, advanced] = [(common, "UTC"), (webtoffee, "+01:00"), (advanced, "UTC")]
        .map(|(text, zone)| understood(home.path(), text, &["--zone", zone]));
    let core_open = refused(&run(home.path(), &["orders", "import", &file(home.path(), core), "--dry-run"]), 1);
    let core = understood(home.path(), core, &["--zone", "UTC"]);

    let first = |(orders, _): &(Value, String)| {
        json!([orders[0]["order_id"], orders[0]["state"], orders[0]["amount"], orders[0]["paid_at"]])
    };
    assert_eq!(first(&common), json!(["10626", "shipped", "129.90", "2026-11-20T00:00:00.000Z"]));
    assert_eq!(first(&zoned), json!(["10626", "shipped", "129.90", "2026-11-20T20:04:00.000Z"]));
    assert_eq!(first(&advanced), json!(["10626", "shipped", null, "2026-11-20T00:00:00.000Z"]));
    assert_eq!(first(&core), json!(["10626", "paid", null, "2026-11-20T21:03:12.000Z"]));
    assert!(common.1.contains("unknown status \"Packing\"") && common.0[2]["state"].is_null(), "{}", common.1);
    assert!(advanced.1.contains("amounts are left out") && advanced.0.as_array().unwrap().len() == 1, "{}", advanced.1);
    assert!(core_open.contains("--zone"), "{core_open}");
}

#[test]
fn exports_of_stripe_tell_their_zone_and_rows_without_a_payment_are_left_out() {
    let home = tempfile::tempdir().unwrap();
    let unified = "id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Converted \
        Amount,Description,Fee,Refunded date (UTC),\
        Statement Descriptor,Status,Card ID,Card Last4,order_id (metadata)\n\
        ch_1,2026-11-20 21:03:12,\"1,299.00\",0.00,eur,true,1299.00,x,1,,ACME*SHOP,Paid,card_1,4242,A-1\n\
        ch_2,2026-11-20 21:04:12,5.00,5.00,eur,true,5.00,x,1,2026-11-22 08:00,ACME*SHOP,Refunded,card_1,0042,A-2\n\
        ch_3,2026-11-20 21:05:12,5.00,0.00,eur,false,5.00,x,1,,ACME*SHOP,Failed,card_1,4242,A-3\n";
    let charges = "id,Description,Created (UTC),Amount,Amount Refunded,Currency,Mode,Status,Statement Descriptor,Card \
        ID,Card Last4,Invoice ID\n\
        ch_4,x,2026-11-20 21:03,12.00,2.00,usd,Live,Partially Refunded,ACME,card_1,4242,\n";

    let (unified, said) = understood(home.path(), unified, &[]);
    let (charges, missed) = understood(home.path(), charges, &[]);

    let of = |order: &Value| {
        ["order_id", "transaction_id", "amount", "state", "paid_at", "state_at"].map(|field| order[field].clone())
    };
    let times = [
        "2026-11-20T21:03:12.000Z",
        "2026-11-20T21:04:12.000Z",
        "2026-11-22T08:00:00.000Z",
        "2026-11-20T21:03:00.000Z",
    ];
    assert_eq!(json!(of(&unified[0])), json!(["A-1", "ch_1", "1299.00", "paid", times[0], null]));
    assert_eq!(json!(of(&unified[1])), json!(["A-2", "ch_2", "5.00", "refunded", times[1], times[2]]));
    assert!(unified.as_array().unwrap().len() == 2 && said.contains("1 rows left out"), "{said}");
    assert_eq!(json!(of(&charges[0])), json!(["ch_4", "ch_4", "12.00", "paid", times[3], null]));
    assert!(missed.contains("read as Stripe payments"), "{missed}");
}

#[test]
fn a_preset_can_be_forced_by_its_name() {
    let home = tempfile::tempdir().unwrap();
    let text = "Name,Total,Currency\n#1001,5.00,EUR\n";

    let (orders, _) = understood(home.path(), text, &["--preset", "shopify"]);
    let unknown = refused(&run(home.path(), &["orders", "import", "x", "--preset", "ebay"]), 2);

    assert_eq!(orders, json!([{"order_id": "#1001", "amount": "5.00", "currency": "EUR"}]));
    assert!(unknown.contains("shopify, woocommerce, stripe are there"), "{unknown}");
}

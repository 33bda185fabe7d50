//! The README's first steps with alerts of one's own, on a desk in PostgreSQL: schema, webhook, import, key, service,
//! list, decision.

use serde_json::{Value, json};

use crate::support::{cluster::Cluster, operations::alerts, receiver::Receiver, terminal::Terminal};

#[tokio::test(flavor = "multi_thread")]
async fn the_first_steps_lead_where_they_do_on_a_file() {
    let Some(cluster) = Cluster::empty().await else { return };
    let receiver = Receiver::start().await;
    let file = cluster.home("a").join("alerts.ndjson");
    std::fs::write(&file, alerts(1..=3)).unwrap();
    let run = |arguments: &[&str]| cluster.run_ok("a", arguments);
    let told =
        |arguments: &[&str]| serde_json::from_str::<Value>(&run(&[arguments, &["--output", "json"]].concat())).unwrap();

    run(&["migrate"]);
    run(&["webhooks", "add", &receiver.url(), "--basic", "shop:hunter22"]);
    let imported = told(&["import", file.to_str().unwrap()]);
    let key = run(&["keys", "create"]);
    let server = cluster.serve("a", &[]);
    let client = reqwest::Client::new();
    let url = format!("{}/api/v1/alerts", server.url);
    let list =
        async || client.get(&url).header("X-API-KEY", key.trim()).send().await.unwrap().json::<Value>().await.unwrap();
    let page = list().await;
    let id = page["data"][1]["id"].as_str().unwrap().to_owned();
    let decision = client.put(format!("{url}/{id}/resolution")).header("X-API-KEY", key.trim());
    let decided = decision.json(&json!({"refunded": "REFUNDED", "comments": "back"})).send().await.unwrap();
    let status = decided.status();
    let heard = receiver.wait_for(4).await;

    assert_eq!(imported["created"], 3);
    assert_eq!((page["total"].as_u64(), status.as_u16()), (Some(3), 200), "{page}");
    let mut events: Vec<String> = heard.iter().map(crate::support::receiver::Request::event).collect();
    events.sort();
    assert_eq!(events, ["alert.created", "alert.created", "alert.created", "alert.resolved"]);
    let shown = told(&["alerts", "show", &id]);
    assert_eq!((&shown["status"], &shown["outcome"]["refunded"]), (&json!("RESOLVED"), &json!("refunded")), "{shown}");
    assert_eq!(told(&["alerts", "list", "status:open"])["total"], 2);
    assert_eq!(told(&["alerts", "list", "--q", "SHOP 2"])["total"], 1);
    assert_eq!(run(&["alerts", "export"]).lines().count(), 3);
    let resolved =
        run(&["alerts", "resolve", page["data"][0]["id"].as_str().unwrap(), "--refunded", "not-refunded", "--yes"]);
    assert!(!resolved.is_empty());
    assert_eq!(receiver.wait_for(5).await.len(), 5);
    assert_eq!(server.terminate(), Some(0));
    run(&["doctor"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_works_on_the_database_and_sees_what_a_node_does() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let home = cluster.home("a");
    let file = home.join("alerts.ndjson");
    std::fs::write(&file, alerts(1..=3)).unwrap();
    cluster.run_ok("a", &["import", file.to_str().unwrap()]);
    let key = cluster.key("alerts");
    let server = cluster.serve("b", &[]);
    let (address, key_file) = (cluster.address(), cluster.key_file());
    let variables = [
        ("AVERT_DATABASE", address.as_str()),
        ("AVERT_SECRET_KEY_FILE", key_file.to_str().unwrap()),
        ("AVERT_GRACE_SECONDS", "0"),
    ];
    let mut terminal = Terminal::start_with(&home, &["open"], &variables, 120, 40);
    terminal.wait_for("SHOP 3");

    terminal.press("n");
    terminal.wait_until("the form, done with looking", |screen| {
        screen.contains("alt-enter starts a line") && !screen.contains("Checking duplicates")
    });
    terminal.press("\x13");
    terminal.wait_for("Not refunded, recorded");
    let client = reqwest::Client::new();
    let url = format!("{}/api/v1/alerts", server.url);
    let page = client
        .get(format!("{url}?status=OPEN"))
        .header("X-API-KEY", &key)
        .send()
        .await
        .unwrap()
        .json::<Value>()
        .await
        .unwrap();
    let (id, descriptor) =
        (page["data"][1]["id"].as_str().unwrap(), page["data"][1]["merchantDescriptor"].as_str().unwrap());
    let decision =
        client.put(format!("{url}/{id}/resolution")).header("X-API-KEY", &key).json(&json!({"refunded": "REFUNDED"}));
    assert_eq!(decision.send().await.unwrap().status(), 200);

    assert_eq!(page["total"], 2, "{page}");
    terminal.wait_gone(descriptor.rsplit('*').next().unwrap());
    terminal.press("5");
    terminal.wait_for("database test_");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
    assert_eq!(server.terminate(), Some(0));
    assert!(home.join("desk").join("databases").is_dir() && !home.join("avert.db").exists());
}

//! Certificates that are trusted for one endpoint: kept with it, and for no other connection.

use avert::{
    outbound::address::AddressPolicy,
    store::{DueDelivery, EndpointTarget},
};
use serde_json::Value;

use super::sending::{basic, due, sender};
use crate::support::{
    alerts::noon,
    binary::{run, run_ok},
    raw_server::{Play, RawServer},
    tls::{Authority, Certified},
};

/// A receiver at a name below `localhost` whose certificate signs itself.
async fn receiver() -> (Certified, RawServer, String) {
    let own = Certified::by_itself("shop.localhost");
    let server = RawServer::start_tls(own.serving(), |_, _| Play::answer(200, &[], "")).await;
    let url = server.url().replace("127.0.0.1", "shop.localhost");
    (own, server, url)
}

#[tokio::test]
async fn certificates_of_one_endpoint_are_trusted_for_no_other_at_the_same_address() {
    let (own, _server, url) = receiver().await;
    let sender = sender(AddressPolicy::loopback());
    let trusting = |pem: &str| {
        let plain = due(url.clone(), basic());
        DueDelivery { target: EndpointTarget { ca_certificate: pem.into(), ..plain.target.clone() }, ..plain }
    };

    let taken = sender.send(&trusting(&own.pem()), noon()).await;
    let by_this_machine = sender.send(&trusting(""), noon()).await;
    let by_another = sender.send(&trusting(&Authority::new().pem()), noon()).await;
    let unusable = sender.send(&trusting("hello"), noon()).await;

    assert_eq!(taken.status(), Some(200), "{taken:?}");
    for refused in [by_this_machine, by_another] {
        assert!(refused.error.as_ref().is_some_and(|why| why.contains("an authority's own")), "{refused:?}");
    }
    assert!(unusable.error.is_some_and(|why| why.contains("its CA certificate cannot be used")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_certificates_of_a_file_are_kept_with_the_endpoint_and_can_be_taken_back() {
    let (own, _server, url) = receiver().await;
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let (file, key) = own.files(home);
    let file = file.to_str().unwrap();
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&run_ok(home, &[arguments, &["--output", "json"]].concat())).unwrap()
    };
    let add = |file: &str| run(home, &["webhooks", "add", &url, "--basic", "shop:s3cret", "--ca-file", file]);

    let wrong = add(key.to_str().unwrap());
    let added = json(&["webhooks", "add", &url, "--basic", "shop:s3cret", "--ca-file", file]);
    std::fs::remove_file(file).unwrap();
    let id = added["id"].as_str().unwrap();
    let taken = run(home, &["webhooks", "test", id]);
    let listed = json(&["webhooks", "list"]);
    let changed = json(&["webhooks", "update", id, "--no-ca-file"]);
    let refused = run(home, &["webhooks", "test", id]);

    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("key.pem: holds no certificate"), "{wrong:?}");
    assert!(taken.status.success(), "{taken:?}");
    assert_eq!([&added, &listed[0], &changed].map(|shown| &shown["hasCaCertificate"]), [true, true, false]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
}

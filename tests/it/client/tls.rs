//! TLS: whose certificates are trusted, which one is shown, what a failed handshake is told as; and the way by a proxy.

use std::path::Path;

use avert::{
    client::{Client, ClientOptions},
    domain::{AlertId, AlertQuery},
    outbound::tls::TlsFiles,
    service::{Alerts, ServiceError},
    wire::Dialect,
};
use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;
use wiremock::MockServer;

use super::foreign::{answer, header, listing, options, refunded, requests};
use crate::support::{
    binary::avert,
    ports::NOBODY,
    raw_server::{Play, RawServer},
    tls::{Authority, Certified},
};

const HERE: &str = "127.0.0.1";

/// An authority and a folder for its files.
fn world() -> (Authority, TempDir) {
    (Authority::new(), tempfile::tempdir().unwrap())
}

fn client(server: &RawServer, tls: TlsFiles) -> Client {
    Client::new(ClientOptions { tls, ..options(&server.url(), Dialect::Current) }).unwrap()
}

fn trusting(authority: &Authority, directory: &Path) -> TlsFiles {
    TlsFiles { ca_file: Some(authority.file(directory)), ..TlsFiles::default() }
}

fn empty_list() -> Play {
    Play::json(200, &json!({"data": [], "total": 0}))
}

/// What a list and a decision are told, which must be the same; nothing is sent.
async fn refused(server: &RawServer, tls: TlsFiles) -> String {
    let (client, before) = (client(server, tls), server.connections());
    let (read, sent) =
        (client.list(&AlertQuery::default()).await, client.resolve(AlertId::generate(), refunded()).await);
    let (Err(ServiceError::Unreachable(read)), Err(ServiceError::NotSent(sent) | ServiceError::NotReached(sent))) =
        (&read, &sent)
    else {
        panic!("{read:?} {sent:?}")
    };
    let why = |words: &str| words.rsplit_once(" (").unwrap().0.to_owned();
    assert_eq!(why(read), why(sent));
    assert!(server.asked().is_empty());
    assert_eq!(server.connections() - before, 2, "trying again changes nothing");
    why(read)
}

#[tokio::test]
async fn a_certificate_of_the_authority_in_the_file_is_trusted() {
    let (authority, directory) = world();
    let server = RawServer::start_tls(authority.certify(HERE).serving(), |_, _| empty_list()).await;

    let page = client(&server, trusting(&authority, directory.path())).list(&AlertQuery::default()).await.unwrap();

    assert_eq!(page.total, 0);
}

#[tokio::test]
async fn an_unknown_authority_is_told_with_the_flag_that_names_one() {
    let (authority, directory) = world();
    let server = RawServer::start_tls(authority.certify(HERE).serving(), |_, _| empty_list()).await;

    let unnamed = refused(&server, TlsFiles::default()).await;
    let other = refused(&server, trusting(&Authority::new(), directory.path())).await;

    assert!(unnamed.contains("authority that is not trusted here") && unnamed.contains("--ca-file"), "{unnamed}");
    assert!(other.contains("the CA file holds another one"), "{other}");
}

#[tokio::test]
async fn a_certificate_that_signs_itself_is_trusted_where_it_is_named_and_for_no_other_connection() {
    let (own, directory) = (Certified::by_itself(HERE), tempfile::tempdir().unwrap());
    let server = RawServer::start_tls(own.serving(), |_, _| empty_list()).await;
    let tls = TlsFiles { ca_file: Some(own.files(directory.path()).0), ..TlsFiles::default() };

    let page = client(&server, tls).list(&AlertQuery::default()).await.unwrap();
    let unnamed = refused(&server_of(&own).await, TlsFiles::default()).await;
    let other = refused(&server_of(&own).await, trusting(&Authority::new(), directory.path())).await;

    assert_eq!(page.total, 0);
    for why in [unnamed, other] {
        assert!(why.contains("an authority's own") && why.contains("this very certificate (--ca-file)"), "{why}");
    }
}

#[tokio::test]
async fn a_certificate_that_is_named_is_trusted_for_its_own_names_alone() {
    let (own, directory) = (Certified::by_itself("elsewhere.example"), tempfile::tempdir().unwrap());
    let tls = TlsFiles { ca_file: Some(own.files(directory.path()).0), ..TlsFiles::default() };

    let why = refused(&server_of(&own).await, tls).await;

    assert!(why.contains("its certificate is for another name: elsewhere.example"), "{why}");
}

async fn server_of(certified: &Certified) -> RawServer {
    RawServer::start_tls(certified.serving(), |_, _| empty_list()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_authorities_of_the_machine_are_those_of_the_environment_and_a_ca_file_takes_their_place() {
    let (authority, home) = world();
    let server = server_of(&authority.certify(HERE)).await;
    let [ours, others] = ["ours", "others"].map(|name| home.path().join(name));
    for (authority, directory) in [(&authority, &ours), (&Authority::new(), &others)] {
        std::fs::create_dir(directory).unwrap();
        authority.file(directory);
    }
    let list = |variable: &str, named: &Path, flags: &[&str]| {
        let mut command = avert(home.path(), &[&["alerts", "list", "--url", &server.url()], flags].concat());
        command
            .env_remove("SSL_CERT_DIR")
            .env_remove("SSL_CERT_FILE")
            .env(variable, named)
            .env("AVERT_API_KEY", "k")
            .output()
            .unwrap()
    };
    let file = |directory: &Path| directory.join("authority.pem");
    let flag = file(&others);

    let taken = [list("SSL_CERT_FILE", &file(&ours), &[]), list("SSL_CERT_DIR", &ours, &[])];
    let refused = list("SSL_CERT_FILE", &file(&ours), &["--ca-file", flag.to_str().unwrap()]);
    let nothing = list("SSL_CERT_FILE", &home.path().join("nowhere"), &[]);

    assert!(taken.iter().all(|listed| listed.status.success()), "{taken:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("the CA file holds another one"), "{refused:?}");
    assert!(
        String::from_utf8_lossy(&nothing.stderr).contains("no certificates of authorities; SSL_CERT_FILE"),
        "{nothing:?}"
    );
}

#[rstest]
#[case::for_another_name("elsewhere.example", 4096, "its certificate is for another name: elsewhere.example")]
#[case::over(HERE, 2020, "its certificate expired on 2020-01-01, by this machine's clock")]
#[tokio::test]
async fn a_certificate_that_does_not_fit_is_told_for_what_it_is(
    #[case] name: &str,
    #[case] until: i32,
    #[case] words: &str,
) {
    let (authority, directory) = world();
    let server = RawServer::start_tls(authority.certify_until(name, until).serving(), |_, _| empty_list()).await;

    let why = refused(&server, trusting(&authority, directory.path())).await;

    assert!(why.contains(words), "{why}");
}

#[tokio::test]
async fn a_server_that_wants_a_client_certificate_gets_it_from_one_file_or_two() {
    let (authority, directory) = world();
    let (ours, directory) = (authority.certify("desk"), directory.path());
    let server = RawServer::start_tls(authority.asking(&authority.certify(HERE)), |_, _| empty_list()).await;
    let (certificate, key) = ours.files(directory);
    let one = TlsFiles { client_certificate: Some(ours.file(directory)), ..trusting(&authority, directory) };
    let two =
        TlsFiles { client_certificate: Some(certificate), client_key: Some(key), ..trusting(&authority, directory) };

    for tls in [one, two] {
        client(&server, tls).list(&AlertQuery::default()).await.unwrap();
    }
}

#[tokio::test]
async fn a_handshake_refused_for_want_of_a_client_certificate_is_told_with_the_flags_that_name_one() {
    let (authority, directory) = world();
    let server = RawServer::start_tls(authority.asking(&authority.certify(HERE)), |_, _| empty_list()).await;

    let none = refused(&server, trusting(&authority, directory.path())).await;
    let strangers = Authority::new().certify("desk").file(directory.path());
    let strange =
        refused(&server, TlsFiles { client_certificate: Some(strangers), ..trusting(&authority, directory.path()) })
            .await;

    assert!(none.contains("certificate required") && none.contains("--client-certificate and --client-key"), "{none}");
    assert!(
        strange.contains("for want of a client certificate that it takes") && !strange.contains("--client"),
        "{strange}"
    );
}

#[tokio::test]
async fn a_client_certificate_whose_signature_is_wrong_is_told_as_one_that_is_not_taken() {
    let (authority, directory) = world();
    let server = RawServer::start_tls(authority.asking(&authority.certify(HERE)), |_, _| empty_list()).await;
    let forged = authority.namesake().certify("desk").file(directory.path());

    let why =
        refused(&server, TlsFiles { client_certificate: Some(forged), ..trusting(&authority, directory.path()) }).await;

    assert!(why.contains("a client certificate that it takes (decrypt error)"), "{why}");
}

#[test]
fn files_that_do_not_go_together_are_refused_before_anything_is_sent() {
    let (authority, directory) = world();
    let (certificate, key) = authority.certify("desk").files(directory.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let (_, anothers) = authority.certify("desk").files(elsewhere.path());
    let files = |certificate, key| TlsFiles { client_certificate: certificate, client_key: key, ..TlsFiles::default() };

    for (tls, words) in [
        (files(None, Some(key.clone())), "needs the client certificate"),
        (files(Some(certificate.clone()), None), "holds no private key: name the file that does"),
        (files(Some(certificate.clone()), Some(certificate.clone())), "holds no private key in PEM form"),
        (files(Some(certificate), Some(anothers)), "does not go with the client certificate"),
        (files(Some(key), None), "no certificate in PEM form"),
    ] {
        let error = Client::new(ClientOptions { tls, ..options("https://alerts.example.com", Dialect::Current) })
            .unwrap_err()
            .to_string();

        assert!(error.contains(words), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_flags_of_a_command_name_the_files_and_a_wrong_one_is_a_misuse() {
    let (authority, directory) = world();
    let server = RawServer::start_tls(authority.asking(&authority.certify(HERE)), |_, _| empty_list()).await;
    let (certificate, key) = authority.certify("desk").files(directory.path());
    let ca = authority.file(directory.path());
    let url = server.url();
    let list = |ca: &Path| {
        let files =
            ["--ca-file", ca.to_str().unwrap(), "--client-certificate", certificate.to_str().unwrap(), "--client-key"];
        let arguments = [&["alerts", "list", "--url", &url][..], &files, &[key.to_str().unwrap()]].concat();
        avert(directory.path(), &arguments).env("AVERT_API_KEY", "k").output().unwrap()
    };

    let (taken, refused) = (list(&ca), list(Path::new("/nowhere/ca.pem")));

    assert!(taken.status.success(), "{taken:?}");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("/nowhere/ca.pem: cannot be read"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_of_the_system_is_used_beyond_this_machine_and_never_on_it() {
    let (server, home) = (MockServer::start().await, tempfile::tempdir().unwrap());
    listing().respond_with(answer(200, &json!({"data": [], "total": 0}))).mount(&server).await;
    let list = |url: &str, proxy: &str| {
        let mut command = avert(home.path(), &["alerts", "list", "--url", url, "--insecure-http"]);
        command
            .env("AVERT_API_KEY", "k")
            .env("http_proxy", proxy)
            .env_remove("no_proxy")
            .env_remove("NO_PROXY")
            .output()
            .unwrap()
    };

    let (beyond, here) = (list("http://alerts.example.test", &server.uri()), list(&server.uri(), "http://127.0.0.1:1"));

    assert!(beyond.status.success() && here.status.success(), "{beyond:?} {here:?}");
    let hosts: Vec<_> =
        requests(&server, "GET").await.iter().map(|request| header(request, "host").to_owned()).collect();
    assert_eq!(hosts, ["alerts.example.test", server.uri().trim_start_matches("http://")]);
}

/// What a list at an address beyond this machine is told, by this proxy with a password.
fn told_by_way_of(proxy: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut command = avert(home.path(), &["alerts", "list", "--url", "https://alerts.example.test"]);
    command
        .env("AVERT_API_KEY", "k")
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .env("HTTPS_PROXY", format!("http://desk:hunter22@{proxy}"));
    String::from_utf8(command.output().unwrap().stderr).unwrap()
}

#[rstest]
#[case::that_wants_a_credential(407, "it wants other credentials")]
#[case::that_does_not_allow_it(403, "it refuses to connect to the service")]
#[case::that_does_not_reach_it(502, "it refuses to connect to the service")]
#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_makes_no_connection_is_told_as_the_proxy(#[case] status: u16, #[case] words: &str) {
    let proxy = RawServer::start(move |_, _| Play::answer(status, &[], "")).await;
    let address = proxy.url().replace("http://", "");

    let told = told_by_way_of(&address);

    assert!(
        told.contains(&format!("the proxy {address} (HTTPS_PROXY"))
            && told.contains(words)
            && !told.contains("hunter22"),
        "{told}"
    );
    assert!(proxy.asked().iter().all(|asked| asked.method == "CONNECT"), "nothing of a call is told to the proxy");
}

#[test]
fn a_proxy_that_is_not_there_is_told_as_the_proxy() {
    let told = told_by_way_of(NOBODY);

    assert!(
        told.contains(&format!("the proxy {NOBODY} (HTTPS_PROXY"))
            && told.contains("no connection: connection refused"),
        "{told}"
    );
}

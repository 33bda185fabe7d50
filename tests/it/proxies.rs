//! Proxies before `avert serve`, and PgBouncer before PostgreSQL, configured as the page on proxies has it, word for
//! word but for ports and paths.

use std::{
    fs,
    net::Ipv4Addr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use reqwest::{Certificate, Client, Method, RequestBuilder, Response, StatusCode};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, run_ok},
    cluster::Cluster,
    operations::{alerts, import, refused},
    page::block,
    ports::free_port,
    postgres::GUARDED,
    program::{Program, find},
    tls::Authority,
};

const PAGE: &str = include_str!("../../assets/docs/proxies.md");

/// The longest a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(120);

/// The address that callers come from; the proxy itself comes from another one.
const CALLER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The page's configuration of a program, with each of these texts replaced by another.
fn configuration(language: &str, replaced: &[(&str, &str)]) -> String {
    replaced.iter().fold(block(PAGE, language, "").to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in the configuration of {language}");
        text.replace(from, to)
    })
}

/// A desk behind a proxy, and a caller from elsewhere.
struct Desk {
    _proxy: Program,
    server: Server,
    caller: Client,
    url: String,
    key: String,
    directory: tempfile::TempDir,
}

impl Desk {
    /// A desk with three alerts; `None` where the proxy is not installed.
    fn behind(proxy: &str) -> Option<Self> {
        let program = find(proxy)?;
        let directory = tempfile::tempdir().unwrap();
        let (home, port) = (directory.path(), free_port().to_string());
        let data = home.join("data");
        import(&data, &alerts(1..=3));
        let key = run_ok(&data, &["keys", "create", "--scope", "alerts,operator"]).trim().to_owned();
        let settings = home.join("config.toml");
        let host = format!("alerts.example:{port}");
        fs::write(&settings, configuration("toml", &[("alerts.example", &host)])).unwrap();
        let server = Server::start(&data, &["--config", settings.to_str().unwrap()]);

        let authority = Authority::new();
        put_certificate(home, &authority);
        let at = server.url.strip_prefix("http://").unwrap();
        let etc = format!("{}/etc/", home.display());
        let file = home.join("proxy.conf");
        let replaced = [("443", port.as_str()), ("127.0.0.1:7317", at), ("/etc/", &etc)];
        // Caddy's own interface has a port that another one may use here.
        let text = configuration(proxy, &replaced).replace("    auto_https", "    admin off\n    auto_https");
        fs::write(&file, text).unwrap();
        let proxy = Program::start(&mut command(proxy, &program, home, &file), home, port.parse().unwrap());

        let trusted = Certificate::from_pem(authority.pem().as_bytes()).unwrap();
        let caller = Client::builder().tls_certs_only([trusted]).local_address(std::net::IpAddr::from(CALLER));
        let caller = caller.resolve("alerts.example", ([127, 0, 0, 1], 0).into()).build().unwrap();
        Some(Self { directory, _proxy: proxy, server, caller, url: format!("https://{host}"), key })
    }

    /// A request of the caller.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.caller.request(method, format!("{}{path}", self.url)).header("X-API-KEY", &self.key)
    }

    async fn get(&self, path: &str) -> Value {
        json(self.request(Method::GET, path).send().await.unwrap()).await
    }

    /// Waits until the proxy's own check of the service's health has got its answer.
    async fn is_checked(&self) {
        let metrics = Client::new().get(format!("{}/metrics", self.server.url)).header("X-API-KEY", &self.key);
        let checked = async {
            let mut turns = tokio::time::interval(Duration::from_millis(100));
            loop {
                turns.tick().await;
                let figures = metrics.try_clone().unwrap().send().await.unwrap().text().await.unwrap();
                if figures.contains(r#"method="GET",route="/ready",status="200""#) {
                    break;
                }
            }
        };
        tokio::time::timeout(PATIENCE, checked).await.expect("the proxy asks for the service's health");
    }
}

/// Puts a certificate and its key where the page has them: in two files, and both in one for HAProxy.
fn put_certificate(home: &Path, authority: &Authority) {
    let certified = authority.certify("alerts.example");
    let ((certificate, key), both) = (certified.files(home), certified.file(home));
    for (from, to) in [
        (certificate, "etc/ssl/alerts.example.pem"),
        (key, "etc/ssl/alerts.example.key"),
        (both, "etc/haproxy/alerts.example.pem"),
    ] {
        fs::create_dir_all(home.join(to).parent().unwrap()).unwrap();
        fs::rename(from, home.join(to)).unwrap();
    }
}

/// The command that runs a proxy in the foreground with a configuration.
fn command(proxy: &str, program: &Path, home: &Path, file: &Path) -> Command {
    let mut command = Command::new(program);
    match proxy {
        "nginx" => command.arg("-c").arg(around(home, file)).args(["-e", "stderr"]),
        "haproxy" => command.arg("-db").arg("-f").arg(file),
        _ => command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file),
    };
    command
}

/// The main file of nginx, which takes the page's part in.
fn around(home: &Path, part: &Path) -> PathBuf {
    let (file, home) = (home.join("nginx.conf"), home.display());
    let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|what| format!("{what}_temp_path {home}/{what}; "))
        .concat();
    let http = format!("access_log off; {kept} include {};", part.display());
    let main = format!("daemon off; user root; pid {home}/nginx.pid; events {{}} http {{ {http} }}\n");
    fs::write(&file, main).unwrap();
    file
}

async fn json(answer: Response) -> Value {
    let (status, text) = (answer.status(), answer.text().await.unwrap());
    assert!(status.is_success(), "{status}: {text}");
    serde_json::from_str(&text).unwrap()
}

/// The number of the next change that a stream tells of.
async fn next_change(stream: &mut Response) -> u64 {
    let chunk = tokio::time::timeout(PATIENCE, stream.chunk()).await.expect("a change is told at once");
    let text = String::from_utf8(chunk.unwrap().expect("the stream goes on").to_vec()).unwrap();
    text.lines().find_map(|line| line.strip_prefix("id: ")?.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[rstest]
#[case::nginx("nginx", false)]
#[case::haproxy("haproxy", true)]
#[case::caddy("caddy", true)]
#[tokio::test(flavor = "multi_thread")]
async fn lists_answers_streams_and_checks_of_health_pass_a_proxy_which_logs_no_key(
    #[case] proxy: &str,
    #[case] checks: bool,
) {
    let Some(desk) = Desk::behind(proxy) else { return };
    if checks {
        desk.is_checked().await;
    }

    let list = desk.request(Method::GET, "/api/v1/alerts?size=1").send().await.unwrap();
    let tag = list.headers()["etag"].clone();
    let again = desk.request(Method::GET, "/api/v1/alerts?size=1").header("If-None-Match", tag).send().await.unwrap();
    let list = json(list).await;
    let mut stream = desk.request(Method::GET, "/operator/v1/changes").send().await.unwrap();
    let before = next_change(&mut stream).await;
    let many = alerts(11..=210).replace('\n', &format!("{}\n", " ".repeat(6_000)));
    let many = desk.request(Method::POST, "/operator/v1/alerts").body(many);
    let many = json(many.header("Content-Type", "application/x-ndjson").send().await.unwrap()).await;
    let after = next_change(&mut stream).await;
    let resolution = format!("/api/v1/alerts/{}/resolution", list["data"][0]["id"].as_str().unwrap());
    let answer = desk
        .request(Method::PUT, &resolution)
        .json(&json!({"refunded": "REFUNDED"}))
        .header("Idempotency-Key", "once")
        .header("X-Forwarded-For", "203.0.113.7")
        .header("Forwarded", "for=203.0.113.7");
    let repeated = answer.try_clone().unwrap();
    let (answer, repeated) = (json(answer.send().await.unwrap()).await, json(repeated.send().await.unwrap()).await);
    let audit = desk.get("/operator/v1/audit?size=1").await;
    let (health, ready) = (desk.get("/health").await, desk.get("/ready").await);
    let in_vain = desk.request(Method::GET, "/api/v1/alerts");
    desk.server.terminate();
    let in_vain = in_vain.send().await.unwrap().status();
    let log = fs::read_to_string(desk.directory.path().join("log")).unwrap();

    assert_eq!((list["total"].as_u64(), again.status().as_u16()), (Some(3), 304), "{list}");
    assert_eq!(many["created"], 200, "{many}");
    assert!(after > before);
    assert_eq!((&answer["status"], &answer), (&json!("RESOLVED"), &repeated));
    let entry = &audit["data"][0];
    assert_eq!((&entry["action"], &entry["origin"]), (&json!("alert.resolved"), &json!(CALLER)), "{entry}");
    assert_eq!((health, ready), (json!({"status": "ok"}), json!({"status": "ready"})));
    assert!(in_vain == StatusCode::BAD_GATEWAY || in_vain == StatusCode::SERVICE_UNAVAILABLE, "{in_vain}");
    assert!(!log.contains(&desk.key), "{log}");
}

/// PgBouncer before a desk's database, with a text of the configuration replaced by another, and the address of the
/// database there; `None` where it is not installed.
fn pgbouncer(cluster: &Cluster, directory: &Path, setting: [&str; 2]) -> Option<(Program, String)> {
    let program = find("pgbouncer")?;
    let (server, port, (user, password)) = (cluster.database.server(), free_port(), GUARDED);
    let etc = directory.join("etc");
    fs::create_dir_all(etc.join("pgbouncer")).unwrap();
    fs::write(etc.join("pgbouncer/userlist.txt"), format!("\"{user}\" \"{password}\"\n")).unwrap();
    let replaced = [
        ("db.example port=5432 dbname=desk", &*format!("127.0.0.1 port={} dbname={}", server.port, server.name)),
        ("listen_port = 6432", &format!("listen_port = {port}")),
        ("/etc/", &format!("{}/", etc.display())),
        setting.into(),
    ];
    let file = directory.join("pgbouncer.ini");
    fs::write(&file, configuration("ini", &replaced) + "unix_socket_dir =\n").unwrap();
    let mut command = Command::new(program);
    // It refuses root, and another user has to read its files.
    if rustix::process::geteuid().is_root() {
        command.args(["-u", "nobody"]);
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let running = Program::start(command.arg(file), directory, port);
    let password: String = url::form_urlencoded::byte_serialize(password.as_bytes()).collect();
    Some((running, format!("postgres://{user}:{}@127.0.0.1:{port}/desk", password.replace('+', "%20"))))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_desk_works_through_pgbouncer_in_session_mode() {
    let (Some(cluster), directory) = (Cluster::empty().await, tempfile::tempdir().unwrap()) else { return };
    let Some((_pooler, address)) = pgbouncer(&cluster, directory.path(), [""; 2]) else { return };
    let run = |arguments: &[&str]| {
        let output = cluster.command_at(&address, "a", arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let file = directory.path().join("alerts.ndjson");
    fs::write(&file, alerts(1..=3)).unwrap();

    run(&["migrate"]);
    run(&["import", file.to_str().unwrap()]);
    let key = run(&["keys", "create"]);
    let server = cluster.serve_at(&address, "a", &[]);
    let url = format!("{}/api/v1/alerts", server.url);
    let request = |method, url: &str| Client::new().request(method, url).header("X-API-KEY", key.trim());
    let list = json(request(Method::GET, &url).send().await.unwrap()).await;
    let resolution = format!("{url}/{}/resolution", list["data"][0]["id"].as_str().unwrap());
    let answer = request(Method::PUT, &resolution).json(&json!({"refunded": "REFUNDED"})).send().await.unwrap();
    let examined = run(&["doctor"]);

    assert_eq!(list["total"], 3, "{list}");
    assert_eq!(json(answer).await["status"], "RESOLVED");
    assert!(!examined.is_empty());
    assert_eq!(server.terminate(), Some(0));
}

#[rstest]
#[case::by_transactions(["pool_mode = session", "pool_mode = transaction"], "a pooler in transaction mode")]
#[case::by_statements(["pool_mode = session", "pool_mode = statement"], "set pool_mode = session in the pooler")]
#[case::too_few(["default_pool_size = 50", "default_pool_size = 1"], "no connection is left; raise the limit")]
#[tokio::test(flavor = "multi_thread")]
async fn pgbouncer_with_another_setting_is_refused_with_what_to_change(
    #[case] setting: [&str; 2],
    #[case] words: &str,
) {
    let (Some(cluster), directory) = (Cluster::migrated().await, tempfile::tempdir().unwrap()) else { return };
    let Some((_pooler, address)) = pgbouncer(&cluster, directory.path(), setting) else { return };

    for arguments in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let said = refused(&cluster.command_at(&address, "a", arguments).output().unwrap(), 1);

        assert!(said.contains(words), "{said}");
    }
}

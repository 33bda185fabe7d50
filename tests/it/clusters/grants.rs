//! Nodes, consoles and commands work with the rights that the page on PostgreSQL grants them, and with no more.

use std::fs;

use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio_postgres::{Config, NoTls};
use uuid::Uuid;

use crate::support::{
    cluster::Cluster,
    operations::{alerts, refused},
    terminal::Terminal,
};

const PAGE: &str = include_str!("../../../assets/docs/postgresql.md");

/// Two roles of a test's own: the owner of the tables, and the one of nodes and commands. They go with the test.
struct Roles<'a> {
    cluster: &'a Cluster,
    owner: String,
    node: String,
}

impl<'a> Roles<'a> {
    /// Makes the roles, and the database the owner's.
    async fn make(cluster: &'a Cluster) -> Self {
        let name = |role: &str| format!("{role}_{}", Uuid::now_v7().simple());
        let roles = Self { cluster, owner: name("owner"), node: name("node") };
        let Self { owner, node, .. } = &roles;
        let database = cluster.database.server().name;
        let made =
            format!("CREATE ROLE {owner} LOGIN; CREATE ROLE {node} LOGIN; ALTER DATABASE {database} OWNER TO {owner}");
        cluster.database.client().await.batch_execute(&made).await.unwrap();
        roles
    }

    /// Runs SQL as one of them.
    async fn execute(&self, role: &str, sql: &str) -> Result<(), tokio_postgres::Error> {
        let server = self.cluster.database.server();
        let mut config = Config::new();
        config.host("127.0.0.1").port(server.port).user(role).dbname(&server.name);
        let (client, connection) = config.connect(NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(sql).await
    }

    /// What the page has the owner grant, in the names of these roles.
    fn grants(&self) -> String {
        let (_, rights) = PAGE.split_once("## Rights of roles").expect("the page has the section");
        let (_, block) = rights.split_once("```sql\n").expect("it has the grants");
        block.split("```").next().unwrap().replace("TO avert;", &format!("TO {};", self.node))
    }

    async fn remove(self) {
        let Self { owner, node, cluster } = self;
        let away = format!(
            "DROP OWNED BY {node} CASCADE; REASSIGN OWNED BY {owner} TO CURRENT_USER; DROP OWNED BY {owner} CASCADE;
            DROP ROLE {node}; DROP ROLE {owner}"
        );
        cluster.database.client().await.batch_execute(&away).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_consoles_and_commands_work_with_the_rights_of_the_page_and_no_more() {
    let Some(cluster) = Cluster::empty().await else { return };
    let roles = Roles::make(&cluster).await;
    roles.execute(&roles.owner, &roles.grants()).await.unwrap();
    let (of_owner, of_node) = (cluster.address_of(&roles.owner), cluster.address_of(&roles.node));
    let ran = |words: &[&str]| {
        let output = cluster.command_at(&of_node, "a", words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };

    let migrated = cluster.command_at(&of_owner, "a", &["migrate"]).output().unwrap();
    assert_eq!(migrated.status.code(), Some(0), "{}", String::from_utf8_lossy(&migrated.stderr));
    ran(&["migrate", "--check"]);
    let file = cluster.home("a").join("alerts.ndjson");
    fs::write(&file, alerts(1..=5)).unwrap();
    ran(&["webhooks", "add", "http://127.0.0.1:9/", "--header", "X-Desk: secret", "--sign"]);
    ran(&["import", file.to_str().unwrap()]);
    fs::write(&file, alerts(1..=5).replace("ACME", "OTHER")).unwrap();
    assert!(ran(&["import", file.to_str().unwrap()]).contains("\"updated\":5"));
    ran(&["alerts", "resolve", "P-0000001", "--refunded", "refunded", "--yes"]);
    ran(&["alerts", "find", "P-0000002"]);
    ran(&["clients", "create"]);
    ran(&["secrets", "rotate", "signing"]);
    ran(&["secrets", "rotate", "signing"]);
    let (database, key_file) = (("AVERT_DATABASE", of_node.as_str()), cluster.key_file());
    let variables = [database, ("AVERT_SECRET_KEY_FILE", key_file.to_str().unwrap())];
    let mut console = Terminal::start_with(&cluster.home("a"), &["open"], &variables, 120, 40);
    console.wait_for("OTHER*SHOP 2");
    console.press("q");
    assert_eq!(console.wait_exit().0, 0);
    serve_with(&cluster, &of_node, ran(&["keys", "create", "--scope", "alerts,operator"]).trim()).await;
    let new_key = cluster.home("a").join("new.key");
    ran(&["secrets", "rotate", "data", "--new-key-file", new_key.to_str().unwrap()]);
    ran(&["doctor"]);

    // Retention takes rows of these away.
    for table in ["delivery_attempt", "delivery", "event", "resolution_attempt", "alert_count", "audit"] {
        roles.execute(&roles.node, &format!("DELETE FROM {table} WHERE false")).await.unwrap();
    }
    for beyond in [
        "ALTER TABLE audit DISABLE TRIGGER ALL",
        "TRUNCATE alert CASCADE",
        "DROP TABLE outcome",
        "CREATE TABLE own (a text)",
        "CREATE INDEX own ON alert (id)",
    ] {
        let refused = roles.execute(&roles.node, beyond).await.unwrap_err();
        assert_eq!(refused.code().unwrap().code(), "42501", "{beyond}: {refused:?}");
    }
    roles.execute(&roles.owner, &format!("REVOKE INSERT ON alert FROM {}", roles.node)).await.unwrap();
    fs::write(&file, alerts(6..=6)).unwrap();
    let import = cluster.command_at(&of_node, "a", &["import", file.to_str().unwrap()]).output().unwrap();
    let said = refused(&import, 1);
    assert!(said.contains("permission denied for table alert") && said.contains("needs a grant"), "{said}");
    roles.remove().await;
}

/// Serves at this address of the database, and lists, answers and removes an endpoint with a key.
async fn serve_with(cluster: &Cluster, address: &str, key: &str) {
    let server = cluster.serve_at(address, "a", &[]);
    let ask = async |method: Method, path: &str, body: Value| {
        let request = Client::new().request(method, format!("{}{path}", server.url)).header("X-API-KEY", key);
        let answer = request.json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    let first = |page: &Value| page["data"][0]["id"].as_str().unwrap().to_owned();

    let (listed, open) = ask(Method::GET, "/api/v1/alerts?status=OPEN", json!({})).await;
    let resolution = format!("/api/v1/alerts/{}/resolution", first(&open));
    let (answered, _) = ask(Method::PUT, &resolution, json!({"refunded": "NOT REFUNDED"})).await;
    let (_, endpoints) = ask(Method::GET, "/operator/v1/endpoints", json!({})).await;
    let endpoint = format!("/operator/v1/endpoints/{}", first(&endpoints));
    let (removed, _) = ask(Method::DELETE, &endpoint, json!({})).await;
    let (ready, _) = ask(Method::GET, "/ready", json!({})).await;

    assert_eq!((listed, answered, removed, ready), (200, 200, 204, 200));
    assert_eq!(server.terminate(), Some(0));
}

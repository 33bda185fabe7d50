//! A PostgreSQL server of the tests' own: one for all, started by the first that needs it, ended and removed however
//! the tests end.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        LazyLock,
        mpsc::{Sender, channel},
    },
};

use avert::{
    domain::database::{DatabaseTls, PostgresAddress},
    store::postgres::migrate,
};
use tokio::{sync::oneshot, task::JoinHandle};
use tokio_postgres::{Client, Config, NoTls};

use super::{ports::free_port, tls::Authority};

/// The user of the database. The server itself runs as another one than root, whom it refuses.
const USER: &str = "avert";

/// A user whose password is asked for.
pub const GUARDED: (&str, &str) = ("guarded", "correct:horse/bat tery");

/// The database with avert's tables that those of tests are copies of.
const TEMPLATE: &str = "made";

/// Makes a server and starts it, tells so, waits until nobody holds the other end of its input, and takes everything
/// away. By preference the server orders as people do, so that what is ordered otherwise has to say so itself.
const KEEP: &str = r#"
    trap "" PIPE
    make() { "$1/initdb" -D "$2/data" -U avert -A trust -E UTF8 --no-sync --locale=C $4 >"$2/log" 2>&1; }
    guard() {
        printf 'host all guarded all scram-sha-256\n' | cat - "$1/pg_hba.conf" >"$1/guarded" &&
            mv "$1/guarded" "$1/pg_hba.conf"
    }
    { make "$1" "$2" "$3" "--locale-provider=icu --icu-locale=en" || make "$1" "$2" "$3" ""; } && guard "$2/data" &&
        "$1/pg_ctl" -w -s -D "$2/data" -l "$2/log" -o "$3" start && echo started || cat "$2/log"
    cat >/dev/null
    "$1/pg_ctl" -w -s -D "$2/data" -m immediate stop
    rm -rf "$2"
"#;

/// Waits until a statement on a database waits for a lock, or a task has ended; true where it has not.
pub async fn waits_for_a_lock<T>(hands: &Client, task: &JoinHandle<T>) -> bool {
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while !task.is_finished() && hands.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
    !task.is_finished()
}

/// A database of a test's own, dropped with it.
pub struct Database {
    name: String,
    server: PostgresAddress,
    orders: Sender<Order>,
}

impl Database {
    /// A copy of an empty database with avert's tables; `None` where PostgreSQL is not installed. With CI set that is
    /// wrong.
    pub async fn fresh() -> Option<Self> {
        Self::made_from(TEMPLATE).await
    }

    /// A database with nothing in it.
    pub async fn empty() -> Option<Self> {
        Self::made_from("template0").await
    }

    async fn made_from(template: &'static str) -> Option<Self> {
        let Some(server) = &*SERVER else {
            let words = "LEFT OUT: stores on PostgreSQL are not tested, its server programs are not here";
            assert!(std::env::var_os("CI").is_none(), "{words}");
            let _ = writeln!(std::io::stderr(), "{words}");
            return None;
        };
        let (made, name) = oneshot::channel();
        server.orders.send(Order::Make { template, made }).unwrap();
        let name = name.await.unwrap();
        let config = server.at(&name);
        Some(Self { name, server: config, orders: server.orders.clone() })
    }

    /// Where it is.
    pub fn server(&self) -> PostgresAddress {
        self.server.clone()
    }

    /// The same by TCP, where the server has a certificate for `localhost` of the authority in this file.
    pub fn by_tcp(&self) -> (PostgresAddress, PathBuf) {
        let server = SERVER.as_ref().expect("the server of this database");
        (PostgresAddress { host: "localhost".to_owned(), ..self.server() }, server.authority.clone())
    }

    /// A way to work on it with one's own hands.
    pub async fn client(&self) -> Client {
        connect(&self.server).await
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::Drop(std::mem::take(&mut self.name)));
    }
}

enum Order {
    Make { template: &'static str, made: oneshot::Sender<String> },
    Drop(String),
}

struct Server {
    directory: PathBuf,
    /// It has a certificate for `localhost` of this authority.
    authority: PathBuf,
    port: u16,
    orders: Sender<Order>,
}

static SERVER: LazyLock<Option<Server>> = LazyLock::new(|| programs().map(|programs| start(&programs)));

impl Server {
    fn at(&self, database: &str) -> PostgresAddress {
        at(&self.directory, self.port, database)
    }
}

fn at(directory: &Path, port: u16, database: &str) -> PostgresAddress {
    PostgresAddress {
        user: USER.to_owned(),
        password: None,
        host: directory.to_str().unwrap().to_owned(),
        port,
        name: database.to_owned(),
        tls: DatabaseTls::Disable,
        authorities: None,
    }
}

/// Where the server's programs are: on Debian in a directory of their version, elsewhere on the path.
fn programs() -> Option<PathBuf> {
    let versions =
        std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let paths =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    versions.chain(paths).find(|directory| directory.join("initdb").is_file() && directory.join("pg_ctl").is_file())
}

/// A command that is run as another user where this one is root.
fn as_user(program: impl AsRef<std::ffi::OsStr>, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    command.current_dir("/").env("LC_ALL", "C").process_group(0);
    command
}

/// The user that the server runs as, where that is another one: `postgres`, or else `nobody`.
fn other_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let fields: Vec<&str> =
            users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)?;
        Some((fields[2].parse().ok()?, fields[3].parse().ok()?))
    };
    Some(ids("postgres").or_else(|| ids("nobody")).expect("a user that is not root"))
}

#[expect(clippy::zombie_processes, reason = "it ends with this process, and is nobody's to wait for")]
fn start(programs: &Path) -> Server {
    let user = other_user();
    // Short: the name of a socket has room for a hundred letters.
    let directory = tempfile::Builder::new().prefix("avert-pg-").tempdir_in("/tmp").unwrap().keep();
    if let Some((user, group)) = user {
        std::os::unix::fs::chown(&directory, Some(user), Some(group)).unwrap();
    }
    let authority = Authority::new();
    let (certificate, key) = authority.certify("localhost").files(&directory);
    // A key that others can read is refused.
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    if let Some((user, group)) = user {
        std::os::unix::fs::chown(&key, Some(user), Some(group)).unwrap();
    }
    let port = free_port();
    let options = format!(
        "-k {} -h 127.0.0.1 -p {port} -c ssl=on -c ssl_cert_file={} -c ssl_key_file={} -c fsync=off -c \
            synchronous_commit=off -c full_page_writes=off -c max_connections=300 -c autovacuum=off",
        directory.display(),
        certificate.display(),
        key.display(),
    );
    let mut keeper = as_user("/bin/sh", user);
    keeper.args(["-c", KEEP, "keep"]).arg(programs).arg(&directory).arg(options);
    let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // Its input ends with this process, whatever ends it.
    std::mem::forget(keeper.stdin.take());
    let mut told = String::new();
    BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut told).unwrap();
    assert_eq!(told, "started\n", "PostgreSQL does not start");
    let (orders, queue) = channel();
    let socket = directory.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = connect(&at(&socket, port, "postgres")).await;
            let (user, password) = GUARDED;
            server.batch_execute(&format!("CREATE ROLE {user} SUPERUSER LOGIN PASSWORD '{password}'")).await.unwrap();
            server.batch_execute(&format!("CREATE DATABASE {TEMPLATE} TEMPLATE template0")).await.unwrap();
            migrate::migrate(&at(&socket, port, TEMPLATE)).await.unwrap();
            for (number, order) in queue.iter().enumerate() {
                match order {
                    Order::Make { template, made } => {
                        let name = format!("test_{number}");
                        server.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await.unwrap();
                        let _ = made.send(name);
                    }
                    Order::Drop(name) => {
                        server.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
                    }
                }
            }
        });
    });
    let authority = authority.file(&directory);
    Server { directory, authority, port, orders }
}

async fn connect(address: &PostgresAddress) -> Client {
    let mut config = Config::new();
    config.host(&address.host).port(address.port).user(&address.user).dbname(&address.name);
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

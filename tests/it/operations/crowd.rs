//! More connections than the system has room for: idle ones give way, and everybody gets in. Callers behind a proxy
//! that nobody named.

use std::net::TcpStream;

use reqwest::Client;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::support::binary::{Server, avert, run_ok};

#[tokio::test]
async fn where_the_system_has_no_room_for_one_more_connection_idle_ones_give_way() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let pid = Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
    let room = Rlimit { current: Some(80), maximum: getrlimit(Resource::Nofile).maximum };
    prlimit(Some(pid), Resource::Nofile, room).expect("the limit is set");
    let address = server.url.strip_prefix("http://").unwrap();

    let idle: Vec<TcpStream> = (0..120).map(|_| TcpStream::connect(address).unwrap()).collect();

    // Idle ones are given up by themselves after 30 s, which is too late for anybody.
    let client = Client::builder().no_proxy().timeout(std::time::Duration::from_secs(25)).build().unwrap();
    for _ in 0..3 {
        assert_eq!(client.get(format!("{}/health", server.url)).send().await.unwrap().status(), 200);
    }
    drop(idle);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_on_this_machine_that_nobody_named_is_pointed_out_once() {
    let (home, log) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    run_ok(home.path(), &["keys", "create"]);
    let server = Server::spawn(avert(home.path(), &["serve", "--listen", "127.0.0.1:0"]), log.reopen().unwrap().into());
    let client = Client::builder().no_proxy().build().unwrap();

    for _ in 0..3 {
        client.get(format!("{}/health", server.url)).header("x-forwarded-for", "192.0.2.7").send().await.unwrap();
    }

    assert_eq!(tokio::task::block_in_place(|| server.terminate()), Some(0));
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(log.matches("name it in trusted_proxies").count(), 1, "{log}");
}

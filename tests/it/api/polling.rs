//! Asking again for what is known already: entity tags, and answers that say that nothing has changed.

use avert::domain::AlertId;
use reqwest::{
    Method, RequestBuilder, Response,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH},
};
use rstest::rstest;

use super::served::{Served, json, refused};

const REFUNDED: &str = r#"{"refunded":"REFUNDED"}"#;

fn header(response: &Response, name: reqwest::header::HeaderName) -> String {
    response.headers()[name].to_str().unwrap().to_owned()
}

/// An answered alert, and requests for it in a dialect.
struct Desk {
    served: Served,
    token: Option<String>,
    id: AlertId,
}

impl Desk {
    async fn start(older: bool) -> Self {
        let served = Served::start().await;
        let token = if older { Some(served.token().await) } else { None };
        let id = served.alert().await;
        json(served.put(id, REFUNDED).send().await.unwrap(), 200).await;
        Self { served, token, id }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let path = path.replace("{id}", &self.id.to_string());
        match &self.token {
            Some(token) => self.served.bare(method, &path).bearer_auth(token),
            None => self.served.request(method, &path),
        }
    }

    async fn again(&self, method: Method, path: &str, known: &str) -> Response {
        self.request(method, path).header(IF_NONE_MATCH, known).send().await.unwrap()
    }
}

#[rstest]
#[tokio::test]
async fn an_answer_that_is_known_is_not_sent_again(
    #[values("/api/v1/alerts?size=5", "/api/v1/alerts/{id}", "/api/v1/alerts/{id}/outcome")] path: &str,
    #[values(false, true)] older: bool,
) {
    let desk = Desk::start(older).await;

    let first = desk.request(Method::GET, path).send().await.unwrap();
    let tag = header(&first, ETAG);
    let known = desk.again(Method::GET, path, &format!("\"another\", W/{tag}")).await;
    let head = desk.again(Method::HEAD, path, &tag).await;
    let unknown = desk.again(Method::GET, path, "\"another\"").await;

    assert_eq!((first.status().as_u16(), header(&first, CACHE_CONTROL).as_str()), (200, "private, no-cache"));
    assert!(first.headers().contains_key("vary"), "{:?}", first.headers());
    for known in [known, head] {
        assert_eq!((known.status().as_u16(), header(&known, ETAG)), (304, tag.clone()));
        assert_eq!(header(&known, CACHE_CONTROL), "private, no-cache");
        assert!(!header(&known, "x-request-id".parse().unwrap()).is_empty());
        assert!(
            !known.headers().contains_key(CONTENT_TYPE) && !known.headers().contains_key(CONTENT_LENGTH),
            "{:?}",
            known.headers()
        );
        assert_eq!(known.bytes().await.unwrap().len(), 0);
    }
    assert_eq!((unknown.status().as_u16(), header(&unknown, ETAG)), (200, tag));
    assert_eq!(unknown.text().await.unwrap(), first.text().await.unwrap());
}

#[tokio::test]
async fn a_tag_holds_no_longer_than_every_byte_of_its_answer() {
    let served = Served::start().await;
    let id = served.alert().await;
    let paths = [format!("/api/v1/alerts/{id}"), "/api/v1/alerts".to_owned()];

    for path in &paths {
        let ask = |tag: String| served.request(Method::GET, path).header(IF_NONE_MATCH, tag).send();
        let fresh = header(&served.get(path).await, ETAG);
        assert_eq!(ask(fresh.clone()).await.unwrap().status(), 304);

        // Nobody did anything: an hour less is left.
        served.clock.advance(chrono::Duration::hours(1));
        let later = ask(fresh).await.unwrap();

        assert_eq!(later.status(), 200);
    }
    let before = header(&served.get(&paths[0]).await, ETAG);
    json(served.put(id, REFUNDED).send().await.unwrap(), 200).await;
    let after = served.request(Method::GET, &paths[0]).header(IF_NONE_MATCH, before).send().await.unwrap();
    assert_eq!(json(after, 200).await["status"], "RESOLVED");
}

#[tokio::test]
async fn an_answer_in_one_dialect_is_not_known_in_the_other() {
    let desk = Desk::start(true).await;
    let path = format!("/api/v1/alerts/{}", desk.id);

    let current = header(&desk.served.get(&path).await, ETAG);
    let older = desk.again(Method::GET, &path, &current).await;

    assert!(json(older, 200).await.get("ethocaMergantId").is_some());
}

#[tokio::test]
async fn what_is_refused_or_written_has_no_tag_and_is_not_kept() {
    let served = Served::start().await;
    let id = served.alert().await;

    let missing =
        served.request(Method::GET, &format!("/api/v1/alerts/{}", AlertId::generate())).header(IF_NONE_MATCH, "*");
    let missing = missing.send().await.unwrap();
    let stranger = served.bare(Method::GET, "/api/v1/alerts").header(IF_NONE_MATCH, "*").send().await.unwrap();
    let written = served.put(id, REFUNDED).header(IF_NONE_MATCH, "*").send().await.unwrap();

    for answer in [&missing, &stranger, &written] {
        assert_eq!((header(answer, CACHE_CONTROL).as_str(), answer.headers().contains_key(ETAG)), ("no-store", false));
    }
    refused(missing, 404, "alert_not_found").await;
    refused(stranger, 403, "not_authorized").await;
    json(written, 200).await;
}

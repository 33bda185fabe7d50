//! Topics of the reference: one page each, the same text on the web and in `avert help`.

/// Topic of the reference: the name it is asked for by, its subject in a few words, and its page in Markdown.
pub(super) struct Topic {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) page: &'static str,
}

macro_rules! topics {
    ($($name:literal $about:literal;)*) => {
        &[$(Topic { name: $name, about: $about, page: include_str!(concat!("../../assets/docs/", $name, ".md")) }),*]
    };
}

/// All topics, in the order in which they are listed.
pub(super) const TOPICS: &[Topic] = topics! {
    "console" "screens, signs, answering, every key";
    "exactly" "rare cases: outages, ends, unconfirmed answers";
    "commands" "every command, its output and exit codes";
    "configuration" "every setting with its default and its variable";
    "import" "fields and formats of alerts";
    "deployments" "profiles, credentials, certificates";
    "orders" "the shop's orders beside the alerts";
    "held" "disputes and refunds after the answer, and which answers held";
    "rules" "your own rules that suggest answers";
    "api" "dialects, errors, lists, time, outcomes, operator routes";
    "webhooks" "deliveries, retries, signatures, tests, listening";
    "sources" "others whose webhooks become alerts, and how a map is written";
    "networks" "gateways to Ethoca, Verifi and CDRN";
    "provider-contract" "what a gateway has to speak";
    "postgresql" "several nodes on one database, moving there and back";
    "reliability" "backups, stopping, keys, the clock, retention, the audit log, limits";
    "proxies" "nginx, HAProxy and Caddy before it, PgBouncer before PostgreSQL";
    "operations" "setting up, sizing, watching, restoring, upgrading";
    "security" "reporting, what leaves the machine, what is stored where";
    "changes" "what each version changed, and what an upgrade does";
    "stability" "what stays the same, and for how long";
    "benchmarks" "how fast avert is, and how that is measured";
};

pub(super) fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

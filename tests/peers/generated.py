"""Lists, gets and resolves with clients that openapi-python-client made of avert's two descriptions.

Usage: generated.py BASE_URL API_KEY ACCESS_TOKEN, where the packages `current` and `older` can be imported. Ends with 0 where everything holds.
"""

import importlib
import sys

base, key, token = sys.argv[1:4]


class Dialect:
    """The client of one dialect, by the names that the generator gives."""

    def __init__(self, package, **credential):
        self.package = package
        self.client = importlib.import_module(package).AuthenticatedClient(base_url=base, raise_on_unexpected_status=True, **credential)

    def model(self, name):
        return getattr(importlib.import_module(f"{self.package}.models"), name)

    def call(self, operation, *arguments, **named):
        module = importlib.import_module(f"{self.package}.api.alerts.{operation}")
        return module.sync_detailed(*arguments, client=self.client, **named)

    def listed(self, **named):
        answer = self.call("list_alerts", **named)
        assert answer.status_code == 200, answer
        return answer.parsed


def hold(dialect, amount, spelling, other, body, status, outcome):
    """What holds in both dialects: `body` makes the decision, `status` and `outcome` are what comes of it."""
    states, providers = dialect.model("ListAlertsStatusItem"), dialect.model("ListAlertsProviderItem")
    both = dialect.listed(status=[states.OPEN, states.EXPIRED], provider=[providers.ETHOCA, providers.VERIFI], size=100)
    assert both.total == len(both.data) > 1, both
    asked = {alert.provider for alert in both.data}
    assert asked == {"ETHOCA", "VERIFI"}, asked
    one = dialect.listed(provider=[providers.ETHOCA])
    assert 0 < one.total < both.total, one

    first = next(alert for alert in both.data if alert.status == "OPEN")
    assert isinstance(first.amount, amount), first
    assert hasattr(first, spelling) and not hasattr(first, other), first
    got = dialect.call("get_alert", first.id)
    assert (got.status_code, got.parsed.id, got.parsed.outcome) == (200, first.id, None), got
    known = dialect.call("get_alert", first.id, if_none_match=got.headers["ETag"])
    assert (known.status_code, known.content) == (304, b""), known

    none = dialect.call("get_outcome", first.id)
    assert (none.status_code, none.parsed.code) == (404, "outcome_not_found"), none
    resolved = dialect.call("resolve_alert", first.id, body=body(dialect))
    assert (resolved.status_code, resolved.parsed.status) == (200, status), resolved
    assert resolved.parsed.outcome.outcome == outcome, resolved
    again = dialect.call("resolve_alert", first.id, body=body(dialect))
    assert (again.status_code, again.parsed.code) == (409, "alert_already_resolved"), again
    told = dialect.call("get_outcome", first.id)
    assert (told.status_code, told.parsed.alert_id) == (200, first.id), told


def refunded(dialect):
    return dialect.model("Decided")(refunded=dialect.model("DecidedRefunded").REFUNDED, comments="paid back")


def invalid(dialect):
    words = dialect.model("InvalidRefunded"), dialect.model("InvalidResolution")
    return dialect.model("Invalid")(refunded=words[0].INVALID, resolution=words[1].NOT_REFUNDED_DUPLICATE)


def stopped(dialect):
    words = dialect.model("DecidedResolution"), dialect.model("DecidedRefunded")
    return dialect.model("Decided")(resolution=words[0].STOPPED, refunded=words[1].REFUNDED)


def partially(dialect):
    words = dialect.model("PartiallyStoppedResolution"), dialect.model("PartiallyStoppedRefunded")
    return dialect.model("PartiallyStopped")(resolution=words[0].PARTIALLY_STOPPED, refunded=words[1].NOT_SETTLED, amount_stopped=0.5)


current = Dialect("current", token=key, prefix="", auth_header_name="X-API-KEY")
hold(current, str, "ethoca_merchant_id", "ethoca_mergant_id", refunded, "RESOLVED", "resolved")
hold(current, str, "ethoca_merchant_id", "ethoca_mergant_id", invalid, "INVALID", "other")
older = Dialect("older", token=token)
hold(older, (float, int), "ethoca_mergant_id", "ethoca_merchant_id", stopped, "RESOLVED", "stopped")
hold(older, (float, int), "ethoca_mergant_id", "ethoca_merchant_id", partially, "RESOLVED", "partially_stopped")

# What only one dialect knows is refused in the other one.
refusal = older.call("list_alerts", expires_in=25)
assert (refusal.status_code, refusal.parsed.code) == (400, "invalid_query"), refusal
assert current.listed(expires_in=25).size == 10
print("clients made of both descriptions hold")

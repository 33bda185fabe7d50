"""Lists, gets and resolves with the client that openapi-generator made of avert's description.

Usage: openapi_generator.py BASE_URL API_KEY, with the made package `made` beside it. Ends with 0 where everything holds.
"""

import sys

import made
from made.rest import ApiException

base, key = sys.argv[1:3]
configuration = made.Configuration(host=base, api_key={"apiKey": key})
alerts = made.AlertsApi(made.ApiClient(configuration))


def refusal(call, *arguments):
    """The status and the code with which a call is refused."""
    try:
        call(*arguments)
    except ApiException as error:
        return error.status, error.data.code
    raise AssertionError("it was not refused")


page = alerts.list_alerts(status=["OPEN", "EXPIRED"], provider=["ETHOCA"], size=3)
assert (page.total, len(page.data)) == (4, 3), page
first, second = page.data[:2]
assert alerts.get_alert(first.id) == first
assert refusal(alerts.get_outcome, first.id) == (404, "outcome_not_found")

decided = made.Resolution(made.Decided(refunded="REFUNDED", comments="paid back"))
refunded = alerts.resolve_alert(first.id, decided)
assert (refunded.status, refunded.outcome.outcome) == ("RESOLVED", "resolved"), refunded
assert refusal(alerts.resolve_alert, first.id, decided) == (409, "alert_already_resolved")
invalid = made.Invalid(refunded="INVALID", resolution="NOT_REFUNDED_DUPLICATE")
duplicate = alerts.resolve_alert(second.id, made.Resolution(invalid))
assert (duplicate.status, duplicate.outcome.outcome) == ("INVALID", "other"), duplicate
print("a client of openapi-generator holds")

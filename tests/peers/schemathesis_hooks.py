"""What a description in JSON Schema cannot say, said to schemathesis: sound requests keep to it, and no check is left out for it."""

import schemathesis


@schemathesis.hook
def filter_query(context, query):
    """A span of days does not end before it starts."""
    spans = [("startDate", "endDate"), ("transactionStartDate", "transactionEndDate")]
    given = [((query or {}).get(start), (query or {}).get(end)) for start, end in spans]
    return not any(isinstance(start, str) and isinstance(end, str) and start > end for start, end in given)


@schemathesis.hook
def map_body(context, body):
    """A stopped amount is at most the alert's, in whole cents."""
    amount = body.get("amountStopped") if isinstance(body, dict) else None
    if isinstance(amount, (int, float)) and not isinstance(amount, bool) and amount > 0:
        body["amountStopped"] = min(max(round(amount, 2), 0.01), 100)
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    """The least number above 0 that a float can hold has more than six decimals; the phase that tries bounds asks no other hook."""
    amount = case.body.get("amountStopped") if isinstance(case.body, dict) else None
    if isinstance(amount, float) and 0 < amount < 0.000001:
        case.body["amountStopped"] = 0.01

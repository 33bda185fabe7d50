"""Checks avert's signatures with the library of the standard itself.

Usage: webhooks.py CASES, a JSON file: a list of {"body", "headers", "good", "bad"}, the secrets that verify a request and those that do not.
Ends with 0 where everything holds.
"""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

with open(sys.argv[1], encoding="utf-8") as file:
    cases = json.load(file)


def holds(secret, body, headers):
    """Whether the library takes the request."""
    try:
        Webhook(secret).verify(body, headers)
        return True
    except WebhookVerificationError:
        return False


for number, case in enumerate(cases):
    for secret in case["good"]:
        assert holds(secret, case["body"], case["headers"]), f"request {number} is not verified"
        assert not holds(secret, case["body"] + " ", case["headers"]), f"request {number} is verified though its body was changed"
        other = {**case["headers"], "webhook-id": "another"}
        assert not holds(secret, case["body"], other), f"request {number} is verified though its id was changed"
    for secret in case["bad"]:
        assert not holds(secret, case["body"], case["headers"]), f"request {number} is verified with a secret that has ended"
assert len(cases) == 3
print("signatures hold before standardwebhooks")

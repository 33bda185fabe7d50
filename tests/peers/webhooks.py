"""Checks avert's signatures with the library of the standard itself, and with svix.

Usage: webhooks.py CASES, a JSON file: a list of {"body", "headers", "good", "bad"}, the secrets that verify a request and those that do not.
Ends with 0 where everything holds.
"""

import json
import sys

import standardwebhooks.webhooks
import svix.webhooks

with open(sys.argv[1], encoding="utf-8") as file:
    cases = json.load(file)


def holds(library, secret, body, headers):
    """Whether the library takes the request."""
    try:
        library.Webhook(secret).verify(body, headers)
        return True
    except library.WebhookVerificationError:
        return False


def check(library, number, case):
    for secret in case["good"]:
        assert holds(library, secret, case["body"], case["headers"]), f"request {number} is not verified"
        assert not holds(library, secret, case["body"] + " ", case["headers"]), f"request {number} is verified though its body was changed"
        other = {**case["headers"], "webhook-id": "another"}
        assert not holds(library, secret, case["body"], other), f"request {number} is verified though its id was changed"
    for secret in case["bad"]:
        assert not holds(library, secret, case["body"], case["headers"]), f"request {number} is verified with a secret that has ended"


for library in [standardwebhooks.webhooks, svix.webhooks]:
    for number, case in enumerate(cases):
        check(library, number, case)
assert len(cases) == 3
print("signatures hold before standardwebhooks and svix")

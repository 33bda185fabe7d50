// Checks avert's signatures with the library of the standard itself, and with svix.
//
// Usage: webhooks.js CASES, as in webhooks.py. Ends with 0 where everything holds.

const assert = require("node:assert");
const { readFileSync } = require("node:fs");

const cases = JSON.parse(readFileSync(process.argv[2], "utf8"));

for (const library of ["standardwebhooks", "svix"]) {
  const { Webhook, WebhookVerificationError } = require(library);
  const verify = (secret, body, headers) => new Webhook(secret).verify(body, headers);
  const isRefused = (...request) => assert.throws(() => verify(...request), WebhookVerificationError);
  for (const { body, headers, good, bad } of cases) {
    for (const secret of good) {
      assert.deepStrictEqual(verify(secret, body, headers), JSON.parse(body));
      isRefused(secret, `${body} `, headers);
      isRefused(secret, body, { ...headers, "webhook-id": "another" });
    }
    for (const secret of bad) isRefused(secret, body, headers);
  }
}
assert.strictEqual(cases.length, 3);
console.log("signatures hold before standardwebhooks and svix");

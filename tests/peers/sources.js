// Sends avert webhooks that the senders' own libraries signed, or find to be rightly signed.
//
// Usage: sources.js URL STRIPE_SECRET STANDARD_SECRET ADYEN_KEY SHOPIFY_SECRET. Ends with 0 where avert takes each of them, and none that
// was changed.

const assert = require("node:assert");
const { createHmac } = require("node:crypto");

const [url, stripeSecret, standardSecret, adyenKey, shopifySecret] = process.argv.slice(2);

async function status(name, body, headers) {
  const answer = await fetch(`${url}/inbound/${name}`, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", ...headers },
  });
  return [answer.status, await answer.text()];
}

async function isTaken(name, body, headers, word) {
  const [taken, said] = await status(name, body, headers);
  assert.deepStrictEqual([taken, said], [200, word ?? ""], name);
  const changed = body.replace("evt_1", "evt_2").replace("PSP-1", "PSP-2");
  assert.strictEqual((await status(name, changed, headers))[0], 401, name);
}

async function main() {
  const body = JSON.stringify({ id: "evt_1", type: "radar.early_fraud_warning.created", note: "größer als €5" });

  const library = require("stripe");
  const stripe = new (library.default ?? library)("sk_test_none");
  const signed = stripe.webhooks.generateTestHeaderString({ payload: body, secret: stripeSecret });
  await isTaken("stripe", body, { "Stripe-Signature": signed });

  for (const [name, prefix] of [["svix", "svix"], ["standardwebhooks", "webhook"]]) {
    const { Webhook } = require(name);
    const now = new Date();
    const signature = new Webhook(standardSecret).sign(`msg_${name}`, now, body);
    const timestamp = Math.floor(now.getTime() / 1000).toString();
    const parts = { id: `msg_${name}`, timestamp, signature };
    const headers = Object.fromEntries(Object.entries(parts).map(([part, value]) => [`${prefix}-${part}`, value]));
    await isTaken("standard", body, headers);
  }

  const { HmacValidator, hmacValidator } = require("@adyen/api-library");
  const validator = new (HmacValidator ?? hmacValidator)();
  const item = {
    pspReference: "PSP-1",
    originalReference: "",
    merchantAccountCode: "Shop",
    merchantReference: "Order-1",
    amount: { value: 1130, currency: "EUR" },
    eventCode: "CHARGEBACK",
    success: "true",
    additionalData: {},
  };
  item.additionalData.hmacSignature = validator.calculateHmac(item, adyenKey);
  const notification = JSON.stringify({ live: "false", notificationItems: [{ NotificationRequestItem: item }] });
  const basic = { Authorization: `Basic ${Buffer.from("shop:s3cret").toString("base64")}` };
  await isTaken("adyen", notification, basic, "[accepted]");

  // Shopify's library verifies only: what it finds right is what avert has to take.
  require("@shopify/shopify-api/adapters/node");
  const { ApiVersion, shopifyApi } = require("@shopify/shopify-api");
  const shopify = shopifyApi({
    apiKey: "none",
    apiSecretKey: shopifySecret,
    apiVersion: Object.values(ApiVersion)[0],
    hostName: "shop.example",
    isEmbeddedApp: false,
    logger: { level: 0 },
  });
  const headers = {
    "X-Shopify-Hmac-Sha256": createHmac("sha256", shopifySecret).update(body).digest("base64"),
    "X-Shopify-Webhook-Id": "b-1",
    "X-Shopify-Topic": "disputes/create",
    "X-Shopify-Shop-Domain": "shop.example",
    "X-Shopify-API-Version": "2026-01",
  };
  const found = await shopify.webhooks.validate({ rawBody: body, rawRequest: { method: "POST", url: "/", headers } });
  assert.ok(found.valid, JSON.stringify(found));
  await isTaken("shopify", body, headers);
  console.log("webhooks of stripe, svix, standardwebhooks, adyen and shopify are taken");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});

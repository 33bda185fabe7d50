// Lists, gets and resolves with the client that @hey-api/openapi-ts made of avert's description.
//
// Usage: generated.js BASE_URL API_KEY, with the made client in the folder `client`. Ends with 0 where everything holds.

import assert from "node:assert";

import { getAlert, getOutcome, listAlerts, resolveAlert } from "./client";
import { client } from "./client/client.gen";

const [baseUrl, key] = process.argv.slice(2);

async function main() {
  client.setConfig({ baseUrl, auth: () => key });
  const page = await listAlerts({ query: { status: ["OPEN", "EXPIRED"], provider: ["ETHOCA"], size: 3 } });
  assert(page.data, JSON.stringify(page.error));
  assert.deepStrictEqual([page.data.total, page.data.data.length], [4, 3]);
  const [first, second] = page.data.data;

  const got = await getAlert({ path: { id: first.id } });
  assert.deepStrictEqual(got.data, first);
  const none = await getOutcome({ path: { id: first.id } });
  assert.deepStrictEqual([none.response?.status, none.error?.code], [404, "outcome_not_found"]);

  const refunded = await resolveAlert({ path: { id: first.id }, body: { refunded: "REFUNDED", comments: "paid back" } });
  assert.deepStrictEqual([refunded.data?.status, refunded.data?.outcome?.outcome], ["RESOLVED", "resolved"]);
  const again = await resolveAlert({ path: { id: first.id }, body: { refunded: "REFUNDED" } });
  assert.deepStrictEqual([again.response?.status, again.error?.code], [409, "alert_already_resolved"]);
  const duplicate = await resolveAlert({
    path: { id: second.id },
    body: { refunded: "INVALID", resolution: "NOT_REFUNDED_DUPLICATE" },
  });
  assert.deepStrictEqual([duplicate.data?.status, duplicate.data?.outcome?.outcome], ["INVALID", "other"]);
  console.log("a client of openapi-ts holds");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});

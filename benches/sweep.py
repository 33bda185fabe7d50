#!/usr/bin/env python3
"""The sweep: every filter alone and in pairs, in every sort, at the first, the middle and the last page, over HTTP.

    avert generate --alerts 1000000 --data-dir DIR       # once
    avert serve --data-dir DIR &
    AVERT_API_KEY=$(avert keys create --data-dir DIR) benches/sweep.py http://127.0.0.1:7317 [alone | FILTER...]

With `alone` pairs are left out; with names of filters only what has one of these first is asked for. Prints how long each kind of page took
(the best of two, in milliseconds) and every combination over its aim: 50 ms for a first page and 150 ms for any other; 150 and 300 ms where
more than a tenth of everything matches, and for texts of one or two characters in an order that has no index. Exits with 1 where one is
over. Needs Python 3.9 and nothing else.
"""
import datetime
import http.client
import itertools
import json
import os
import statistics
import sys
import time
import urllib.parse

SORTS = ["alertTimeStamp", "transactionTimeStamp", "createdAt", "updatedAt", "expiredAt", "amount", "currency", "provider", "providerId",
         "type", "status", "issuer", "merchantDescriptor", "merchantName", "cardBin", "cardLastFour", "hoursLeft"]
UNINDEXED = ["provider", "type", "status"]
SIZE = 10


class Deployment:
    def __init__(self, url, key):
        self.host, self.key, self.connection = urllib.parse.urlsplit(url).netloc, key, None

    def ask(self, parameters):
        """One page, and the milliseconds it took; a connection that was closed is opened anew, once."""
        path = "/api/v1/alerts?" + urllib.parse.urlencode(parameters)
        for last in (False, True):
            self.connection = self.connection or http.client.HTTPConnection(self.host, timeout=60)
            begin = time.perf_counter()
            try:
                self.connection.request("GET", path, headers={"X-API-KEY": self.key})
                answer = self.connection.getresponse()
                body = answer.read()
            except (http.client.HTTPException, OSError):
                self.connection = None
                if last:
                    raise
                continue
            took = (time.perf_counter() - begin) * 1000
            return (json.loads(body) if answer.status == 200 else None), answer.status, took


def filters(deployment):
    """The filters by name; words, a company and texts that there are come from the deployment's own alerts."""
    page, status, _ = deployment.ask({"size": 100, "sortField": "alertTimeStamp", "sortOrder": "DESC"})
    if not page or not page["data"]:
        sys.exit(f"no alerts to read there: {status}")
    sample = page["data"][50 % len(page["data"])]
    today = datetime.date.today()
    day = lambda days: (today - datetime.timedelta(days=days)).isoformat()
    return {
        "open": {"status": "OPEN"},
        "decided": {"status": "RESOLVED,CHARGEBACK"},
        "provider": {"provider": "CDRN"},
        "type": {"type": "VERIFI_CANCEL"},
        "outcome": {"outcome": "previously_refunded"},
        "expired": {"expired": "true"},
        "month": {"startDate": day(60), "endDate": day(30)},
        "bought": {"transactionStartDate": day(120), "transactionEndDate": day(90)},
        "company": {"companyIds": sample["companyId"]},
        "expires": {"expiresIn": 6},
        "descriptor": {"descriptor": sample["merchantDescriptor"][:5]},
        "word": {"q": sample["providerId"][:5]},
        "letters": {"q": sample["providerId"][:2]},
    }


def combinations(named, most):
    yield (), {}
    for size in range(1, most + 1):
        for names in itertools.combinations(named, size):
            merged, together = {}, 0
            for name in names:
                together += len(named[name])
                merged.update(named[name])
            if len(merged) == together:
                yield names, merged


def main():
    if len(sys.argv) < 2 or not os.environ.get("AVERT_API_KEY"):
        sys.exit(__doc__)
    most, wanted = (1, []) if sys.argv[2:] == ["alone"] else (2, sys.argv[2:])
    deployment = Deployment(sys.argv[1], os.environ["AVERT_API_KEY"])
    everything = deployment.ask({"size": 1})[0]["total"]
    took, over, named = {}, [], filters(deployment)
    if not set(wanted) <= set(named):
        sys.exit(f"the filters are {', '.join(named)}")
    combined = [(names, parameters) for names, parameters in combinations(named, most) if not wanted or names and names[0] in wanted]
    for (names, parameters), (number, sort) in itertools.product(combined, enumerate(SORTS)):
        order = ("ASC", "DESC")[(number + len(names)) % 2]
        base = {**parameters, "sortField": sort, "sortOrder": order, "size": SIZE}
        first = deployment.ask({**base, "page": 0})[0]
        pages = (first["totalPages"] if first else 0)
        for which, page in {"first": 0, "middle": pages // 2, "last": max(pages - 1, 0)}.items():
            tries = [deployment.ask({**base, "page": page})[1:] for _ in range(2)]
            best = min(milliseconds for _, milliseconds in tries)
            refused = next((status for status, _ in tries if status != 200), None)
            took.setdefault(which, []).append(best)
            wide = first and first["total"] * 10 > everything or "letters" in names and sort in UNINDEXED
            aim = {True: (150, 300), False: (50, 150)}[bool(wide)][which != "first"]
            if refused or best > aim:
                over.append((best, which, " ".join(names) or "all", sort, order, first and first["total"], refused or ""))
    for which, times in took.items():
        times.sort()
        print(f"{which:>6}: {len(times)} pages, median {statistics.median(times):.1f}, 95 % {times[len(times) * 95 // 100]:.1f}, "
              f"longest {times[-1]:.1f} ms; over 50 ms {sum(t > 50 for t in times)}, over 150 ms {sum(t > 150 for t in times)}")
    print(f"{len(over)} over their aim of {sum(map(len, took.values()))}")
    for best, which, names, sort, order, total, refused in sorted(over, reverse=True):
        print(f"{best:9.1f} ms  {which:6}  {names:24}  {sort} {order}  {total} match {refused}")
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()

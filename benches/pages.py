#!/usr/bin/env python3
"""The same pages of several databases, by turns in one run: how lists and searches grow, and PostgreSQL beside SQLite.

    benches/pages.py target/release/avert [--decide N] DATABASE DATABASE...

A DATABASE is a data directory, or the address of a PostgreSQL database (with its AVERT_SECRET_KEY_FILE), each with an organization
`default` such as `avert generate` makes. Starts `avert serve` on each and asks each in turn for the same kinds of pages over HTTP, one
caller: prints the best of nine in milliseconds, and how many times of the first database's that is. With --decide, N alerts that wait are
answered at each as well, by turns, and the median of a PUT is told; that changes them. Needs Python 3.9 and nothing else.
"""
import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.parse

ADDRESS = re.compile(r"listening on http://(\S+)")
TRIES = 9
SIZE = 10


class Deployment:
    def __init__(self, binary, database):
        flag = "--database" if "://" in database else "--data-dir"
        made = subprocess.run([binary, "keys", "create", "--organization", "default", "--scope", "alerts,operator", "--output", "json"]
                              + (["--data-dir", database] if flag == "--data-dir" else []),
                              env=environment(database), capture_output=True, text=True)
        if made.returncode:
            sys.exit(f"no key for the database: {made.stderr}")
        self.key = json.loads(made.stdout)["key"]
        self.service = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", flag, database], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.connection = http.client.HTTPConnection(ADDRESS.match(self.service.stdout.readline())[1], timeout=60)

    def ask(self, path, parameters, method="GET", body=None):
        """The answer, and the milliseconds it took."""
        headers = {"X-API-KEY": self.key} | ({"Content-Type": "application/json"} if body else {})
        begin = time.perf_counter()
        self.connection.request(method, path + "?" + urllib.parse.urlencode(parameters), body and json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        took = (time.perf_counter() - begin) * 1000
        if answer.status == 503:
            # Given up for its time: it counts as a try that took for ever.
            return None, float("inf")
        if answer.status != 200:
            sys.exit(f"{method} {path} {parameters}: {answer.status} {text.decode(errors='replace')}")
        return json.loads(text), took

    def list(self, **parameters):
        return self.ask("/api/v1/alerts", {"size": SIZE, **parameters})

    def find(self, text):
        return self.ask("/operator/v1/find", {"q": text, "size": 20})

    def end(self):
        self.service.terminate()
        self.service.wait()


def environment(database):
    return dict(os.environ, AVERT_DATABASE=database) if "://" in database else None


def pages(deployment):
    """What is asked of a deployment by its name: words that are looked for come from its own alerts."""
    total = deployment.list()[0]["total"]
    sample = deployment.list(sortField="alertTimeStamp", sortOrder="DESC", page=total // SIZE // 3)[0]["data"][0]
    waiting = deployment.list(status="OPEN", sortField="hoursLeft", page=5)[0]["data"][0]
    middle = total // SIZE // 2
    lists = {
        "everything": {},
        "open, newest first": {"status": "OPEN", "sortField": "alertTimeStamp", "sortOrder": "DESC"},
        "open by hours left": {"status": "OPEN", "sortField": "hoursLeft"},
        "one network": {"provider": "VERIFI"},
        "a network's answered ones": {"provider": "VERIFI", "status": "RESOLVED"},
        "the middle by time": {"page": middle},
        "the middle by amount": {"page": middle, "sortField": "amount"},
        "open by amount": {"status": "OPEN", "sortField": "amount"},
        "one company": {"companyIds": sample["companyId"]},
        "a descriptor's beginning": {"descriptor": sample["merchantDescriptor"][:6]},
        "lapses within 6 hours": {"expiresIn": 6},
        "search in open ones: an id's part": {"status": "OPEN", "sortField": "hoursLeft", "q": waiting["providerId"][2:8]},
        "search in open ones: a name's part": {"status": "OPEN", "sortField": "hoursLeft", "q": waiting["merchantDescriptor"][:5]},
        "search in open ones: two letters": {"status": "OPEN", "sortField": "hoursLeft", "q": waiting["merchantDescriptor"][:2]},
    }
    found = {"an id": sample["providerId"], "an order": sample["merchantOrderId"] or sample["providerId"], "an amount": sample["amount"],
             "last four": sample["cardLastFour"], "a name": sample["merchantName"].split()[0], "two letters": sample["merchantName"][:2],
             "refund": "refund", "refunded": "refunded"}
    asked = {name: lambda d, parameters=parameters: d.list(**parameters) for name, parameters in lists.items()}
    asked |= {f"find: {name}": lambda d, text=text: d.find(text) for name, text in found.items()}
    asked["one alert by id"] = lambda d: d.ask("/api/v1/alerts/" + sample["id"], {})
    return total, asked


def decide(deployments, count):
    """The median milliseconds of a PUT at each, by turns."""
    waiting = []
    for deployment in deployments:
        alerts = []
        for page in range((count + 99) // 100):
            alerts += deployment.list(status="OPEN", sortField="hoursLeft", sortOrder="DESC", size=100, page=page)[0]["data"]
        waiting.append([alert["id"] for alert in alerts[:count]])
    took = [[] for _ in deployments]
    for number in range(count):
        for deployment, ids, times in zip(deployments, waiting, took):
            if number < len(ids):
                times.append(deployment.ask(f"/api/v1/alerts/{ids[number]}/resolution", {}, "PUT", {"refunded": "NOT REFUNDED"})[1])
    return [statistics.median(times) for times in took]


def tell(name, times):
    ratios = " ".join(f"{time / times[0]:6.2f}" for time in times[1:])
    print(f"{name:36} " + " ".join(f"{time:8.2f}" for time in times) + f" ms   {ratios}", flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("databases", nargs="+")
    arguments.add_argument("--decide", type=int, default=0)
    given = arguments.parse_args()
    deployments = []
    try:
        for database in given.databases:
            deployments.append(Deployment(given.binary, database))
        asked = [pages(deployment) for deployment in deployments]
        print("alerts: " + ", ".join(f"{total:,}" for total, _ in asked))
        for name in asked[0][1]:
            best = [float("inf")] * len(deployments)
            for _ in range(TRIES):
                for number, (deployment, (_, page)) in enumerate(zip(deployments, asked)):
                    best[number] = min(best[number], page[name](deployment)[1])
            tell(name, best)
        if given.decide:
            tell("a decision (median)", decide(deployments, given.decide))
    finally:
        for deployment in deployments:
            deployment.end()


if __name__ == "__main__":
    main()

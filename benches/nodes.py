#!/usr/bin/env python3
"""Resolutions a second by one, two and three nodes on one PostgreSQL database.

    AVERT_SECRET_KEY_FILE=KEY benches/nodes.py target/release/avert postgres://USER:PASS@HOST:PORT/NAME [SECONDS] [CALLERS]

Brings alerts that wait into the database, which should be one that nobody needs, then starts `avert serve` once, twice and three times on it
and has CALLERS (64) resolve them for SECONDS (10) each time, spread over the nodes, with the simulated networks. Prints resolutions a second
and how long a PUT took. Exits with 1 where one was not recorded. The callers are on the same machine, and take their part of it.
Needs Python 3.9 and nothing else.
"""
import http.client
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid

ADDRESS = re.compile(r"listening on http://(\S+)")
# Python runs one thread at a time in a process.
PROCESSES = 2


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[1]} failed: {done.stderr or done.stdout}")
    return done.stdout


def bring(binary, count):
    """The ids of so many new alerts that wait."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    ids = [str(uuid.uuid4()) for _ in range(count)]
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as rows:
        for number, name in enumerate(ids):
            rows.write(json.dumps({"id": name, "provider": "ETHOCA", "providerId": "NODES " + name[:18], "type": "ETHOCA_CONFIRMED_FRAUD",
                                   "amount": 10 + number % 500, "currency": "USD", "alertTimeStamp": now, "transactionTimeStamp": now,
                                   "cardBin": "411111", "cardLastFour": f"{number % 10_000:04}", "merchantDescriptor": "MANY NODES"}) + "\n")
        rows.flush()
        run([binary, "import", rows.name, "--no-events"])
    return ids


def call(address, key, ids, end, took):
    connection = http.client.HTTPConnection(address, timeout=60)
    for name in ids:
        begin = time.monotonic()
        if begin > end:
            return
        connection.request("PUT", f"/api/v1/alerts/{name}/resolution", b'{"refunded": "NOT REFUNDED"}',
                           {"X-API-KEY": key, "Content-Type": "application/json"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(f"a resolution was answered with {answer.status}: {body.decode(errors='replace')}")
        took.append((time.monotonic() - begin) * 1000)
    took.append(None)


def callers(share, key, end, told):
    """Runs a share of the callers as threads, and tells how long each PUT took."""
    took = []
    threads = [threading.Thread(target=call, args=(address, key, ids, end, took)) for address, ids in share]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.put(took)


def measure(addresses, key, ids, seconds, count):
    parts = [(addresses[number % len(addresses)], ids[number::count]) for number in range(count)]
    told, end = multiprocessing.Queue(), time.monotonic() + seconds
    processes = [multiprocessing.Process(target=callers, args=(parts[number::PROCESSES], key, end, told)) for number in range(PROCESSES)]
    for process in processes:
        process.start()
    took = [time for _ in processes for time in told.get()]
    for process in processes:
        process.join()
    if None in took:
        sys.exit("all alerts were resolved before the time was over: take fewer SECONDS")
    return sorted(took)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    binary, database = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 64
    os.environ["AVERT_DATABASE"] = database
    key = json.loads(run([binary, "keys", "create", "--output", "json"]))["key"]
    for nodes in (1, 2, 3):
        ids = bring(binary, int(seconds * 2000))
        services = [subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                    for _ in range(nodes)]
        try:
            addresses = [ADDRESS.match(service.stdout.readline())[1] for service in services]
            took = measure(addresses, key, ids, seconds, count)
            print(f"{nodes} nodes, {count} callers: {len(took) / seconds:,.0f} resolutions/s; a PUT took {took[len(took) // 2]:.1f} ms, "
                  f"99 % {took[len(took) * 99 // 100]:.1f} ms", flush=True)
        finally:
            for service in services:
                service.terminate()
            for service in services:
                service.wait()


if __name__ == "__main__":
    main()

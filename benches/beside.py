#!/usr/bin/env python3
"""Resolutions over HTTP beside an import of the same desk: how long a PUT takes, and how long the write-ahead log grows.

    benches/beside.py target/release/avert [ALERTS] [SECONDS]

Makes ALERTS (200,000) by `avert generate` and exports them as NDJSON. Starts `avert serve` on an empty directory with the simulated networks,
gives it alerts that wait, and lets one caller resolve them, one after the other: for SECONDS (10) with nothing else at work, then for as long
as `avert import` takes for all of ALERTS. Prints the median and the 99th percentile of a PUT both times, the pace of the import, and the
longest write-ahead log. Exits with 1 where a PUT was not recorded. Needs Python 3.9 and some 3 KB of temporary space an alert.
"""
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid

ADDRESS = re.compile(r"listening on http://(\S+)")
WAITING = 60_000


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[1]} failed: {done.stderr or done.stdout}")
    return done.stdout


def waiting(number):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"id": str(uuid.uuid4()), "provider": "ETHOCA", "providerId": f"BESIDE{number:08}", "type": "ETHOCA_CONFIRMED_FRAUD", "status": "OPEN",
            "amount": 10 + number % 500, "currency": "USD", "alertTimeStamp": now, "transactionTimeStamp": now,
            "cardBin": "411111", "cardLastFour": f"{number % 10_000:04}", "merchantDescriptor": "BESIDE THE IMPORT"}


class Caller:
    """One caller that resolves the alerts by turns and keeps how long each PUT took, in milliseconds."""

    def __init__(self, address, key, alerts):
        self.connection, self.key, self.alerts = http.client.HTTPConnection(address, timeout=60), key, iter(alerts)

    def resolve_until(self, ended):
        took = []
        while not ended():
            alert = next(self.alerts, None) or sys.exit(f"all {WAITING} alerts that wait are resolved: take fewer ALERTS")
            begin = time.perf_counter()
            self.connection.request("PUT", f"/api/v1/alerts/{alert}/resolution", json.dumps({"refunded": "REFUNDED"}),
                                    {"X-API-KEY": self.key, "Content-Type": "application/json"})
            answer = self.connection.getresponse()
            body = answer.read()
            took.append((time.perf_counter() - begin) * 1000)
            if answer.status >= 300:
                sys.exit(f"a resolution was answered with {answer.status}: {body.decode(errors='replace')}")
        return sorted(took)


def describe(took):
    return f"{len(took)} PUTs, median {took[len(took) // 2]:.1f} ms, 99 % {took[len(took) * 99 // 100]:.1f} ms, longest {took[-1]:.1f} ms"


def watch(log, ended, longest):
    while not ended.wait(0.02):
        longest.append(log.stat().st_size if log.exists() else 0)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    alerts = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10
    with tempfile.TemporaryDirectory(dir=os.environ.get("AVERT_BENCH_DIR")) as name:
        directory = pathlib.Path(name)
        made, desk, rows, first = str(directory / "made"), str(directory / "desk"), directory / "all.ndjson", directory / "waiting.ndjson"
        run([binary, "generate", "--alerts", str(alerts), "--organizations", "1", "--data-dir", made])
        run([binary, "alerts", "export", "--to", str(rows), "--data-dir", made])
        wait = [waiting(number) for number in range(WAITING)]
        first.write_text("".join(json.dumps(alert) + "\n" for alert in wait))
        run([binary, "import", str(first), "--no-events", "--data-dir", desk])
        key = json.loads(run([binary, "keys", "create", "--output", "json", "--data-dir", desk]))["key"]
        service = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", desk], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        try:
            address = ADDRESS.match(service.stdout.readline())[1]
            caller = Caller(address, key, (alert["id"] for alert in wait))
            end = time.monotonic() + seconds
            alone = caller.resolve_until(lambda: time.monotonic() > end)
            print("alone: ", describe(alone), flush=True)
            ended, longest = threading.Event(), [0]
            watcher = threading.Thread(target=watch, args=(directory / "desk" / "avert.db-wal", ended, longest))
            watcher.start()
            begin = time.monotonic()
            bringing = subprocess.Popen([binary, "import", str(rows), "--no-events", "--data-dir", desk], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE)
            try:
                beside = caller.resolve_until(lambda: bringing.poll() is not None)
            finally:
                took = time.monotonic() - begin
                ended.set()
                watcher.join()
                bringing.kill()
            if bringing.wait():
                sys.exit(f"the import failed: {bringing.stderr.read().decode(errors='replace')}")
            print("beside:", describe(beside), flush=True)
            print(f"import: {alerts / took:,.0f} alerts/s; the log had at most {max(longest) / 2**20:.0f} MiB")
        finally:
            service.terminate()
            service.wait()


main()

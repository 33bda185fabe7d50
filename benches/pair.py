#!/usr/bin/env python3
"""Two binaries beside each other: a decision, an intake of 100 alerts, a list and one alert over HTTP, by turns.

    benches/pair.py OLD NEW [ROUNDS]
    benches/pair.py OLD NEW [ROUNDS] --postgres postgres://USER:PASS@HOST:PORT/OLD postgres://USER:PASS@HOST:PORT/NEW

Starts `avert serve` of each binary on an empty database of its own with the simulated networks, gives both the same 2,000 alerts and asks them
by turns for ROUNDS (300) rounds. Prints the median of each in milliseconds, and NEW divided by OLD. To PostgreSQL every answer takes one
millisecond longer, as over a network: what is slower there has a round trip more. Needs Python 3.9 and nothing else.
"""
import asyncio
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid

ADDRESS = re.compile(r"listening on http://(\S+)")


def later(host, port, ready):
    """A port through which each answer of a server comes one millisecond later."""
    async def forward(reader, writer, delay):
        loop = asyncio.get_running_loop()
        while data := await reader.read(1 << 16):
            if delay:
                loop.call_later(delay, writer.write, data)
            else:
                writer.write(data)
        loop.call_later(delay, writer.close)

    async def accept(reader, writer):
        there, back = await asyncio.open_connection(host, port)
        await asyncio.gather(forward(reader, back, 0), forward(there, writer, 0.001), return_exceptions=True)

    async def serve():
        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        ready.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


def alert(number):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"id": str(uuid.uuid4()), "provider": "ETHOCA", "providerId": f"PAIR{number:08}{uuid.uuid4().hex[:6]}", "type": "ETHOCA_CONFIRMED_FRAUD",
            "amount": 10 + number % 500, "currency": "USD", "alertTimeStamp": now, "transactionTimeStamp": now,
            "cardBin": "411111", "cardLastFour": f"{number % 10_000:04}", "merchantDescriptor": "ONE BESIDE ANOTHER"}


class Side:
    """A binary that serves a database of its own, and how long each of its answers took."""

    def __init__(self, binary, database):
        self.home, self.took, self.number = tempfile.TemporaryDirectory(), {}, 0
        home = pathlib.Path(self.home.name)
        surroundings = {**os.environ, "HOME": str(home), "AVERT_DATA_DIR": str(home)}
        if database:
            surroundings |= {"AVERT_DATABASE": database, "AVERT_SECRET_KEY_FILE": str(home / "secret.key")}
            subprocess.run([binary, "migrate"], env=surroundings, check=True, capture_output=True)
        keys = [subprocess.run([binary, "keys", "create", "--scope", scope, "--output", "json"], env=surroundings, capture_output=True, text=True)
                for scope in ("alerts", "operator")]
        self.key, self.operator = (json.loads(key.stdout or sys.exit(key.stderr))["key"] for key in keys)
        self.server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0"], env=surroundings, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        self.connection = http.client.HTTPConnection(ADDRESS.search(self.server.stdout.readline())[1], timeout=60)

    def ask(self, what, method, path, body=None, key=None):
        headers = {"X-API-KEY": key or self.key, "Content-Type": "application/json"}
        begin = time.perf_counter()
        self.connection.request(method, path, body and json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        self.took.setdefault(what, []).append((time.perf_counter() - begin) * 1000)
        if answer.status >= 300:
            sys.exit(f"{what}: {answer.status} {text.decode(errors='replace')}")

    def bring(self, what, count):
        rows = [alert(self.number + index) for index in range(count)]
        self.number += count
        self.ask(what, "POST", "/operator/v1/alerts", rows, self.operator)
        return [row["id"] for row in rows]

    def round(self):
        ids = self.bring("intake of 100", 100)
        self.ask("decision", "PUT", f"/api/v1/alerts/{ids[0]}/resolution", {"refunded": "REFUNDED"})
        self.ask("list of 10", "GET", "/api/v1/alerts?size=10&status=OPEN")
        self.ask("one alert", "GET", f"/api/v1/alerts/{ids[0]}")


def main():
    arguments = sys.argv[1:]
    databases = [None, None]
    if "--postgres" in arguments:
        at = arguments.index("--postgres")
        arguments, databases = arguments[:at], arguments[at + 1:]
        for index, database in enumerate(databases):
            url = urllib.parse.urlsplit(database)
            ready = multiprocessing.Queue()
            multiprocessing.Process(target=later, args=(url.hostname, url.port or 5432, ready), daemon=True).start()
            account = url.netloc.rpartition("@")[0]
            databases[index] = url._replace(netloc=f"{account}@127.0.0.1:{ready.get()}").geturl()
    if len(arguments) < 2 or len(databases) != 2:
        sys.exit(__doc__)
    rounds = int(arguments[2]) if len(arguments) > 2 else 300
    sides = [Side(binary, database) for binary, database in zip(arguments, databases)]
    try:
        for side in sides:
            for _ in range(20):
                side.bring("", 100)
        for number in range(rounds):
            for side in sides if number % 2 else sides[::-1]:
                side.round()
        for what in ("decision", "intake of 100", "list of 10", "one alert"):
            old, new = (statistics.median(side.took[what]) for side in sides)
            print(f"{what:14} old {old:7.2f} ms   new {new:7.2f} ms   {new / old:.2f}")
    finally:
        for side in sides:
            side.server.kill()


if __name__ == "__main__":
    main()

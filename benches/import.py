#!/usr/bin/env python3
"""An import beside `sqlite3 .import` of the same alerts into an empty database with the same indexes and texts.

    benches/import.py target/release/avert [ALERTS] [ROUNDS]

Makes ALERTS (100,000) by `avert generate`, exports them as NDJSON, and in each of ROUNDS (2) brings them into an empty directory with
`avert import`; then once more as new alerts that wait, each with an event for one endpoint; and then the rows of the first into an empty
database with the shell: `.import` into bare tables and, over rows of the right types, every index and the trigrams of both texts. The shell
reads rows that are made already, and checks nothing. Prints alerts a second.
Needs Python 3.9, the program sqlite3 with FTS5, and some 3 KB of temporary space an alert.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# What `alert_find` holds cannot be read back, so the peer puts the same fields between the same edges.
IDENTITY = "substr(hex(a.id), 1, 8) || '-' || substr(hex(a.id), 9, 4) || '-' || substr(hex(a.id), 13, 4) || '-' || " \
    "substr(hex(a.id), 17, 4) || '-' || substr(hex(a.id), 21)"
FOUND = ["a.provider_id", "p.value", "t.value", "a.issuer", "a.card_bin", "a.card_last_four", "a.merchant_descriptor",
         "a.ethoca_merchant_id", "a.merchant_id", "a.merchant_order_id", "a.merchant_name", "a.partner_name", "a.client_name", "a.caid",
         "a.amount", "a.currency", "a.auth_code", "a.reason_code", "a.acquirer_reference_number", "a.transaction_id", IDENTITY, "o.comments"]
ROWS = ["alert", "outcome", "alert_search"]
OF_THE_PAST = ["outcome", "expiredAt", "createdAt", "updatedAt", "hoursLeft"]


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode or done.stderr.startswith("Error"):
        sys.exit(f"{command[0]} failed: {done.stderr or done.stdout}")
    return done.stdout


def timed(command, **options):
    started = time.monotonic()
    run(command, **options)
    return time.monotonic() - started


def peer(made, directory):
    """Seconds that the shell takes for the same rows: `.import` into bare tables, then indexes and texts over rows of the right types."""
    def sql_of(condition):
        return run(["sqlite3", f"file:{made}?mode=ro", f"SELECT sql || ';' FROM sqlite_master WHERE sql <> '' AND {condition}"])

    settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;"
    tables = {name: sql_of(f"type = 'table' AND name = '{name}'") for name in ROWS}
    for name in ROWS:
        with open(directory / f"{name}.csv", "wb") as rows:
            subprocess.run(["sqlite3", "-csv", f"file:{made}?mode=ro", f"SELECT * FROM {name}"], check=True, stdout=rows)
    # The shell reads every value as text, so these tables take any.
    bare = [re.sub(r"\) STRICT;|CHECK \(length\(id\) = 16\)", lambda part: ");" if "STRICT" in part[0] else "", table)
            for table in tables.values()]
    imports = [f".import '{directory / name}.csv' {name}" for name in ROWS]
    first = timed(["sqlite3", str(directory / "bare.db")],
                  input="\n".join([settings, *bare, "BEGIN;", ".mode csv", *imports, "COMMIT;", "PRAGMA wal_checkpoint(TRUNCATE);"]))
    typed = str(directory / "typed.db")
    run(["sqlite3", typed], input="\n".join([
        settings, *tables.values(), "CREATE TABLE word (key INTEGER PRIMARY KEY, value TEXT);", f"ATTACH '{made}' AS made;",
        *(f"INSERT INTO {name} SELECT * FROM made.{name};" for name in [*ROWS, "word"]), "PRAGMA wal_checkpoint(TRUNCATE);",
    ]))
    edge = " || char(31, 31) || "
    found = "char(31, 31) || " + edge.join(f"coalesce(lower({field}), '')" for field in FOUND) + " || char(31, 31)"
    second = timed(["sqlite3", typed], input="\n".join([
        settings, "BEGIN;", *(sql_of(f"type = 'index' AND tbl_name = '{name}'") for name in ROWS),
        *(sql_of(f"name = '{name}'") for name in ["alert_trigram", "alert_find"]),
        "INSERT INTO alert_trigram(alert_trigram) VALUES ('rebuild');",
        f"INSERT INTO alert_find(rowid, text) SELECT a.key, {found} FROM alert a LEFT JOIN outcome o ON o.alert = a.key "
        "JOIN word p ON p.key = a.provider JOIN word t ON t.key = a.type;",
        "COMMIT;", "PRAGMA wal_checkpoint(TRUNCATE);",
    ]))
    for database in [directory / "bare.db", directory / "typed.db"]:
        database.unlink()
    return first, second


def write_new(rows, new):
    """The same alerts as they were when they came in, all of them now."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with open(rows) as before, open(new, "w") as after:
        for line in before:
            alert = {name: value for name, value in json.loads(line).items() if name not in OF_THE_PAST}
            after.write(json.dumps(alert | {"status": "OPEN", "alertTimeStamp": now}) + "\n")


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    alerts = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    with tempfile.TemporaryDirectory(dir=os.environ.get("AVERT_BENCH_DIR")) as name:
        directory = pathlib.Path(name)
        rows, new = directory / "all.ndjson", directory / "new.ndjson"
        made = str(directory / "made")
        timed([binary, "generate", "--alerts", str(alerts), "--organizations", "1", "--data-dir", made])
        timed([binary, "alerts", "export", "--to", str(rows), "--data-dir", made])
        write_new(rows, new)
        for number in range(rounds):
            bare, events = str(directory / f"bare{number}"), str(directory / f"events{number}")
            without = timed([binary, "import", str(rows), "--no-events", "--data-dir", bare])
            run([binary, "webhooks", "add", "https://receiver.example/events", "--basic", "bench:bench", "--data-dir", events])
            with_events = timed([binary, "import", str(new), "--data-dir", events])
            first, second = peer(pathlib.Path(bare) / "avert.db", directory)
            shell = first + second
            print(f"avert {alerts / without:,.0f}/s, with events {alerts / with_events:,.0f}/s; sqlite3 {alerts / shell:,.0f}/s "
                  f"(.import {first:.1f} s, indexes and texts {second:.1f} s): {shell / without:.2f} and {shell / with_events:.2f} of it",
                  flush=True)


main()

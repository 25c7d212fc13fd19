#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
"""sell.py - a fenced section in Python, with redis-py and psycopg2

    sell.py LUA_FOLDER REDIS_SOCKET SKU [PAUSE_MS]

Takes the lock by the published script, claims before it reads, thinks for
PAUSE_MS and sells one.  The database is the one that PGHOST, PGDATABASE and so
on name.  Ends with 0 when it has sold, with 3 when the database refused it:
then somebody else was newer, and nothing was written.
"""
import secrets
import sys
import time

import psycopg2
import redis

TTL_MS = 1000
PREFIX = "lock:v1:"
REFUSED = ("RF001", "RF002")


class Lost(Exception):
    """The lock is not ours, or not any more."""


class Lock:
    """One acquisition: a fence, a holder, and the time until which it counts."""

    def __init__(self, server, folder, resource):
        key = "{" + PREFIX + resource + "}"
        self.keys = [key, key + ":fence", key + ":wake", key + ":waiters"]
        self.resource = resource
        self.holder = secrets.token_hex(16)
        self.acquire_script = self._script(server, folder, "acquire")
        self.release_script = self._script(server, folder, "release")
        self.fence = None
        self.until = 0.0

    @staticmethod
    def _script(server, folder, name):
        # Sent by digest, and by text when Redis does not know it.
        with open(f"{folder}/{name}.lua", encoding="utf-8") as file:
            return server.register_script(file.read())

    def acquire(self, ask_floor):
        """Try once.  ask_floor: what the database knows, for a lost counter."""
        floor = "?"
        while True:
            # Before it is sent: the answer may take its time.
            sent = time.clock_gettime(time.CLOCK_BOOTTIME)
            answer = self.acquire_script(
                keys=self.keys, args=[self.holder, TTL_MS, floor, 0, "", "tag"])
            outcome = answer[3].decode()
            if outcome != "NEEDS_FLOOR":
                break
            floor = ask_floor(self.resource)
        if outcome not in ("OK", "REPLAY"):
            raise Lost(outcome)
        self.fence = int(answer[4])
        self.until = sent + (TTL_MS - TTL_MS / 100 - 2) / 1000

    def release(self):
        self.release_script(keys=[self.keys[0], self.keys[2], self.keys[3]],
                            args=[self.holder, self.fence, "tag"])

    def is_alive(self):
        return time.clock_gettime(time.CLOCK_BOOTTIME) < self.until


def claim(cursor, lock):
    """First in every transaction of the section, a statement of its own."""
    cursor.execute("SELECT ringfence.guard(%s, %s, %s)",
                   (lock.resource, lock.fence, lock.holder))


def read(database, lock, sku):
    with database, database.cursor() as cursor:
        claim(cursor, lock)
        cursor.execute("SELECT remaining FROM stock WHERE sku = %s", (sku,))
        return cursor.fetchone()[0]


def write(database, lock, sku, remaining):
    with database, database.cursor() as cursor:
        claim(cursor, lock)
        cursor.execute(
            "UPDATE stock SET remaining = %s, fence = ringfence.fence(%s)"
            " WHERE sku = %s", (remaining, lock.resource, sku))


def sell(database, lock, sku, pause_ms):
    remaining = read(database, lock, sku)
    print(f"fence {lock.fence} reads {remaining}", flush=True)
    time.sleep(pause_ms / 1000)
    write(database, lock, sku, remaining - 1)
    print(f"fence {lock.fence} writes {remaining - 1}", flush=True)


def main(folder, socket, sku, pause_ms="0"):
    server = redis.Redis(unix_socket_path=socket)
    database = psycopg2.connect("")
    lock = Lock(server, folder, "stock:" + sku)

    def ask_floor(resource):
        with database, database.cursor() as cursor:
            cursor.execute("SELECT ringfence.high_water(%s)", (resource,))
            return cursor.fetchone()[0]

    lock.acquire(ask_floor)
    try:
        sell(database, lock, sku, int(pause_ms))
    except psycopg2.Error as error:
        if error.pgcode not in REFUSED:
            raise
        print(f"fence {lock.fence} is refused: {error.pgcode}"
              f" {error.diag.message_primary}", flush=True)
        return 3
    if lock.is_alive():
        lock.release()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

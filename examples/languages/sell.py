#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
"""sell.py - a fenced section in Python, with redis-py and psycopg2

    sell.py LUA_FOLDER REDIS_SOCKET SKU [PAUSE_MS [ORDER]]

Takes the lock by the published script, claims before it reads, thinks for
PAUSE_MS and sells one for ORDER.  The database is the one that PGHOST,
PGDATABASE and so on name.

When nobody knows whether a commit landed, the same order is sent again in a new
section: its receipt (ringfence.once) keeps it from being sold twice.  Ends with

    0   sold, now or by an earlier attempt
    1   no lock: somebody else has it, or a server is away; try later
    2   nothing is left
    3   refused by the database: somebody else was newer, nothing was written.
        Also when Redis came back from an old copy: "ringfence heal"
    4   not known after all attempts: start it again with the same ORDER
"""
import secrets
import sys
import time

import psycopg2
import redis

TTL_MS = 1000
TIMEOUT_S = 2
ATTEMPTS = 5
PREFIX = "lock:v1:"
REFUSED = ("RF001", "RF002")


class NoLock(Exception):
    """The lock is not ours, and nothing was sent to the database."""


class Again(Exception):
    """Nothing landed, or nobody knows: the same order in a new section."""


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

    def _ask(self, floor):
        args = [self.holder, TTL_MS, floor, 0, "", "tag"]
        try:
            return self.acquire_script(keys=self.keys, args=args)
        except (redis.ConnectionError, redis.TimeoutError):
            # The answer is lost, not the grant: the same holder is told of it.
            return self.acquire_script(keys=self.keys, args=args)

    def acquire(self, ask_floor):
        """Try once.  ask_floor: what the database knows, for a lost counter."""
        floor = "?"
        while True:
            # Before it is sent: the answer may take its time.
            sent = time.clock_gettime(time.CLOCK_BOOTTIME)
            answer = self._ask(floor)
            outcome = answer[3].decode()
            if outcome != "NEEDS_FLOOR":
                break
            floor = ask_floor(self.resource)
        if outcome not in ("OK", "REPLAY"):
            raise NoLock(outcome)
        self.fence = int(answer[4])
        # What is left of a grant that is told of again is less than TTL_MS.
        self.until = sent + int(answer[5]) * 0.99 / 1000 - 0.002

    def release(self):
        """None of what may go wrong here matters: the lock runs out."""
        try:
            self.release_script(keys=[self.keys[0], self.keys[2], self.keys[3]],
                                args=[self.holder, self.fence, "tag"])
        except redis.RedisError as error:
            print(f"not given back: {error}", flush=True)

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
        row = cursor.fetchone()
        return row[0] if row else 0


def write(database, lock, sku, remaining, order):
    """False: an earlier attempt has done it, whose answer was lost."""
    with database, database.cursor() as cursor:
        claim(cursor, lock)
        cursor.execute("SELECT ringfence.once(%s, %s)", (lock.resource, order))
        if not cursor.fetchone()[0]:
            return False
        cursor.execute(
            "UPDATE stock SET remaining = %s, fence = ringfence.fence(%s)"
            " WHERE sku = %s", (remaining, lock.resource, sku))
        return True


def sell(database, lock, sku, pause_ms, order):
    remaining = read(database, lock, sku)
    print(f"fence {lock.fence} reads {remaining}", flush=True)
    if remaining == 0:
        return 2
    time.sleep(pause_ms / 1000)
    if write(database, lock, sku, remaining - 1, order):
        print(f"fence {lock.fence} writes {remaining - 1}", flush=True)
    else:
        print(f"{order} was sold before", flush=True)
    return 0


def section(server, database, folder, sku, pause_ms, order):
    """Lock, claim, read, think, write, release."""
    lock = Lock(server, folder, "stock:" + sku)

    def ask_floor(resource):
        with database, database.cursor() as cursor:
            cursor.execute("SELECT ringfence.high_water(%s)", (resource,))
            return cursor.fetchone()[0]

    try:
        lock.acquire(ask_floor)
        return sell(database, lock, sku, pause_ms, order)
    except redis.RedisError as error:
        raise NoLock(error) from error
    except psycopg2.Error as error:
        if error.pgcode in REFUSED:
            print(f"fence {lock.fence} is refused: {error.pgcode}"
                  f" {error.diag.message_primary}", flush=True)
            return 3
        # By code, never by text.  A connection that is gone tells nothing.
        if database.closed or (error.pgcode or "").startswith("40"):
            raise Again(error) from error
        raise
    finally:
        if lock.is_alive():
            lock.release()


def main(folder, socket, sku, pause_ms="0", order=None):
    server = redis.Redis(unix_socket_path=socket, socket_timeout=TIMEOUT_S)
    order = order or "order " + secrets.token_hex(8)
    in_doubt = False
    for attempt in range(ATTEMPTS):
        time.sleep(attempt * TTL_MS / 1000)
        try:
            database = psycopg2.connect("")
        except psycopg2.OperationalError as error:
            print(f"no database: {error}", flush=True)
            continue
        try:
            return section(server, database, folder, sku, int(pause_ms), order)
        except NoLock as error:
            print(f"no lock: {error}", flush=True)
            # After an outcome that is unknown somebody has to find out.
            if not in_doubt:
                return 1
        except Again as error:
            print(f"{order}: once more: {error}", flush=True)
            in_doubt = True
        finally:
            database.close()
    return 4 if in_doubt else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

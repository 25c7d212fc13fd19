#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
"""redis_py.py PORT: the Lock of redis-py, as a contestant of peers.c."""
import resource
import sys
import time

import redis
from redis.lock import Lock


def cpu_us():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1e6


def pair(client):
    lock = Lock(client, "peer:redis-py", timeout=30, blocking=False)
    if not lock.acquire():
        sys.exit("redis-py: the lock is held")
    lock.release()


def main():
    client = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]))
    for line in sys.stdin:
        cpu, begin = cpu_us(), time.monotonic()
        for _ in range(int(line)):
            pair(client)
        took = (time.monotonic() - begin) * 1e6
        print(took, cpu_us() - cpu, flush=True)


main()

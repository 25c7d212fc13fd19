#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# What the library costs beyond its two round trips; lock.c tells it.
set -euo pipefail
exec "$RF_BUILD/bench/lock" ${ROUNDS:+"$ROUNDS"}

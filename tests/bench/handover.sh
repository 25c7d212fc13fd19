#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Sixty-four processes on one lock; handover_bench.c tells how it goes.
set -euo pipefail
"$RF_BUILD/bench/handover_bench" 64 5 | grep -F $'\t'

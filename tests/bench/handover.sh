#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Sixty-four processes on one lock; handover.c tells how it goes.
set -euo pipefail
exec "$RF_BUILD/bench/handover" 64 5

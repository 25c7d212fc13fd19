#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Whole sections, with their round trips and flushes; section.c tells it.
set -euo pipefail
exec "$RF_BUILD/bench/section" ${ROUNDS:+"$ROUNDS"}

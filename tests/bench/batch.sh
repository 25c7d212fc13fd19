#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Many locks in one request, against one request for each; batch.c tells it.
set -euo pipefail
exec "$RF_BUILD/bench/batch" ${ROUNDS:+"$ROUNDS"}

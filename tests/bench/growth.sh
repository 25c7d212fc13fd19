#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# One to 64 clients, each with a resource of its own; growth.c tells it.
set -euo pipefail
rounds=${ROUNDS:-5}
exec "$RF_BUILD/bench/growth" $((rounds < 100 ? rounds : 100))

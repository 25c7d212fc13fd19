#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# What each lock in a keeper costs; keeper.c tells it.
set -euo pipefail
exec "$RF_BUILD/bench/keeper"

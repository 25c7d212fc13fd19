#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Every fenced block in the documents is compiled, run, or found in a file
# that is.  The marks are explained in tests/README.md.
cd "$RF_ROOT" || exit 1
exec perl tests/lib/snippets.pl README.md docs/*.md tests/README.md

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Each mutant still finds the place in the code that it breaks, once, and the
# test that has to notice: so code that moves takes its mutant along.  Whether
# they are killed takes builds, and is for "make mutants".
# Not under SANITIZE: it builds nothing.
exec env -u T "$RF_ROOT/tests/mutants/run" --apply

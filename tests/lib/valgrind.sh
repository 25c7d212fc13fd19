#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# valgrind.sh PROGRAM: run it under valgrind; any error or leak fails it.
#
# A program's own malloc() stays its own (no_memory.h); that of the C library,
# which it calls, is watched all the same.
exec valgrind -q --error-exitcode=99 --leak-check=full \
    --soname-synonyms=somalloc=nouserintercepts \
    --errors-for-leak-kinds=definite,indirect "$@"

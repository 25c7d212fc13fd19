/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * fuzz.h - what the fuzzed programs share
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Called with every input; a finding ends the program. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition) \
    ((condition) ? (void)0 : fuzz_found(#condition, __LINE__))
_Noreturn void fuzz_found(const char *what, int line);

#endif /* FUZZ_H */

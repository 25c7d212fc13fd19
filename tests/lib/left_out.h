/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * left_out.h - what a library says that was built without a source of locks
 *
 * A program that tries what is inside such a source has nothing to try then, and
 * this to see to instead.
 */
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

/* With the URL as the state: it is refused, and why is said. */
void test_source_that_was_left_out_is_refused(void **state);

/* A whole program of that one test. */
int run_left_out(const char *url);

#endif /* LEFT_OUT_H */

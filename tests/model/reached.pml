/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * A model in which nothing ever succeeds would hold, too.  With REACH the state
 * in which everybody got what they came for is declared impossible: that
 * variant must break, or the model proves nothing.
 */
#ifdef REACH
#define REACHED(goal) assert(!(goal))
#else
#define REACHED(goal) skip
#endif

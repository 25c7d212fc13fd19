/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * The rule at the resource, included by the models that need a guard.
 *
 * It is pg_extension/decide.h in Promela.  BIND 0 is the usual recipe, which
 * refuses only what is lower.
 */
#include "reached.pml"

#ifndef BIND
#define BIND 1
#endif

byte stored_fence = 0;          /* PostgreSQL: the registry row */
byte stored_holder = 0;         /* 0 is nobody */

inline guard(fence, holder, accepted)
{
	if
	:: fence > stored_fence ->
		stored_fence = fence; stored_holder = holder; accepted = 1
	:: fence == stored_fence && (!BIND || stored_holder == holder) ->
		accepted = 1
	:: else ->
		accepted = 0
	fi
}

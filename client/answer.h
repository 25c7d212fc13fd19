/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * answer.h - what the scripts' answers say
 */
#ifndef RF_ANSWER_H
#define RF_ANSWER_H

#include "request.h"

/*
 * It answered this very request, but with something no script of ours says:
 * nothing that comes on this connection can be trusted.
 */
#define RF__NONSENSE ((rf_status)-3)

int rf__answer_is(const rf__reply *reply, const char *outcome);

/* The text after the outcome: what, why, or a number. */
const char *rf__answer_detail(const rf__reply *reply);

/* A canonical number from least to RF_FENCE_MAX in item i.  0 when it isn't. */
int rf__answer_number(const rf__reply *reply, size_t i, int64_t least,
                      int64_t *out);
int rf__answer_owner(const rf__reply *reply, size_t i, rf__owner *out);

/*
 * What became of the request; RF__NONSENSE without a text, all others but RF_OK
 * with one.  The first is for renew and release and their like.
 */
rf_status rf__answer_done(rf__grant *grant, const rf__reply *reply,
                          rf__error *error);
rf_status rf__answer_acquired(rf__grant *grant, const rf__reply *reply,
                              rf__error *error);
rf_status rf__answer_reissued(rf__grant *grant, rf_fence floor,
                              const rf__reply *reply, rf__error *error);

/* Of inspect.  0: it makes no sense. */
int rf__answer_info(const rf__reply *reply, rf_info *info);

#endif /* RF_ANSWER_H */

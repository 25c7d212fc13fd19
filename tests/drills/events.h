/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * events.h - what a worker was told, a line each, written before the next step
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdint.h>

void events_open(void);

/* ms on a clock that counts suspend and never goes back. */
int64_t now_ms(void);

int64_t time_of_day_ms(void);

void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* EVENTS_H */

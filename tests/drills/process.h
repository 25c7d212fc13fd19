/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * process.h - what happens to a worker as a process
 */
#ifndef PROCESS_H
#define PROCESS_H

/* Stops, the first time, if this is the point that the settings name. */
void stop_at(const char *point);

/* From now on, a signal as often as the settings say. */
void process_interrupt(void);

/*
 * Becomes two, as the settings say.  1 in the child, which is called NAME2, 0
 * in the parent; cloned ones both stop once more, and neither finds out.
 */
int process_divide(void);

/* The parent outlives its child. */
void process_join(void);

#endif /* PROCESS_H */

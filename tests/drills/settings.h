/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * settings.h - what a worker is told on its command line
 */
#ifndef SETTINGS_H
#define SETTINGS_H

/* One each, from NAME=VALUE; the names and what they mean: settings.c. */
typedef struct settings {
    const char *log, *name, *item, *redis, *url, *style, *stop, *fault,
        *pg_fault, *fork, *say;
    long ttl, wait, timeout, sections, rounds, think, renew, brief, want,
        gloomy, careful, stubborn, seeded, clone, signals, again, seed, until;
} settings;

extern settings set;

void settings_read(int argc, char **argv);

/* Ends the program: this word can't be understood. */
void settings_refuse(const char *word) __attribute__((noreturn));

#endif /* SETTINGS_H */

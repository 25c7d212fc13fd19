/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * settings.c - what a worker is told on its command line
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

settings set = { .name = "w",
                 .item = "a",
                 .style = "statement",
                 .stop = "",
                 .fault = "",
                 .pg_fault = "",
                 .fork = "",
                 .say = "",
                 .ttl = 1000,
                 .timeout = 2000,
                 .sections = 1,
                 .rounds = 1,
                 .seed = 1 };

static const struct {
    const char *name;
    const char **text;
    long *number;
} table[] = {
    { "log", &set.log, NULL },     /* where events go                     */
    { "name", &set.name, NULL },   /* begins the names of its operations  */
    { "item", &set.item, NULL },   /* what it works on                    */
    { "redis", &set.redis, NULL }, /* path of the socket ...              */
    { "url", &set.url, NULL },     /* ... or where the locks live         */
    { "seed", NULL, &set.seed },
    { "say", &set.say, NULL }, /* only this goes to the log, and the time of
                                  the day in ms                           */

    /* Sections */
    { "ttl", NULL, &set.ttl },         /* ms                                */
    { "wait", NULL, &set.wait },       /* ms                                */
    { "timeout", NULL, &set.timeout }, /* ms, of each talk to Redis         */
    { "sections", NULL, &set.sections },
    { "rounds", NULL, &set.rounds }, /* operations in a section             */
    { "think", NULL, &set.think },   /* ms, at most, between read and write */
    { "renew", NULL, &set.renew },   /* 1: renews after each operation      */
    { "until", NULL, &set.until },   /* ms from now: no section after that  */
    { "want", NULL, &set.want },   /* operations that have to be done, then the
                                      end; each with a receipt            */
    { "style", &set.style, NULL }, /* statement, transaction, repeatable,
                                      serializable, or one of recipe.h    */

    /* What the holder makes of it */
    { "again", NULL, &set.again },     /* after RF_UNKNOWN ask again: 1 with the
                                        same holder, 2 with a new one     */
    { "brief", NULL, &set.brief },     /* 1: tells of its belief ten times a
                                        second                            */
    { "gloomy", NULL, &set.gloomy },   /* 1: takes "unknown" for "refused"  */
    { "careful", NULL, &set.careful }, /* 1: takes a commit with a WARNING for
                                            "unknown"                       */
    { "stubborn", NULL, &set.stubborn }, /* 1: connection lost in a transaction:
                                            connects, sends the write again */
    { "seeded", NULL, &set.seeded },     /* 1: draws its holder from a generator
                                        of its own                        */

    /* What goes wrong */
    { "stop", &set.stop, NULL },       /* claim, read, think, write, commit,
                                         inside, release, expire: stops before
                                         that is sent                     */
    { "signals", NULL, &set.signals }, /* ms: a signal that often          */
    { "fork", &set.fork, NULL },   /* after a section: a child works on this */
    { "clone", NULL, &set.clone }, /* 1: the same, and nobody notices; then both
                                      stop                                */
    { "fault", &set.fault, NULL }, /* NAME:SKIP:COUNT, of proxy.h         */
    { "pgfault", &set.pg_fault, NULL }, /* NAME:SKIP, of pg_proxy.h       */
};

void settings_refuse(const char *word)
{
    fprintf(stderr, "worker: what is %s?\n", word);
    exit(2);
}

static void read_one(const char *word)
{
    const char *value = strchr(word, '=');

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t n = strlen(table[i].name);

        if (value != word + n || strncmp(word, table[i].name, n) != 0)
            continue;
        if (table[i].text != NULL)
            *table[i].text = value + 1;
        else
            *table[i].number = strtol(value + 1, NULL, 10);
        return;
    }
    settings_refuse(word);
}

void settings_read(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_one(argv[i]);
    if (set.redis == NULL && *set.say == '\0')
        settings_refuse("redis (it is missing)");
}

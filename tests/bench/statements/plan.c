/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * plan.c - reads what is to be measured
 */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"

static void append(char **section, const char *line)
{
    size_t had = *section ? strlen(*section) : 0;
    size_t more = strlen(line) + 1;

    *section = realloc(*section, had + more);
    if (*section == NULL)
        die("out of memory", NULL);
    memcpy(*section + had, line, more);
}

static char *copy(const char *text)
{
    char *made = NULL;

    append(&made, text);
    return made;
}

static contestant *add_contestant(plan *p, bool ours, const char *name,
                                  const char *against)
{
    contestant *c = &p->who[p->n];

    if (p->n == PLAN_CONTESTANTS)
        die("too many contestants", p->name);
    p->n++;
    c->name = copy(name);
    c->ours = ours;
    c->against = against[0] != '\0' ? copy(against) : NULL;
    return c;
}

/* Where the lines of a section go, or NULL: the word is not one. */
static char **section_of(plan *p, contestant *c, const char *word)
{
    if (strcmp(word, "session") == 0 && c == NULL)
        return &p->session;
    if (strcmp(word, "setup") == 0)
        return c ? &c->setup : &p->setup;
    if (strcmp(word, "each") == 0 && c == NULL)
        return &p->each;
    if (strcmp(word, "before") == 0)
        return c ? &c->before : &p->before;
    if (strcmp(word, "statement") == 0)
        return c ? &c->statement : &p->statement;
    return NULL;
}

static bool set_number(plan *p, const char *word, const char *value)
{
    size_t number = strtoul(value, NULL, 10);

    if (strcmp(word, "rounds") == 0)
        p->rounds = number;
    else if (strcmp(word, "batch_ms") == 0)
        p->batch_ms = number;
    else if (strcmp(word, "clients") == 0)
        p->clients = number;
    else if (strcmp(word, "processors") == 0)
        p->processors = number;
    else if (strcmp(word, "rows") == 0)
        p->rows = (double)number;
    else
        return false;
    return number > 0;
}

static void read_lines(plan *p, FILE *file)
{
    char line[1024], word[32], value[64], more[64];
    contestant *now = NULL;
    char **section = NULL;

    while (fgets(line, sizeof(line), file) != NULL) {
        value[0] = more[0] = '\0';
        if (sscanf(line, "--: %31s %63s %63s", word, value, more) < 1) {
            if (section != NULL)
                append(section, line);
            continue;
        }
        section = NULL;
        if (strcmp(word, "ours") == 0 || strcmp(word, "theirs") == 0)
            now = add_contestant(p, word[0] == 'o', value, more);
        else if (strcmp(word, "cost_above") == 0)
            p->cost_above = copy(value);
        else if (strcmp(word, "database") == 0 && now != NULL)
            now->database = copy(value);
        else if (!set_number(p, word, value)) {
            section = section_of(p, now, word);
            if (section == NULL)
                die("not a section", line);
        }
    }
}

static char *own_text(const char *own, const char *common, const char *name)
{
    const char *text = own ? own : common, *tmp = getenv("RF_TMP");
    char *named, *made;

    if (text == NULL)
        return NULL;
    named = plan_replace(text, "{name}", name);
    made = plan_replace(named, "{tmp}", tmp ? tmp : "/tmp");
    free(named);
    return made;
}

/* Each contestant gets the common sections, in its name. */
static void complete(plan *p)
{
    char *common = own_text(p->setup, NULL, "");

    free(p->setup);
    p->setup = common;
    for (size_t i = 0; i < p->n; i++) {
        contestant *c = &p->who[i];
        char *setup = own_text(p->each, NULL, c->name);
        char *more = own_text(c->setup, NULL, c->name);

        if (more != NULL)
            append(&setup, more);
        free(more);
        free(c->setup);
        c->setup = setup;
        more = c->before;
        c->before = own_text(more, p->before, c->name);
        free(more);
        more = c->statement;
        c->statement = own_text(more, p->statement, c->name);
        free(more);
        if (c->statement == NULL)
            die("no statement", c->name);
    }
}

plan *plan_read(const char *file, const char *name)
{
    plan *p = calloc(1, sizeof(*p));
    FILE *f = fopen(file, "r");
    const char *rounds = getenv("ROUNDS");

    if (p == NULL || f == NULL)
        die("cannot read", file);
    p->name = name;
    p->rounds = 10;
    p->clients = 1;
    read_lines(p, f);
    fclose(f);
    if (rounds != NULL && rounds[0] != '\0')
        p->rounds = strtoul(rounds, NULL, 10);
    if (p->rounds < 1 || p->rounds > PLAN_ROUNDS || p->n < 2 ||
        p->clients > PLAN_CLIENTS)
        die("too few or too many rounds, contestants or clients", file);
    complete(p);
    return p;
}

char *plan_replace(const char *text, const char *mark, const char *with)
{
    char *made = copy("");
    const char *found;

    while ((found = strstr(text, mark)) != NULL) {
        char *head = strndup(text, (size_t)(found - text));

        if (head == NULL)
            die("out of memory", NULL);
        append(&made, head);
        append(&made, with);
        free(head);
        text = found + strlen(mark);
    }
    append(&made, text);
    return made;
}

size_t plan_split(char *text, char **parts, size_t max)
{
    size_t n = 0;
    char *end;

    while (text[strspn(text, " \n")] != '\0') {
        if (n == max)
            die("too many statements", text);
        parts[n++] = text;
        end = strstr(text, ";\n");
        if (end == NULL)
            break;
        end[0] = '\0';
        text = end + 2;
    }
    return n;
}

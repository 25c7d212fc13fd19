/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * settings.c - where the servers are: command line, environment, file
 */
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "exit.h"

static const char system_file[] = "/etc/ringfence.conf";

/* ---- Passwords -------------------------------------------------------- */

/* 1 also when libpq can't read it: it might hold anything. */
static int conninfo_has_password(const char *conninfo)
{
    PQconninfoOption *all = PQconninfoParse(conninfo, NULL);
    int found = all == NULL && strstr(conninfo, "assword") != NULL;

    for (PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++) {
        if (strstr(o->keyword, "password") != NULL && o->val != NULL)
            found = 1;
    }
    PQconninfoFree(all);
    return found;
}

/* "...://user:password@host" or "?sentinel=user:password". */
static int url_has_password(const char *url)
{
    const char *rest = strstr(url, "://");
    const char *at, *colon, *query;

    /* A database's, which libpq reads. */
    if (strncmp(url, "postgres", 8) == 0)
        return conninfo_has_password(url);
    rest = rest != NULL ? rest + 3 : url;
    at = strchr(rest, '@');
    colon = strchr(rest, ':');
    query = strchr(rest, '?');
    return (at != NULL && colon != NULL && colon < at) ||
           (query != NULL && strchr(query, ':') != NULL);
}

static int check_command_line(const cli_call *call)
{
    const char *url = call->value[OPT_URL], *pg = call->value[OPT_PG];

    if (url != NULL && url_has_password(url))
        return cli_fail(RF_MISUSE,
                        "a password on the command line can be read by every "
                        "user of this machine: put the URL into "
                        "RINGFENCE_URL or into ~/.config/ringfence, and "
                        "change the password");
    if (pg != NULL && conninfo_has_password(pg))
        return cli_fail(RF_MISUSE,
                        "a password on the command line can be read by every "
                        "user of this machine: put it into PGPASSWORD, "
                        "~/.pgpass or ~/.config/ringfence, and change it");
    return 0;
}

/* ---- The file --------------------------------------------------------- */

/* 1 when others than its owner and root can read or change it. */
static int is_open(const struct stat *file)
{
    if (file->st_uid != geteuid() && file->st_uid != 0)
        return 1;
    /* A group may be let in by root: /etc/ringfence.conf, root:app, 0640. */
    return (file->st_mode & (file->st_uid == 0 ? 037 : 077)) != 0;
}

static char *trim(char *text)
{
    size_t len;

    text += strspn(text, " \t");
    len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
        len--;
    text[len] = '\0';
    return text;
}

/* The first to say something keeps the last word. */
static int set(char **setting, const char *value)
{
    if (*setting != NULL || value == NULL || *value == '\0')
        return 0;
    *setting = strdup(value);
    return *setting != NULL ? 0 : cli_fail(RF_NOMEM, "out of memory");
}

/* One line: "name = value", a comment, or nothing. */
static int read_line(cli_settings *out, char *line, const char *path,
                     const struct stat *file)
{
    char *name = trim(line), *value = strchr(name, '=');
    char **setting = NULL;

    if (*name == '#' || *name == '\0')
        return 0;
    if (value != NULL) {
        *value = '\0';
        value = trim(value + 1);
        name = trim(name);
        setting = strcmp(name, "url") == 0      ? &out->url
                  : strcmp(name, "pg") == 0     ? &out->pg
                  : strcmp(name, "prefix") == 0 ? &out->prefix
                                                : NULL;
    }
    if (setting == NULL)
        return cli_fail(RF_MISUSE,
                        "%s: a line that is no setting: write url = URL, "
                        "pg = CONNINFO or prefix = TEXT",
                        path);
    if (is_open(file) &&
        ((setting == &out->url && url_has_password(value)) ||
         (setting == &out->pg && conninfo_has_password(value))))
        return cli_fail(RF_MISUSE,
                        "%s holds a password and others can read it: chmod "
                        "600 %s",
                        path, path);
    return set(setting, value);
}

static int read_file(cli_settings *out, FILE *in, const char *path)
{
    char *line = NULL;
    size_t size = 0;
    struct stat file;
    int code = 0;

    if (fstat(fileno(in), &file) != 0 || !S_ISREG(file.st_mode))
        return cli_fail(RF_MISUSE, "%s is no file", path);
    while (code == 0 && getline(&line, &size, in) > 0)
        code = read_line(out, line, path, &file);
    if (line != NULL)
        explicit_bzero(line, size);
    free(line);
    return code;
}

/* A file that is not there is fine, unless it was asked for. */
static int try_file(cli_settings *out, const char *path, int must, int *found)
{
    FILE *in = fopen(path, "re");
    int code;

    *found = in != NULL;
    if (in == NULL) {
        if (!must && (errno == ENOENT || errno == ENOTDIR))
            return 0;
        return cli_fail(RF_MISUSE, "%s: %s", path, strerror(errno));
    }
    code = read_file(out, in, path);
    (void)fclose(in);
    return code;
}

/* The user's own file, or else the machine's. */
static int read_files(cli_settings *out, const char *named)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char path[4096] = "";
    int found = 0, code = 0;

    if (named != NULL)
        return try_file(out, named, 1, &found);
    if (folder != NULL && *folder == '/')
        (void)snprintf(path, sizeof(path), "%s/ringfence", folder);
    else if (home != NULL && *home == '/')
        (void)snprintf(path, sizeof(path), "%s/.config/ringfence", home);
    if (*path != '\0')
        code = try_file(out, path, 0, &found);
    if (code == 0 && !found)
        code = try_file(out, system_file, 0, &found);
    return code;
}

/* ---- All together ----------------------------------------------------- */

/* libpq's own variables name a database as well. */
static int libpq_is_told(void)
{
    static const char *const names[] = { "PGHOST", "PGHOSTADDR", "PGSERVICE",
                                         "PGDATABASE" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && *value != '\0')
            return 1;
    }
    return 0;
}

int cli_settings_read(cli_call *call)
{
    cli_settings *out = &call->settings;
    int code = check_command_line(call);

    if (code == 0)
        code = set(&out->url, call->value[OPT_URL]);
    if (code == 0)
        code = set(&out->pg, call->value[OPT_PG]);
    if (code == 0)
        code = set(&out->prefix, call->value[OPT_PREFIX]);
    if (code == 0)
        code = set(&out->url, getenv("RINGFENCE_URL"));
    if (code == 0)
        code = set(&out->pg, getenv("RINGFENCE_PG"));
    if (code == 0)
        code = set(&out->prefix, getenv("RINGFENCE_PREFIX"));
    /* A blank stands for what libpq finds by itself. */
    if (code == 0 && libpq_is_told())
        code = set(&out->pg, " ");
    if (code == 0)
        code = read_files(out, call->value[OPT_CONFIG]);
    if (call->value[OPT_NO_PG] != NULL) {
        free(out->pg);
        out->pg = NULL;
    }
    return code;
}

static void forget(char *secret)
{
    if (secret != NULL)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

void cli_settings_free(cli_settings *settings)
{
    forget(settings->url);
    forget(settings->pg);
    free(settings->prefix);
    memset(settings, 0, sizeof(*settings));
}

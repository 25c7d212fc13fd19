/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * error.c - the text of a failure
 *
 * At the bottom, so that connections, scripts and URLs need to know nothing of
 * the client whose text they set.
 */
#include "source.h"

#include <stdarg.h>
#include <stdio.h>

void rf__set_error(rf__error *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    error->sqlstate[0] = '\0';
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * request.h - what the inventory service is asked, and what it answers
 */
#ifndef INVENTORY_REQUEST_H
#define INVENTORY_REQUEST_H

#include <stddef.h>

#define LINES_MAX 8
#define NAME_SIZE 41

typedef enum verb { RECEIVE, RESERVE, SHIP, CANCEL } verb;

typedef struct line {
    char sku[NAME_SIZE];
    int count;
} line;

/*
 * "ID VERB NUMBER SKU COUNT [SKU COUNT]...".  The ID is chosen by whoever asks,
 * so that asking again is safe.  SHIP and CANCEL end with the NUMBER: their lines
 * are those that were reserved under it.
 */
typedef struct request {
    char id[NAME_SIZE];
    verb verb;
    char number[NAME_SIZE];
    line lines[LINES_MAX];
    size_t n;
} request;

typedef enum answer {
    DONE,  /* and it stays so                             */
    SHORT, /* too little is free; nothing was reserved    */
    NONE,  /* nothing is reserved under this number       */
    LATER, /* locks or packer are away: ask again  */
    FAILED /* and why; may be asked again                 */
} answer;

/* 1, or 0 when the text is no request. */
int request_read(const char *text, request *out);

/* One word for each answer. */
const char *answer_word(answer a);

#endif /* INVENTORY_REQUEST_H */

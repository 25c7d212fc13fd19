/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * stock.h - what a request does to the stock: read, compute, write
 */
#ifndef INVENTORY_STOCK_H
#define INVENTORY_STOCK_H

#include "request.h"
#include "section.h"

/* What is known of the articles of a request. */
typedef struct shelves {
    int free[LINES_MAX];
    int reserved[LINES_MAX];
} shelves;

/*
 * Before the section: the lines of SHIP and CANCEL, which are those that were
 * reserved.  They never change, so this may be read at any time; n stays 0 when
 * nothing was.
 */
rf_status stock_lines(PGconn *conn, request *r);

/* Inside the section: is it still reserved, and what is on the shelves? */
rf_status stock_read(PGconn *conn, const request *r, int *standing,
                     shelves *out);

/* Compute what the shelves hold afterwards; 0: there is too little. */
int stock_compute(const request *r, shelves *s);

/* Write it, with a receipt, in one transaction. */
rf_status stock_write(PGconn *conn, section *s, const request *r,
                      const shelves *after);

#endif /* INVENTORY_STOCK_H */

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * install.h
 *		Puts what protects a table in place, and takes it away.
 */
#ifndef RF_INSTALL_H
#define RF_INSTALL_H

#include "wanted.h"

/*
 * Make the tables' triggers and CHECK be as the protection asks.  What is already right
 * is left alone.  To be called inside SPI, by a role that may do it, with the
 * tables locked.
 */
extern void rf_install_protection(const RfProtection *protection);

/*
 * Are they on every table?  Not where there are inheritance children that
 * nobody clones triggers to.
 */
extern bool rf_is_installed(const RfProtection *protection);

/* Drop all of ours from these tables, roots before their partitions. */
extern void rf_remove_protection(List *tables);

#endif							/* RF_INSTALL_H */

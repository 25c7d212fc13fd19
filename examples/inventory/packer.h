/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * packer.h - somebody outside who is asked in the middle of a section
 */
#ifndef INVENTORY_PACKER_H
#define INVENTORY_PACKER_H

#include <ringfence.h>

/*
 * Have the command pack what is reserved under a number, however long it takes;
 * but when the bell rings, end it: what it packs is not ours any more.
 *
 * Returns RF_OK (packed), RF_LOST (the bell rang), RF_RETRY (it can't be
 * started) or RF_REFUSED (it would not).
 */
rf_status packer_ask(const char *command, const char *number, int bell);

#endif /* INVENTORY_PACKER_H */

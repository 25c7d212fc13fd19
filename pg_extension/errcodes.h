/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * errcodes.h
 *		SQLSTATEs of class RF and their constant primary messages.
 *
 * Never class 40 or 23: retry layers and object mappers act on those.
 */
#ifndef RF_ERRCODES_H
#define RF_ERRCODES_H

#define ERRCODE_RF_STALE		MAKE_SQLSTATE('R', 'F', '0', '0', '1')
#define ERRCODE_RF_COLLISION	MAKE_SQLSTATE('R', 'F', '0', '0', '2')
#define ERRCODE_RF_UNFENCED		MAKE_SQLSTATE('R', 'F', '0', '0', '3')
#define ERRCODE_RF_ARGUMENT		MAKE_SQLSTATE('R', 'F', '0', '0', '4')
#define ERRCODE_RF_SETUP		MAKE_SQLSTATE('R', 'F', '0', '0', '5')
#define ERRCODE_RF_UNCLAIMED	MAKE_SQLSTATE('R', 'F', '0', '0', '6')

#define RF_MSG_STALE		"fence is stale"
#define RF_MSG_COLLISION	"fence belongs to another holder"
#define RF_MSG_UNFENCED		"write is not fenced"
#define RF_MSG_ARGUMENT		"argument is invalid"
#define RF_MSG_SETUP		"protection is set up wrongly"
#define RF_MSG_UNCLAIMED	"resource is not claimed by this transaction"

#endif							/* RF_ERRCODES_H */

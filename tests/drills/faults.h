/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * faults.h - what is put between a worker and its servers
 */
#ifndef FAULTS_H
#define FAULTS_H

/* As the settings say.  Returns the URL of the locks. */
const char *faults_start(void);
void faults_stop(void);

#endif /* FAULTS_H */

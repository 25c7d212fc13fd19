/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * temp_folder.h - a folder of a test's own
 *
 * Below TMPDIR, which the runner removes whatever happens to the test.
 */
#ifndef TEMP_FOLDER_H
#define TEMP_FOLDER_H

#define TEMP_FOLDER_MAX 64

/*
 * Make a new folder and write its path.  The caller removes it.  Sockets are
 * put into it, and their paths must be short: where TMPDIR is too long, the
 * folder is made in /tmp.  Ends the program when there is none to be had.
 */
void temp_folder(char out[TEMP_FOLDER_MAX]);

#endif /* TEMP_FOLDER_H */

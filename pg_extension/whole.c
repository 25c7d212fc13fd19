/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * whole.c
 *		Tables whose rows are all of one resource: a template without columns.
 */
#include "postgres.h"

#include "claims.h"
#include "template.h"
#include "whole.h"

const char *
rf_whole_resource(const char *template)
{
	char	   *problem;
	RfTemplate *parsed = rf_template_parse(template, &problem);

	return parsed == NULL || parsed->ncolumns > 0 ? NULL : parsed->after;
}

bool
rf_whole_is_claimed(const char *template)
{
	const char *resource = rf_whole_resource(template);

	return resource != NULL &&
		rf_claimed_fence(resource, strlen(resource)) > 0;
}

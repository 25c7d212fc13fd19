/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * free_port.h - a port for a server that must be told one
 */
#ifndef FREE_PORT_H
#define FREE_PORT_H

/*
 * A port of 127.0.0.1 that is free now; somebody else may take it, so a server
 * that ends at once is started again with another.  Ends the program when there
 * is none.
 */
int free_port(void);

#endif /* FREE_PORT_H */

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

/*
 * Keep the port of a server that is down: another's server would answer in its
 * place.  Whoever connects is refused, as when nobody is there.  The result is to
 * be closed before the server is started again; -1: somebody was faster.
 */
int keep_port(int port);

#endif /* FREE_PORT_H */

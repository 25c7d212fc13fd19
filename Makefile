# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Only delegates: the work is in client/, pg_extension/, tests/ and examples/.
# Must be readable by make where neither compiler nor pkg-config exists yet.

PREFIX    ?= /usr/local#	where install puts things
DESTDIR   ?=#.	put before every path of install, for packages
PG_CONFIG ?= pg_config#	which PostgreSQL to build for
T         ?=#	run only test files whose path matches
SANITIZE  ?=#	1: address and undefined behaviour, thread: races
VALGRIND  ?=#.	1: client tests under valgrind
SEED      ?=#.	replays one run of sim, drills or soak
MINUTES   ?=#.	how long soak (1), sqlsmith or fuzz (10) goes on
WERROR    ?=#.	1: warnings are errors
ROUNDS    ?=#.	of each measurement, instead of its own number
PG        ?=#.	matrix: this PostgreSQL alone
SOURCE    ?=#.	of the demo's locks: redis or postgresql
V         ?=#	1: show the commands
# COVERAGE: objects that count what they run; set by the target of that name.
export PREFIX PG_CONFIG T SEED SOURCE ROUNDS SANITIZE VALGRIND COVERAGE WERROR
export PG V

ROOT  := $(CURDIR)
BUILD := $(ROOT)/build$(if $(SANITIZE),/sanitize-$(SANITIZE))$(if \
           $(COVERAGE),/coverage)
MAKE_CLIENT    = +@$(MAKE) --no-print-directory -C client BUILD=$(BUILD)
MAKE_EXTENSION = +@mkdir -p $(BUILD)/pg_extension && $(MAKE) \
                   $(if $(V),,-s) --no-print-directory \
                   -C $(BUILD)/pg_extension -f $(ROOT)/pg_extension/Makefile

.PHONY: all client extension examples check test-client test-sql \
        test-isolation test tests demo try bench bench-counts model sim \
        mutants drills soak coverage matrix sqlsmith fuzz lint format install uninstall \
        install-extension reference abi-check abi-accept deb deb-check pgxn deps deps-build clean help help-all

all: client extension ## build the library and the extension

client: #. build the library
	$(MAKE_CLIENT) all

extension: #. build the extension
	$(MAKE_EXTENSION) all

examples: client #. build the example programs
	$(MAKE_CLIENT) examples

check: deps ## build everything, run every test
	+@$(MAKE) --no-print-directory tests
	@RF_BUILD=$(BUILD) tests/run

test: check

tests: all examples
	$(MAKE_CLIENT) tests

test-client: #. run the tests of the library only
	+@$(MAKE) --no-print-directory check T=tests/client/

test-sql: #. run the tests of the extension only
	+@$(MAKE) --no-print-directory check T=tests/sql/

test-isolation: #. run what only concurrency shows
	+@$(MAKE) --no-print-directory check T=tests/isolation/

demo: ## stale holders against two shops, one of them fenced
	@tests/lib/deps.sh build
	+@$(MAKE) --no-print-directory all examples
	@RF_BUILD=$(BUILD) examples/demo/run

try: ## psql on servers of its own, to try things in
	@tests/lib/deps.sh build
	+@$(MAKE) --no-print-directory all
	@RF_BUILD=$(BUILD) examples/try/run

bench: ## measure side by side with the alternatives
	@tests/lib/deps.sh check bench
	+@$(MAKE) --no-print-directory all
	$(MAKE_CLIENT) benches
	@RF_BUILD=$(BUILD) tests/bench/run

bench-counts: #. count instructions of the hot paths, refuse growth
	@tests/lib/deps.sh check valgrind
	+@$(MAKE) --no-print-directory all
	$(MAKE_CLIENT) benches
	@RF_BUILD=$(BUILD) tests/bench/counts

model: #. search the models and what must break in them
	@tests/lib/deps.sh model
	@tests/model/run

sim: client #. run the client in a simulated world, SEED=n for one
	@RF_BUILD=$(BUILD) tests/sim/run

mutants: deps #. break the code on purpose; each must be noticed
	@tests/lib/deps.sh sim
	@RF_BUILD=$(BUILD) tests/mutants/run

drills: deps ## real servers, real faults, SEED=n
	@tests/lib/deps.sh drills
	+@$(MAKE) --no-print-directory all
	@RF_BUILD=$(BUILD) tests/drills/run

soak: deps #. all faults at random, for MINUTES=n
	+@$(MAKE) --no-print-directory all
	@RF_BUILD=$(BUILD) tests/drills/soak

coverage: #. which lines the tests reach, refuse less than required
	@tests/lib/deps.sh check coverage
	+@$(MAKE) --no-print-directory tests COVERAGE=1
	@COVERAGE=1 tests/coverage/run

sqlsmith: #. random statements on protected tables, MINUTES=n (10)
	@tests/lib/deps.sh check sqlsmith
	+@$(MAKE) --no-print-directory extension
	@RF_BUILD=$(BUILD) tests/sqlsmith/run

fuzz: #. random URLs and answers of Redis, MINUTES=n (10) each
	@tests/lib/deps.sh check fuzz
	+@$(MAKE) --no-print-directory client
	@RF_BUILD=$(BUILD) tests/fuzz/run

matrix: #. compile and test on PostgreSQL 13, 15, 17 to 19
	@tests/lib/deps.sh matrix
	@tests/matrix/run

lint: ## format, static checks, banned calls, one version
	@tests/lib/deps.sh lint
	@tests/lint

format: #. bring C of the client's dialect into its format
	@tests/lib/deps.sh lint
	@tests/lint --format

install: all ## put library, headers, Lua files and extension in place
	$(MAKE_CLIENT) install
	$(MAKE_EXTENSION) install

install-extension: extension
	$(MAKE_EXTENSION) install

uninstall: ## remove what install put there
	$(MAKE_CLIENT) uninstall
	$(MAKE_EXTENSION) uninstall

reference: #. docs/c-reference.md, from the headers
	@client/reference client/ringfence.h client/ringfence_pg.h \
	  client/ringfence_async.h >docs/c-reference.md

abi-check: client #. programs built for the last release still run
	@tests/lib/deps.sh abi
	@tests/abi/check $(BUILD)/libringfence.so

abi-accept: client #. take the library as it is for the next abi-check
	@tests/lib/deps.sh abi
	@tests/abi/check --accept $(BUILD)/libringfence.so

deb: deps #. Debian packages, in build/deb
	@tests/lib/deps.sh deb
	@pg_extension/packaging/deb $(ROOT)/build/deb

deb-check: #. try the packages in a clean Debian
	@tests/lib/deps.sh matrix
	@tests/packages/run $(ROOT)/build/deb/*.deb

pgxn: #. the archive for PGXN, in build/pgxn
	@pg_extension/packaging/pgxn $(ROOT)/build/pgxn

deps: ## install the Debian packages that are missing
	@tests/lib/deps.sh check $(if $(VALGRIND),valgrind)

deps-build: #. only those that building needs, not the tests
	@tests/lib/deps.sh build

clean: ## remove everything built
	rm -rf build

# What stands behind ## is for everybody, what stands behind #. for some.
# list MARK: the targets and the variables that have it.
define list
	@sed -n 's/^\([a-z-]*\):.* #$(1) \(.*\)/  \1\t\2/p' Makefile | expand -t 20
	@echo "Variables, with their defaults:"
	@sed -n 's/^\([A-Z_]* *\)?= *\(.*\)#$(2)\t\(.*\)/  \1= \2\t\3/p' Makefile | \
	  expand -t 34
endef

help: ## list what most people want
	$(call list,#,)

help-all: ## list every target and variable
	$(call list,[\#.],\.*)

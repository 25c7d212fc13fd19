# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Only delegates: the work is in client/, pg_extension/, tests/ and examples/.
# Must be readable by make where neither compiler nor pkg-config exists yet.

PREFIX    ?= /usr/local
DESTDIR   ?=
PG_CONFIG ?= pg_config
SANITIZE  ?=
export PREFIX PG_CONFIG SANITIZE

ROOT  := $(CURDIR)
BUILD := $(ROOT)/build$(if $(SANITIZE),/sanitize-$(SANITIZE))
MAKE_CLIENT    = +@$(MAKE) --no-print-directory -C client BUILD=$(BUILD)
MAKE_EXTENSION = +@mkdir -p $(BUILD)/pg_extension && $(MAKE) \
                   $(if $(V),,-s) --no-print-directory \
                   -C $(BUILD)/pg_extension -f $(ROOT)/pg_extension/Makefile
# Until the extension is there.
ifeq ($(wildcard sql/ringfence.sql),)
MAKE_EXTENSION = @echo "no extension yet" \#
endif

.PHONY: all client extension examples check test tests install uninstall \
        install-extension clean help

all: client extension ## build the library and the extension

client: ## build the library
	$(MAKE_CLIENT) all

extension: ## build the extension
	$(MAKE_EXTENSION) all

examples: ## build the example programs
	$(MAKE_CLIENT) examples

tests: all
	$(MAKE_CLIENT) tests

check: tests examples ## build all, run every test; T=PATTERN runs a part
	@RF_BUILD=$(BUILD) tests/run

test: check

install: all ## put library, headers, Lua files and extension in place
	$(MAKE_CLIENT) install
	$(MAKE_EXTENSION) install

install-extension: extension
	$(MAKE_EXTENSION) install

uninstall: ## remove what install put there
	$(MAKE_CLIENT) uninstall
	$(MAKE_EXTENSION) uninstall

clean: ## remove everything built
	rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' Makefile

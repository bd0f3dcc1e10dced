# SPDX-License-Identifier: Apache-2.0
#
#   make run      install what is missing, build, and watch two devices and a server come to agree
#                 (ARGS='…' hands flags on: make run ARGS=--sabotage must end in exit code 1)
#   make test     install what is missing, lint, build and run all tests
#   make lint     the layer check, the check of that check, the links between pages, the lists of tested faults and cases,
#                 whether the planted bugs fit, and the format check
#   make docs     build, and make the reference of the public modules in .build/docs; fails on a link that leads nowhere
#   make format   put Sources, Tests, Examples and Package.swift into the house format
#   make soak     all tests at full length, then the simulator with new seeds (HOURS=n, 2 if not said)
#   make sanitize all tests under the thread and the address sanitizer (ARGS=thread or address for one)
#   make planted  how many seeds the simulator needs to find each planted bug (ARGS=--write puts it into the docs)
#   make clean    remove what was built
#   make help     this table

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: run .demo test lint docs format soak sanitize planted clean help dependencies
MAKEFLAGS += --no-print-directory
SWIFT_FILES = $(wildcard Sources Tests Examples Package.swift)

# A seed must give the same run under any hash order: tests never get the fixed one.
unexport SWIFT_DETERMINISTIC_HASHING

# GNU make ends every failure with exit code 2; 1 is only for "asked whether it is up to date, and it is not".
# So `make run` asks: lines with + run all the same, and what is left to do afterwards decides between 0 and 1.
ifeq ($(MAKECMDGOALS),run)
MAKEFLAGS += --question
endif

run: .demo
	$(if $(wildcard .build/demo-failed),@false)

.demo:
	+@mkdir -p .build && rm -f .build/demo-failed
	+@echo 'Building skerry; the first time takes some minutes.'
	+@{ scripts/install-dependencies && swift build -c release --product skerry && \
	    .build/release/skerry demo $(ARGS); } || touch .build/demo-failed

test: dependencies lint
	swift build --build-tests
	scripts/public-api --check
	swift test --skip-build

lint:
	scripts/check-layers
	scripts/check-layers --self-test
	scripts/check-links
	scripts/check-links --self-test
	scripts/list-faults --check
	scripts/list-cases --check
	scripts/planted check
	swift format lint --strict --recursive --parallel $(SWIFT_FILES)

docs: dependencies
	swift build
	scripts/docs

format:
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

soak: dependencies
	scripts/soak $(or $(HOURS),2)

sanitize: dependencies
	scripts/sanitize $(ARGS)

planted: dependencies
	scripts/planted run $(ARGS)

clean:
	rm -rf .build

dependencies:
	@scripts/install-dependencies

help:
	@sed -n 's/^#   //p' Makefile

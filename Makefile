# `make help` lists what a person calls. Everything else lives in scripts/ and e2e/.
NODE := node --import ./scripts/typescript/register.js
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help install build demo demo-quick test test-all test-rest unit check e2e e2e-list up down kubeconfig gates bench generate record verify format image release conformance clean

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

node_modules/.package-lock.json: package.json package-lock.json
	@if [ -L node_modules ]; then echo "node_modules is a symbolic link, and npm ci would empty the folder that it leads to: remove the link, then call make again" >&2; exit 1; fi
	@echo "installing npm packages …"
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

install: node_modules/.package-lock.json

dist/injector.cjs: node_modules/.package-lock.json $(shell find src -name '*.ts' -not -name '*.test.ts' 2>/dev/null) scripts/build.ts $(wildcard scripts/bundle/*.ts) package.json
	@$(NODE) scripts/build.ts

build: dist/injector.cjs ## dist/injector.cjs, the one file that runs everywhere

demo: build ## a cluster, the operator and an injected pod in one go (KEEP=1 leaves it up)
	@$(NODE) e2e/demo.ts

demo-quick: build ## a bare pod before and after, with etcd and kube-apiserver of this machine: seconds
	@$(NODE) e2e/demo-quick.ts

test: install ## types, lint, layers, unit, golden, core scenarios on a real API server
	@$(NODE) scripts/test.ts

test-all: install ## everything: make test, every scenario and the short size of every gate (half an hour)
	@$(NODE) scripts/test.ts --all

test-rest: install
	@$(NODE) scripts/test.ts --rest

check: install ## the checks that need no cluster
	@$(NODE) scripts/test.ts --without-cluster

unit: install ## unit tests with coverage
	@npx c8 mocha --parallel --jobs 4

e2e: build ## scenarios on the embedded control plane (SCENARIO=name for one)
	@$(NODE) e2e/run.ts $(SCENARIO)

e2e-list: install ## the names of the scenarios
	@$(NODE) e2e/run.ts --list

up: build ## start the embedded control plane and leave it running
	@$(NODE) e2e/up.ts

down: install ## stop it
	@$(NODE) e2e/down.ts

kubeconfig: install ## the path of its kubeconfig
	@$(NODE) e2e/kubeconfig.ts

gates: build ## the long gates in full size (GATE=name for one, GATE=--list names them); writes docs/measurements
	@$(NODE) scripts/gates.ts $(GATE)

bench: build ## speed and memory as ratios measured in one run
	@$(NODE) bench/main.ts

generate: install ## write crds/ and the other generated files
	@$(NODE) scripts/generate.ts

record: install ## run the Go programs whose results the tests replay again (minutes)
	@cd scripts/go-types && go run . ../../src/inject
	@cd scripts/merge-recorder && go run . ../../src/inject

verify: install ## fail when a generated file differs from its source
	@$(NODE) scripts/generate.ts --check

format: install ## prettier
	@npx prettier --write --log-level warn .

image: build ## the container image, with docker, podman or buildah (BASE=node:26-slim; TAG, PLATFORM, CONTAINER_TOOL)
	@$(NODE) packaging/make-image.ts

release: install ## everything that a release needs, in release/; two runs of one commit write the same bytes
	@$(NODE) packaging/release.ts

conformance: install ## compare with Istio's recorded behaviour (GOLDEN=folder)
	@$(NODE) scripts/conformance.ts $(GOLDEN)

clean: ## remove what was built
	rm -rf dist coverage .build release

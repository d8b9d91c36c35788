# `make help` lists the targets for users. scripts/ and e2e/ contain everything else.
RUN := node --import ./scripts/typescript/register.js
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help install build demo demo-quick test test-all test-rest unit check e2e e2e-list up down kubeconfig gates bench generate screenshots site record verify format image release conformance clean

help: ## print this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

node_modules/.package-lock.json: package.json package-lock.json
	@if [ -L node_modules ]; then echo "node_modules is a symbolic link, and npm ci would empty its target: remove the link, then run make again" >&2; exit 1; fi
	npm ci --no-audit --no-fund
	@touch $@

install: node_modules/.package-lock.json

dist/injector.cjs: node_modules/.package-lock.json $(shell find src -name '*.ts' -not -name '*.test.ts' -o -name '*.tsx' -o -path 'src/web/*.css' -o -path 'src/web/*.html' 2>/dev/null) scripts/build.ts $(wildcard scripts/bundle/*.ts) src/cli/diff/page.html $(wildcard examples/*.yaml) package.json
	@$(RUN) scripts/build.ts

build: dist/injector.cjs ## build dist/injector.cjs, the complete program in one file

demo: build ## start a cluster and the operator, and inject a pod (KEEP=1 keeps the cluster; NODE=real|fake)
	@$(RUN) e2e/demo.ts

demo-quick: build ## show a pod before and after injection, with this machine's etcd and kube-apiserver (seconds)
	@$(RUN) e2e/demo-quick.ts

test: install ## run types, lint, layers, unit and golden tests, and core scenarios on a real API server
	@$(RUN) scripts/test.ts

test-all: install ## run all tests: make test, all scenarios, and short versions of the gates (30 minutes)
	@$(RUN) scripts/test.ts --all

test-rest: install
	@$(RUN) scripts/test.ts --rest

check: install ## run the checks that need no cluster
	@$(RUN) scripts/test.ts --without-cluster

unit: install ## run the unit tests with coverage
	@npx c8 mocha --parallel --jobs 4

e2e: build ## run the scenarios on the embedded control plane (SCENARIO=name for one)
	@$(RUN) e2e/run.ts $(SCENARIO)

e2e-list: install ## list the scenarios
	@$(RUN) e2e/run.ts --list

up: build ## start the embedded control plane, and keep it running
	@$(RUN) e2e/up.ts

down: install ## stop the embedded control plane
	@$(RUN) e2e/down.ts

kubeconfig: install ## print the path of the kubeconfig of the embedded control plane
	@$(RUN) e2e/kubeconfig.ts

gates: build ## run the long gates, and write docs/measurements (GATE=name for one, GATE=--list to list)
	@$(RUN) scripts/gates.ts $(GATE)

bench: build ## measure speed and memory, as ratios within one run
	@$(RUN) bench/main.ts

generate: install ## write crds/ and the other generated files
	@$(RUN) scripts/generate.ts

screenshots: build ## write docs/images/, and .build/screenshots/ with all views (needs Debian's chromium)
	@$(RUN) scripts/html-report/check.ts --screenshots
	@$(RUN) scripts/playground/check.ts --screenshots
	@$(RUN) scripts/dashboard/check.ts --screenshots
	@$(RUN) scripts/demo-picture.ts
	@SCREENSHOTS=.build/screenshots $(RUN) e2e/run.ts dashboard

site: build ## render the documentation and the playground into .build/site, and check their links (BASE=/path/)
	@$(RUN) scripts/site.ts

record: install ## run the Go programs again whose results the tests replay (minutes)
	@cd scripts/go-types && go run . ../../src/inject
	@cd scripts/merge-recorder && go run . ../../src/inject

verify: install ## fail if a generated file differs from its source
	@$(RUN) scripts/generate.ts --check

format: install ## format all files with prettier
	@npx prettier --write --log-level warn .

image: build ## build the image with docker, podman or buildah (BASE=node:26-slim; TAG, PLATFORM, CONTAINER_TOOL)
	@$(RUN) packaging/make-image.ts

release: install ## write all files of a release to release/; two runs of one commit write the same bytes
	@$(RUN) packaging/release.ts

conformance: install ## compare with Istio's recorded behaviour (GOLDEN=folder)
	@$(RUN) scripts/conformance.ts $(GOLDEN)

clean: ## remove all build results
	rm -rf dist coverage .build release

/**
 * Builds what the scenarios run on: the control plane (e2e/controlplane) and helm. Skipped when nothing changed.
 * Called by the harness before a cluster starts, and by itself: `node --import ./scripts/typescript/register.js e2e/harness/build.ts`.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runGo } from './go-build.ts';
import { paths } from './paths.ts';

const run = promisify(execFile);
const needed = { major: 1, minor: 26 };
const kubernetesVersion = /^\tk8s\.io\/kubernetes v1\.(\d+)\.(\d+)$/m;
const helmModule = 'helm.sh/helm/v4/cmd/helm@v4.3.1';

interface Target {
  name: string;
  output: string;
  /** Everything that decides the binary; a change means a build. */
  inputs: string[];
  directory: string;
  arguments: string[];
  environment?: Record<string, string>;
}

/**
 * Builds the control plane and helm into .build/bin unless their stamps say that nothing changed.
 *
 * @param controlPlane false for a cluster of the user's own, which needs helm only
 * @throws Error when Go is missing or a build fails, with the compiler's last lines.
 */
export async function buildBinaries(report: (line: string) => void, controlPlane = true): Promise<void> {
  const go = await goToolchain();
  mkdirSync(paths.binaries, { recursive: true });
  if (controlPlane) await buildTarget(controlPlaneTarget(), go, report);
  await buildTarget(helmTarget(), go, report);
}

function controlPlaneTarget(): Target {
  const files = readdirSync(paths.controlPlaneSources)
    .filter((name) => name === 'go.mod' || name === 'go.sum' || name.endsWith('.go'))
    .sort()
    .map((name) => `${name}\n${readFileSync(join(paths.controlPlaneSources, name), 'utf8')}`);
  const [, minor, patch] =
    kubernetesVersion.exec(readFileSync(join(paths.controlPlaneSources, 'go.mod'), 'utf8')) ?? [];
  if (minor === undefined || patch === undefined)
    throw new Error('e2e/controlplane/go.mod requires no k8s.io/kubernetes v1.x.y');
  // Released binaries carry their version this way; without it the API server says v0.0.0 and helm refuses charts.
  const version = 'k8s.io/component-base/version';
  const flags = `-s -w -X ${version}.gitVersion=v1.${minor}.${patch} -X ${version}.gitMajor=1 -X ${version}.gitMinor=${minor}`;
  return {
    name: 'control plane',
    output: paths.controlPlane,
    inputs: files,
    directory: paths.controlPlaneSources,
    arguments: ['build', '-v', '-ldflags', flags, '-o', paths.controlPlane, '.'],
  };
}

function helmTarget(): Target {
  return {
    name: 'helm',
    output: paths.helm,
    inputs: [helmModule],
    // `go install module@version` must not see a go.mod of the directory it runs in.
    directory: tmpdir(),
    arguments: ['install', '-v', '-ldflags', '-s -w', helmModule],
    environment: { GOBIN: paths.binaries },
  };
}

async function buildTarget(target: Target, go: GoToolchain, report: (line: string) => void): Promise<void> {
  const stamp = join(paths.binaries, `.${basename(target.output)}.stamp`);
  // Without the output's path: checkouts that share one folder of binaries must not build in turn.
  const decisive = target.arguments.filter((argument) => argument !== target.output);
  const digest = createHash('sha256')
    .update(JSON.stringify([go.version, decisive, target.inputs]))
    .digest('hex');
  if (existsSync(target.output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  await runGo(
    {
      name: target.name,
      arguments: target.arguments,
      directory: target.directory,
      ...(target.environment === undefined ? {} : { environment: target.environment }),
    },
    report,
  );
  writeFileSync(stamp, digest);
}

export interface GoToolchain {
  /** What `go version` printed, for example `go version go1.26.8 linux/amd64`. */
  version: string;
}

/**
 * Finds Go and checks that it can build the control plane.
 * An older Go is fine when it may fetch the toolchain that go.mod names (GOTOOLCHAIN, Go 1.21 and later).
 *
 * @throws Error with one line that says what to install.
 */
export async function goToolchain(): Promise<GoToolchain> {
  const wanted = `Go ${needed.major}.${needed.minor} or newer`;
  let version: string;
  try {
    version = (await run('go', ['version'])).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(
      `the embedded control plane and helm are built with ${wanted}, and there is no \`go\` on the PATH: install it from https://go.dev/dl/`,
      { cause: error },
    );
  }
  const [, major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(version) ?? [];
  const recent = Number(major) > needed.major || (Number(major) === needed.major && Number(minor) >= needed.minor);
  const fetches =
    Number(major) === 1 && Number(minor) >= 21 && (await run('go', ['env', 'GOTOOLCHAIN'])).stdout.trim() !== 'local';
  if (!recent && !fetches)
    throw new Error(
      `the embedded control plane and helm are built with ${wanted}; this is ${version}: install a newer one from https://go.dev/dl/`,
    );
  return { version };
}

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) {
  await buildBinaries((line) => {
    console.log(line);
  }).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}

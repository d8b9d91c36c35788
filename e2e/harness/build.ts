/**
 * Builds what the scenarios run on: the control plane (e2e/controlplane) and helm. Skipped when nothing changed.
 * Called by the harness before a cluster starts, and by itself: `node --import ts-blank-space/register e2e/harness/build.ts`.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runGo } from './go-build.ts';
import { goToolchain, type GoToolchain } from './go-toolchain.ts';
import { paths } from './paths.ts';

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

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) {
  await buildBinaries((line) => {
    console.log(line);
  }).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}

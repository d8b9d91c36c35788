/**
 * Builds what the scenarios run on: the control plane (e2e/controlplane), and for some kubectl, helm and other programs. What is built lies in the user's cache folder under a
 * digest of what decides it, so that every clone finds it there; .build/bin leads to it.
 * Called by the harness before a cluster starts, and by itself: `node --import ./scripts/typescript/register.js e2e/harness/build.ts`.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setInterval } from 'node:timers';
import { promisify } from 'node:util';
import { paths } from './paths.ts';

const run = promisify(execFile);
const needed = { major: 1, minor: 26 };
const kubernetesVersion = /^\tk8s\.io\/kubernetes v1\.(\d+)\.(\d+)$/m;
/** Programs that no clone has used for so many days are removed from the cache. */
const keptDays = 30;

interface Target {
  /** What messages call it. */
  name: string;
  /** The name of its file. */
  program: string;
  /** Everything that decides the program beside Go and the arguments; a change means a build. */
  inputs: string[];
  directory: string;
  /** What `go install` installs. */
  package: string;
  linkerFlags: string;
  /** Build tags, with commas. */
  tags?: string;
  /** Another module file than go.mod. */
  moduleFile?: string;
}

/**
 * Builds the control plane into .build/bin unless it is there or in the cache.
 *
 * @param controlPlane false for a cluster of the user's own, which needs nothing
 * @throws Error when Go is missing or a build fails, with the compiler's last lines.
 */
export async function buildBinaries(report: (line: string) => void, controlPlane = true): Promise<void> {
  if (controlPlane) await buildTarget(controlPlaneTarget(process.env['KUBERNETES']), await goToolchain(), report);
}

/** @param folder of e2e/controlplane with a module file of another version; this one's unless told */
function controlPlaneTarget(folder = '.'): Target {
  const moduleFile = join(folder, 'go.mod');
  const files = readdirSync(paths.controlPlaneSources)
    .filter((name) => name.endsWith('.go'))
    .concat(moduleFile, join(folder, 'go.sum'))
    .sort()
    .map((name) => `${name}\n${readFileSync(join(paths.controlPlaneSources, name), 'utf8')}`);
  const [, minor, patch] =
    kubernetesVersion.exec(readFileSync(join(paths.controlPlaneSources, moduleFile), 'utf8')) ?? [];
  if (minor === undefined || patch === undefined)
    throw new Error(`e2e/controlplane/${moduleFile} requires no k8s.io/kubernetes v1.x.y`);
  // Released binaries carry their version this way; without it the API server says v0.0.0 and helm refuses charts.
  const version = 'k8s.io/component-base/version';
  const flags = `-X ${version}.gitVersion=v1.${minor}.${patch} -X ${version}.gitMajor=1 -X ${version}.gitMinor=${minor}`;
  return {
    name: 'control plane',
    program: 'controlplane',
    inputs: files,
    directory: paths.controlPlaneSources,
    package: '.',
    linkerFlags: `-s -w ${flags}`,
    moduleFile,
  };
}

/** Programs that tests run beside the control plane: what `go install` builds, and in which module of ours, if any. */
const programs = {
  helm: { package: 'helm.sh/helm/v4/cmd/helm@v4.3.1' },
  actionlint: { package: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12' },
  // By a module of ours: the proxy has this version but no list of versions, which Go asks for.
  krew: { package: 'sigs.k8s.io/krew/cmd/krew' },
  // Without the clients of clouds in which Prometheus can look for what to scrape.
  promtool: { package: 'github.com/prometheus/prometheus/cmd/promtool', tags: 'remove_all_sd' },
  // Judges objects as Argo CD and Flux do.
  health: { package: '.' },
  // cert-manager's controllers, whose command is a module with replace directives.
  certmanager: { package: '.' },
  registry: { package: 'github.com/distribution/distribution/v3/cmd/registry@v3.1.2' },
} satisfies Record<string, Program>;

interface Program {
  /** A package at a version; or one of the module in `e2e/tools/NAME`, for what has `replace` directives or is ours. */
  package: string;
  /** Build tags, with commas. */
  tags?: string;
}

/**
 * Builds kubectl of the control plane's version, for scenarios that run what documentation prints.
 *
 * @throws Error as {@link buildBinaries}
 */
export async function buildKubectl(report: (line: string) => void): Promise<void> {
  const { inputs, directory } = controlPlaneTarget();
  const kubectl = {
    name: 'kubectl',
    program: 'kubectl',
    inputs: [...inputs, readFileSync(join(directory, 'kubectl', 'main.go'), 'utf8')],
    directory,
    package: './kubectl',
    linkerFlags: '-s -w',
  };
  await buildTarget(kubectl, await goToolchain(), report);
}

/**
 * Builds one of the programs of tests unless it is in the cache.
 *
 * @returns its path
 * @throws Error as {@link buildBinaries}
 */
export async function buildProgram(name: keyof typeof programs, report: (line: string) => void): Promise<string> {
  const { package: wanted, tags = '' }: Program = programs[name];
  const isOurs = !wanted.includes('@');
  // `go install module@version` must not see a go.mod of the directory it runs in.
  const directory = isOurs ? join(paths.tools, name) : tmpdir();
  const sources = isOurs ? readdirSync(directory).sort() : [];
  const inputs = [tags, ...sources.map((file) => `${file}\n${readFileSync(join(directory, file), 'utf8')}`)];
  const target = { name, program: name, inputs, directory, package: wanted, linkerFlags: '-s -w', tags };
  await buildTarget(target, await goToolchain(), report);
  return join(paths.binaries, name);
}

/** helm, with which tests compare what we render: the one on the PATH, else built. Resolves with how to call it. */
export async function findHelm(report: (line: string) => void): Promise<string> {
  const found = await run('helm', ['version']).catch(() => undefined);
  return found === undefined ? await buildProgram('helm', report) : 'helm';
}

async function buildTarget(target: Target, go: string, report: (line: string) => void): Promise<void> {
  const { program, inputs, linkerFlags } = target;
  const digest = createHash('sha256')
    .update(JSON.stringify([go, target.package, linkerFlags, inputs]))
    .digest('hex');
  const { XDG_CACHE_HOME: named = '' } = process.env;
  const cache = join(named === '' ? join(homedir(), '.cache') : named, 'sidecar-injector');
  const kept = join(cache, `${program}-${digest.slice(0, 16)}`);
  if (existsSync(kept)) {
    utimesSync(kept, new Date(), new Date());
  } else {
    mkdirSync(cache, { recursive: true });
    // Renamed when it is whole: another clone may build the same at the same time.
    const folder = mkdtempSync(join(cache, 'building-'));
    try {
      await runGo(target, folder, report);
      renameSync(join(folder, program), kept);
    } finally {
      rmSync(folder, { recursive: true });
    }
    for (const path of readdirSync(cache).map((name) => join(cache, name)))
      if (Date.now() - statSync(path).mtimeMs > keptDays * 86_400_000) rmSync(path, { recursive: true });
  }
  mkdirSync(paths.binaries, { recursive: true });
  const link = join(paths.binaries, `${program}-${process.pid}`);
  symlinkSync(kept, link);
  renameSync(link, join(paths.binaries, program));
}

/**
 * Finds Go and checks that it can build the control plane.
 * An older Go is fine when it may fetch the toolchain that go.mod names (GOTOOLCHAIN, Go 1.21 and later).
 *
 * @returns what it says of its version
 * @throws Error with one line that says what to install.
 */
async function goToolchain(): Promise<string> {
  const wanted = `Go ${needed.major}.${needed.minor} or newer`;
  let version: string;
  try {
    version = (await run('go', ['version'])).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(
      `the embedded control plane is built with ${wanted}, and there is no \`go\` on the PATH: install it from https://go.dev/dl/`,
      { cause: error },
    );
  }
  const [, major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(version) ?? [];
  const recent = Number(major) > needed.major || (Number(major) === needed.major && Number(minor) >= needed.minor);
  const fetches =
    Number(major) === 1 && Number(minor) >= 21 && (await run('go', ['env', 'GOTOOLCHAIN'])).stdout.trim() !== 'local';
  if (!recent && !fetches)
    throw new Error(
      `the embedded control plane is built with ${wanted}; this is ${version}: install a newer one from https://go.dev/dl/`,
    );
  return version;
}

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) {
  await buildBinaries((line) => {
    console.log(line);
  }).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}

/**
 * Runs `go`, showing the elapsed time and the number of compiled packages:
 * one line that is rewritten on a terminal, a plain line every 15 s elsewhere.
 *
 * @throws Error with the last lines of Go's output when it fails.
 */
async function runGo(build: Target, folder: string, report: (line: string) => void): Promise<void> {
  const started = Date.now();
  const terminal = process.stdout.isTTY;
  let packages = 0;
  let downloads = 0;
  const tail: string[] = [];
  const status = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const elapsed = `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
    const fetched = downloads > 0 ? `, ${downloads} modules fetched` : '';
    return `building ${build.name}: ${elapsed}, ${packages} packages compiled${fetched}`;
  };
  report(`building ${build.name} (minutes when Go's cache is cold, seconds when it is warm) …`);
  const child = spawn(
    'go',
    [
      ...['install', '-v', '-tags', build.tags ?? '', '-ldflags', build.linkerFlags],
      ...(build.moduleFile === undefined ? [] : ['-modfile', build.moduleFile]),
      build.package,
    ],
    {
      cwd: build.directory,
      env: { ...process.env, GOOS: '', GOARCH: '', GOBIN: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const read = (line: string) => {
    tail.push(line);
    if (tail.length > 40) tail.shift();
    if (line.startsWith('go: downloading ')) downloads++;
    else packages++;
  };
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', read);
  const timer = setInterval(
    () => {
      if (terminal) process.stdout.write(`\r\u001b[K${status()}`);
      else report(status());
    },
    terminal ? 500 : 15_000,
  );
  const interruption = new AbortController();
  const stop = () => {
    interruption.abort();
    child.kill('SIGTERM');
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (interruption.signal.aborted) throw new Error(`building the ${build.name} was interrupted`);
    if (code !== 0) throw new Error(`\`go install\` failed for the ${build.name}:\n${tail.join('\n')}`);
  } finally {
    clearInterval(timer);
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
    if (terminal) process.stdout.write('\r\u001b[K');
  }
  report(status());
}

/**
 * Builds the programs that scenarios need: the control plane (e2e/controlplane), kubectl, helm and
 * others. All clones share the programs, which are in the user's cache folder under a digest of
 * their inputs; .build/bin links to them. The harness builds the control plane before it starts a
 * cluster. `node --import ./scripts/typescript/register.js e2e/harness/build.ts` does the same.
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
import { printFailure } from './print-failure.ts';

const run = promisify(execFile);
const needed = { major: 1, minor: 26 };
const kubernetesVersion = /^\tk8s\.io\/kubernetes v1\.(\d+)\.(\d+)$/m;
/** The number of days after which an unused program is removed from the cache. */
const keptDays = 30;

interface Target {
  /** The name in messages. */
  name: string;
  /** The file name of the program. */
  program: string;
  /** The inputs of the build besides Go and the arguments. A change causes a new build. */
  inputs: string[];
  directory: string;
  /** The package for `go install`. */
  package: string;
  linkerFlags: string;
  /** Build tags, separated by commas. */
  tags?: string;
  /** A module file other than go.mod. */
  moduleFile?: string;
}

/**
 * Builds the control plane into .build/bin unless it is in the cache.
 *
 * @param controlPlane false for the user's own cluster, which needs no build
 * @throws Error if Go is missing, or with the compiler's last lines if the build fails
 */
export async function buildBinaries(report: (line: string) => void, controlPlane = true): Promise<void> {
  if (controlPlane) await buildTarget(controlPlaneTarget(process.env['KUBERNETES']), await goToolchain(), report);
}

/** @param folder the folder in e2e/controlplane with the module file of another version */
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
  // Kubernetes releases set the version here. With the default, v0.0.0, helm refuses charts.
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

/** The version of Istio's module that scripts/istio-recorder uses, too. */
export const istioModule = 'istio.io/istio@v0.0.0-20260827124520-eed52ebb66ad';
const [istioPath, istioVersion] = istioModule.split('@') as [string, string];

/** Programs that tests run beside the control plane, with the package for `go install`. */
const programs = {
  helm: { package: 'helm.sh/helm/v4/cmd/helm@v4.3.1' },
  actionlint: { package: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12' },
  // Our own module requires krew: Go asks the proxy for a list of versions, which krew lacks.
  krew: { package: 'sigs.k8s.io/krew/cmd/krew' },
  // Omit service discovery for clouds.
  promtool: { package: 'github.com/prometheus/prometheus/cmd/promtool', tags: 'remove_all_sd' },
  // Judges the health of objects as Argo CD and Flux do.
  health: { package: '.' },
  // Runs the controllers of cert-manager, whose own modules have replace directives.
  certmanager: { package: '.' },
  'pilot-discovery': { package: `${istioPath}/pilot/cmd/pilot-discovery@${istioVersion}` },
  istioctl: { package: `${istioPath}/istioctl/cmd/istioctl@${istioVersion}` },
  // Runs in the pods of a real node: static, because images have no libraries for it.
  agent: { package: '.', tags: 'netgo,osusergo' },
  registry: { package: 'github.com/distribution/distribution/v3/cmd/registry@v3.1.2' },
} satisfies Record<string, Program>;

interface Program {
  /** `package@version`, or a package of our module in `e2e/tools/NAME`. */
  package: string;
  /** Build tags, separated by commas. */
  tags?: string;
}

/**
 * Builds kubectl of the control plane's version, for scenarios that run documented commands.
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
 * Builds a program that tests use, unless it is in the cache. Returns its path.
 *
 * @throws Error as {@link buildBinaries}
 */
export async function buildProgram(name: keyof typeof programs, report: (line: string) => void): Promise<string> {
  const { package: wanted, tags = '' }: Program = programs[name];
  const isOurs = !wanted.includes('@');
  // `go install module@version` must not see a go.mod in its working directory.
  const directory = isOurs ? join(paths.tools, name) : tmpdir();
  const sources = isOurs ? readdirSync(directory).sort() : [];
  const inputs = [tags, ...sources.map((file) => `${file}\n${readFileSync(join(directory, file), 'utf8')}`)];
  const target = { name, program: name, inputs, directory, package: wanted, linkerFlags: '-s -w', tags };
  await buildTarget(target, await goToolchain(), report);
  return join(paths.binaries, name);
}

/** Returns how to call helm: from the PATH, or else the built program. */
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
    // Rename the complete program, because another clone may build it at the same time.
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
 * Finds Go, checks that it can build the control plane, and returns the output of `go version`. An
 * older Go works if it may download go.mod's toolchain (GOTOOLCHAIN, Go 1.21 and later).
 *
 * @throws Error with one line that says what to install
 */
async function goToolchain(): Promise<string> {
  const wanted = `Go ${needed.major}.${needed.minor} or newer`;
  let version: string;
  try {
    version = (await run('go', ['version'])).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(
      `the embedded control plane needs ${wanted}, but there is no \`go\` on the PATH: install it from https://go.dev/dl/`,
      { cause: error },
    );
  }
  const [, major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(version) ?? [];
  const recent = Number(major) > needed.major || (Number(major) === needed.major && Number(minor) >= needed.minor);
  const fetches =
    Number(major) === 1 && Number(minor) >= 21 && (await run('go', ['env', 'GOTOOLCHAIN'])).stdout.trim() !== 'local';
  if (!recent && !fetches)
    throw new Error(
      `the embedded control plane needs ${wanted}, but this is ${version}: install a newer Go from https://go.dev/dl/`,
    );
  return version;
}

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) {
  await buildBinaries(console.log).catch((error: unknown) => (process.exitCode = printFailure(error)));
}

/**
 * Runs `go install` and shows the elapsed time and the number of compiled packages. Rewrites one
 * line on a terminal; otherwise prints a line every 15 s.
 *
 * @throws Error with the last lines of Go's output if the build fails
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
  report(`building ${build.name} (minutes with a cold Go cache, seconds with a warm one) …`);
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

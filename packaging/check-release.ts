/**
 * Makes a release twice, and compares the results. Then npm installs the package, kubectl runs the
 * plugin, krew installs the plugin, and helm reads the chart.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { buildKubectl, buildProgram, findHelm } from '../e2e/harness/build.ts';
import { cleanCopy } from '../e2e/harness/clean-copy.ts';
import { paths, repository } from '../e2e/harness/paths.ts';
import { writeChartArchive } from './chart-archive.ts';
import { releaseFolder } from './image.ts';
import { project, releaseTime } from './project.ts';
import { packTarGz, unpackTarGz } from './reproducible-tar.ts';

interface Surroundings {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

const count = { passed: 0, failed: 0 };
/** The name contains blanks to test that every script and tool quotes paths. */
const scratch = mkdtempSync(path.join(tmpdir(), 'injector release '));
const inScratch = (name: string): string => path.join(scratch, name);
/** The first release, which remains for scenario `image`. */
const release = path.resolve(await releaseFolder());
rmSync(path.dirname(release), { recursive: true, force: true });
const released = {
  npm: path.join(release, `${project.name}-${project.version}.tgz`),
  plugin: path.join(release, `kubectl-sidecar_injector-${project.version}.tar.gz`),
  chart: path.join(release, `injector-operator-${project.version}.tgz`),
};

async function check(sentence: string, prove: () => void | Promise<void>): Promise<void> {
  try {
    await prove();
    count.passed += 1;
    console.log(`  ok  ${sentence}`);
  } catch (error) {
    count.failed += 1;
    console.log(`FAIL  ${sentence}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function run(program: string, args: readonly string[], { cwd = scratch, env = {} }: Surroundings = {}) {
  const surroundings = { cwd, env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 64 << 20 } as const;
  const { status, stdout, stderr, error } = spawnSync(program, args, surroundings);
  if (error !== undefined) throw error;
  return { status, out: stdout, error: stderr };
}

/** A kubeconfig for a cluster that does not answer. */
const nowhere = inScratch('kubeconfig of no cluster');
writeFileSync(
  nowhere,
  JSON.stringify({
    'current-context': 'none',
    contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
    clusters: [{ name: 'none', cluster: { server: 'http://127.0.0.1:9' } }],
    users: [{ name: 'none', user: {} }],
  }),
);

/** Checks that commands serve their pages with all files. */
async function servePages(program: string, before: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  for (const command of [['playground'], ['dashboard', '--no-open', '--kubeconfig', nowhere]]) {
    const child = spawn(program, [...before, ...command], { cwd: scratch, env: { ...process.env, ...env } });
    try {
      let url: string | undefined;
      for await (const line of createInterface({ input: child.stdout })) {
        url = /http:[^ #]+/.exec(line)?.[0];
        if (url !== undefined) break;
      }
      assert(url, `${command.join(' ')} prints no address`);
      const html = await (await fetch(url)).text();
      const files = [...html.matchAll(/(?:src|href)="(\w+\.\w+)"/g)].map(([, file = '']) => file);
      if (command[0] === 'playground') files.push('engine.js');
      assert(files.includes('page.js'), html);
      for (const file of files) assert.equal((await fetch(new URL(file, url))).status, 200, file);
    } finally {
      child.kill();
    }
  }
}

/** Returns the size of an archive in kB, and what it would be without the pages. */
async function sizesOf(archive: string): Promise<string> {
  const packed = readFileSync(archive);
  const rest = [...(await unpackTarGz(packed))].filter(([name]) => !/(?:^|\/)web\//.test(name));
  const [size, without] = [packed, await packTarGz(new Map(rest), releaseTime())].map(({ length }) => length / 1000);
  return `${path.basename(archive)}: ${size?.toFixed(0)} kB, without the pages ${without?.toFixed(0)} kB`;
}

/** Runs a program that must exit with status 0. Returns the output. */
function succeed(program: string, args: readonly string[], surroundings?: Surroundings): string {
  const { status, out, error } = run(program, args, surroundings);
  assert.equal(status, 0, `${program} ${args.join(' ')} exited with ${String(status)}: ${(error + out).slice(-2000)}`);
  return out;
}

function makeRelease(args: readonly string[], surroundings: Surroundings, umask = '022') {
  const command = [process.execPath, ...process.execArgv, 'packaging/release.ts', ...args];
  return run('sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', ...command], surroundings);
}

/** Returns the names of the files that differ between two releases or exist in only one. */
function differences(...folders: readonly [string, string]): string[] {
  const [one, other] = folders.map((folder) => {
    const files = readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name))] as const);
    return new Map(files);
  }) as [Map<string, Buffer>, Map<string, Buffer>];
  const names = [...new Set([...one.keys(), ...other.keys()])];
  return names.filter((name) => other.get(name)?.equals(one.get(name) ?? Buffer.alloc(0)) !== true).sort();
}

/** Returns the files of an archive, without times. */
async function contentsOf(archive: string): Promise<object> {
  const files = [...(await unpackTarGz(readFileSync(archive)))].sort(([one], [other]) => (one < other ? -1 : 1));
  return files.map(([name, { content, executable }]) => [name, executable, content.toString('latin1')]);
}

/** A NODE_OPTIONS value that reverses the order of folder listings, as another disk may. */
const backwards = `--import=data:text/javascript;base64,${Buffer.from(
  `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { readdirSync, readdir } = fs;
fs.readdirSync = (...given) => readdirSync(...given).reverse();
fs.readdir = (...given) => readdir(...given.slice(0, -1), (error, list) => given.at(-1)(error, list?.reverse()));
syncBuiltinESMExports();`,
).toString('base64')}`;

async function sameBytes(copy: string): Promise<void> {
  await check('make release writes its files, and SHA256SUMS lists all of them', () => {
    const { status, error } = makeRelease(['--folder', release], { cwd: repository, env: { TZ: 'UTC', LC_ALL: 'C' } });
    assert.equal(status, 0, error);
    const sums = readFileSync(path.join(release, 'SHA256SUMS'), 'utf8').trim().split('\n');
    assert.deepEqual([...sums.map((line) => line.slice(66)), 'SHA256SUMS'].sort(), readdirSync(release).sort());
    for (const file of Object.values(released)) assert(sums.join().includes(path.basename(file)), `${file} is missing`);
  });
  // Scenario `readme` runs npm ci in a fresh clone. Hard links need one file system.
  const modules = path.join(repository, 'node_modules');
  succeed('sh', ['-c', 'cp -al "$0" "$1" 2>/dev/null || cp -a "$0" "$1"', modules, copy]);
  await check('npm pack in a fresh clone builds the program and packs the same files as the release', async () => {
    succeed('npm', ['pack', '--loglevel=error', '--pack-destination', scratch], { cwd: copy });
    assert.deepEqual(await contentsOf(inScratch(path.basename(released.npm))), await contentsOf(released.npm));
  });
  await check('outside a git clone, the release fails and asks for SOURCE_DATE_EPOCH', () => {
    const env = { SOURCE_DATE_EPOCH: undefined, GIT_CEILING_DIRECTORIES: path.dirname(copy) };
    const { status, error } = makeRelease([], { cwd: copy, env });
    assert.deepEqual([status, error.includes('set SOURCE_DATE_EPOCH')], [1, true], error);
  });
  await check('another folder, umask, time zone, locale and listing order give the same bytes', () => {
    // The release reads the commit from git, for a label of the image.
    symlinkSync(path.join(repository, '.git'), path.join(copy, '.git'));
    const locale = { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' };
    const env = { NODE_OPTIONS: backwards, GIT_OPTIONAL_LOCKS: '0', ...locale };
    const { status, error } = makeRelease(['--folder', inScratch('second')], { cwd: copy, env }, '077');
    assert.equal(status, 0, error);
    assert.deepEqual(differences(release, inScratch('second')), []);
  });
  await check('planted: the comparison finds a chart whose files have another time', async () => {
    process.env['SOURCE_DATE_EPOCH'] = String(releaseTime() + 1);
    const names = await writeChartArchive(inScratch('second'));
    delete process.env['SOURCE_DATE_EPOCH'];
    assert.deepEqual(differences(release, inScratch('second')), names);
  });
  await check('planted: a version of the chart that differs from package.json stops the release', () => {
    const file = path.join(copy, 'charts/injector-operator/Chart.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^version: .*/m, 'version: 9.9.9'));
    const { status, error } = makeRelease([], { cwd: copy });
    assert.deepEqual([status, error.includes('version of charts/injector-operator/Chart.yaml is 9.9.9')], [1, true]);
  });
}

async function npmPackage(): Promise<void> {
  const cwd = inScratch('an empty folder');
  mkdirSync(cwd);
  // Nothing listens on port 9, so any request to a registry fails.
  const env = { HOME: cwd, npm_config_cache: inScratch('cache'), npm_config_registry: 'http://127.0.0.1:9/' };
  const installed = path.join(cwd, 'node_modules', project.name);
  await check('npm installs the package from its file, offline, and installs no other package', () => {
    succeed('npm', ['install', '--offline', '--no-audit', '--no-fund', released.npm], { cwd, env });
    const names = readdirSync(path.dirname(installed)).filter((name) => !name.startsWith('.'));
    assert.deepEqual(names, [project.name]);
  });
  await check('the package contains only the program, the pages, CRDs, chart, examples and licence texts', () => {
    const allowed =
      /^(?:package\.json|README\.md|LICENSE|dist\/injector\.cjs(?:\.map)?|dist\/web\/(?:playground|dashboard)\/\w+\.(?:html|css|js)|crds\/[\w.-]+\.yaml|charts\/.+|examples\/.+|dist\/.*(?:LEGAL|LICENSE).*)$/;
    const files = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(installed, path.join(entry.parentPath, entry.name)));
    const crds = readdirSync(paths.crds).map((name) => `crds/${name}`);
    const needed = [
      'LICENSE',
      'dist/injector.cjs',
      'dist/web/playground/engine.js',
      'dist/web/dashboard/page.js',
      'charts/injector-operator/values.yaml',
      'examples/hello.yaml',
    ];
    const wrong = [
      ...files.filter((file) => !allowed.test(file)),
      ...[...needed, ...crds].filter((file) => !files.includes(file)),
    ];
    assert.deepEqual(wrong, []);
  });
  await check('npx injector runs `version` and the `inject` command of the README', () => {
    const injector = (...args: string[]): string => succeed('npx', ['--no', 'injector', ...args], { cwd, env });
    assert(injector('version').startsWith(`injector ${project.version} `));
    const [sleep, hello] = ['sleep', 'hello'].map((name) => path.join(installed, 'examples', `${name}.yaml`));
    assert.match(injector('inject', '-f', sleep!, '--config', hello!), /^ +- name: hello\n +image: busybox/m);
  });
  await check('the playground and the dashboard of the package serve their pages', () =>
    servePages(path.join(cwd, 'node_modules/.bin/injector'), []),
  );
  console.log(`      ${await sizesOf(released.npm)}`);
}

async function kubectlPlugin(): Promise<void> {
  await buildKubectl(console.log);
  const krew = await buildProgram('krew', console.log);
  const folders = { unpacked: inScratch('plug in'), linked: inScratch('linked here'), bare: inScratch('bare') };
  for (const folder of [...Object.values(folders), inScratch('old')]) mkdirSync(folder);
  succeed('tar', ['-xzf', released.plugin, '-C', folders.unpacked]);
  for (const name of ['kubectl-sidecar_injector', 'kubectl_complete-sidecar_injector'])
    symlinkSync(path.join('..', path.basename(folders.unpacked), name), path.join(folders.linked, name));
  const withPath = (...some: string[]): NodeJS.ProcessEnv => ({ PATH: some.join(':'), HOME: inScratch('no home') });
  const all = process.env['PATH'] ?? '';
  const kubectl = (args: readonly string[], env = withPath(folders.linked, all)) =>
    run(paths.kubectl, args, { cwd: repository, env });
  const isRunning = (env?: NodeJS.ProcessEnv): void => {
    const { out, error } = kubectl(['sidecar-injector', 'version'], env);
    assert(out.startsWith(`injector ${project.version} `), out + error);
  };

  await check('kubectl runs the plugin through a relative link, in folders with blanks in names', () => isRunning());
  await check('the playground and the dashboard of the plugin serve their pages', () =>
    servePages(paths.kubectl, ['sidecar-injector'], withPath(folders.linked, all)),
  );
  console.log(`      ${await sizesOf(released.plugin)}`);
  await check('the plugin has the output and exit status of the program', () => {
    for (const [file, status] of [['examples/sleep.yaml', 0] as const, ['does not exist.yaml', 2] as const]) {
      const args = ['inject', '-f', file, '--config', 'examples/hello.yaml'];
      const direct = run(process.execPath, [paths.injector, ...args], { cwd: repository });
      assert.equal(direct.status, status);
      assert.deepEqual(kubectl(['sidecar-injector', ...args]), direct);
    }
  });
  await check('kubectl completes the commands of the plugin', () => {
    assert.equal(kubectl(['__complete', 'sidecar-injector', 'certs', 'p']).out, 'patch-ca-bundle\n:4\n');
    assert.equal(kubectl(['__complete', 'sidecar-injector', 'inject', '-f', '']).out, ':0\n');
  });
  await check('the plugin reports that Node is missing or too old', () => {
    for (const tool of ['sh', 'readlink', 'dirname'])
      symlinkSync(succeed('sh', ['-c', `command -v ${tool}`]).trim(), path.join(folders.bare, tool));
    const old = '#!/bin/sh\n[ "$*" = --version ] && echo v20.18.3\n';
    writeFileSync(path.join(inScratch('old'), 'node'), old, { mode: 0o755 });
    const missing = kubectl(['sidecar-injector', 'version'], withPath(folders.linked, folders.bare));
    const tooOld = kubectl(['sidecar-injector', 'version'], withPath(folders.linked, inScratch('old'), folders.bare));
    assert.deepEqual([missing.status, tooOld.status], [1, 1]);
    assert.match(missing.error, /needs Node 20\.19 or later on the PATH, but found none/);
    assert.match(tooOld.error, /needs Node 20\.19 or later on the PATH, but found v20\.18\.3/);
  });

  const install = (archive: string, root: string, [os, arch]: string[] = []) =>
    run(krew, ['install', `--manifest=${path.join(release, 'sidecar-injector.yaml')}`, `--archive=${archive}`], {
      env: { ...withPath(all), KREW_ROOT: root, KREW_OS: os, KREW_ARCH: arch, KREW_NO_UPGRADE_CHECK: '1' },
    });
  for (const platform of ['linux/amd64', 'linux/arm64', 'darwin/amd64', 'darwin/arm64'])
    await check(`krew installs the plugin for ${platform}, and kubectl runs it`, () => {
      const root = inScratch(`krew ${platform.replace('/', ' ')}`);
      const { status, error } = install(released.plugin, root, platform.split('/'));
      assert.equal(status, 0, error);
      isRunning(withPath(path.join(root, 'bin'), all));
    });
  await check('krew refuses to install on Windows, and refuses an archive with a wrong digest (planted)', () => {
    const windows = install(released.plugin, inScratch('refused'), ['windows', 'amd64']);
    assert.match(windows.error, /does not offer installation for this/);
    writeFileSync(inScratch('changed'), Buffer.concat([readFileSync(released.plugin), Buffer.of(0)]));
    const changed = install(inScratch('changed'), inScratch('refused'), ['linux', 'amd64']);
    assert.match(changed.error, /checksum/);
    assert(windows.status !== 0 && changed.status !== 0);
  });
}

async function chart(): Promise<void> {
  const helm = await findHelm(console.log);
  for (const command of ['lint --strict', 'show all', 'template injector --include-crds'])
    await check(`helm ${command} prints the same output for the archive and the folder`, () => {
      const [packed, loose] = [released.chart, paths.chart].map((source) =>
        succeed(helm, [...command.split(' '), source]).replaceAll(source, 'CHART'),
      );
      assert.equal(packed, loose);
    });
  await check('the archive contains the files that helm package packs', () => {
    succeed(helm, ['package', paths.chart, '--destination', scratch]);
    const archives = [released.chart, inScratch(path.basename(released.chart))];
    const [ours, helms] = archives.map((archive) => succeed('tar', ['-tzf', archive]).trim().split('\n').sort());
    assert.deepEqual(ours, helms);
  });
}

const copy = cleanCopy();
try {
  await sameBytes(copy);
  await npmPackage();
  await kubectlPlugin();
  await chart();
} finally {
  for (const folder of [copy, scratch]) rmSync(folder, { recursive: true, force: true });
}
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;

/**
 * Makes a release twice and uses what it made: npm installs the package, kubectl runs the plugin, krew installs it, helm reads the chart.
 * Nothing here asks a network but the first build of kubectl, krew and helm, and `npm ci` in a copy of the source.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildKubectl, buildProgram, findHelm } from '../e2e/harness/build.ts';
import { cleanCopy } from '../e2e/harness/clean-copy.ts';
import { paths, repository } from '../e2e/harness/paths.ts';
import { project, releaseTime } from './project.ts';
import { unpackTarGz } from './reproducible-tar.ts';

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly error: string;
}

interface Surroundings {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly umask?: string;
}

const count = { passed: 0, failed: 0 };
const scratch = mkdtempSync(path.join(tmpdir(), 'injector release '));
const inScratch = (...parts: string[]): string => path.join(scratch, ...parts);
const release = inScratch('release');
const released = (ending: string): string => {
  const name = readdirSync(release).find((each) => each.endsWith(ending));
  assert(name !== undefined, `the release has no file that ends in ${ending}`);
  return path.join(release, name);
};
const names = {
  npm: `${project.name}-${project.version}.tgz`,
  plugin: `kubectl-sidecar_injector-${project.version}.tar.gz`,
  chart: `injector-operator-${project.version}.tgz`,
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

/** Runs a program to its end. With `umask` a shell sets that first. */
function run(program: string, args: readonly string[], { cwd = scratch, env = {}, umask }: Surroundings = {}): Ended {
  const [command, all] =
    umask === undefined ? [program, args] : ['sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', program, ...args]];
  const surroundings = { cwd, env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 64 << 20 } as const;
  const { status, stdout, stderr, error } = spawnSync(command, all, surroundings);
  if (error !== undefined) throw error;
  return { status, out: stdout, error: stderr };
}

/** The same, where it must end well; what it printed. */
function succeed(program: string, args: readonly string[], surroundings?: Surroundings): string {
  const { status, out, error } = run(program, args, surroundings);
  assert.equal(status, 0, `${program} ${args.join(' ')} ended with ${String(status)}: ${(error + out).slice(-2000)}`);
  return out;
}

function makeRelease(args: readonly string[], surroundings: Surroundings): Ended {
  return run(process.execPath, [...process.execArgv, 'packaging/release.ts', ...args], surroundings);
}

/** Names of the files that differ between two releases, or that one of them lacks. */
function differences(one: string, other: string): string[] {
  const all = new Set([...readdirSync(one), ...readdirSync(other)]);
  const read = (folder: string, name: string): Buffer | undefined =>
    readdirSync(folder).includes(name) ? readFileSync(path.join(folder, name)) : undefined;
  return [...all].sort().filter((name) => {
    const [mine, its] = [read(one, name), read(other, name)];
    return mine === undefined || its === undefined || !mine.equals(its);
  });
}

/** Names, contents and modes of an archive, without times. */
async function contentsOf(file: string): Promise<Record<string, string>> {
  const files = await unpackTarGz(readFileSync(file));
  const digest = ([name, { content, executable }]: [string, { content: Buffer; executable?: boolean }]) =>
    [name, `${executable === true ? 'program' : 'file'} ${content.toString('base64')}`] as const;
  return Object.fromEntries([...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(digest));
}

/** For NODE_OPTIONS: lists each folder backwards in every process of Node, as another disk may. */
const backwards = `--import=data:text/javascript;base64,${Buffer.from(
  `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { readdirSync, readdir } = fs;
fs.readdirSync = (...given) => readdirSync(...given).reverse();
fs.readdir = (...given) => readdir(...given.slice(0, -1), (error, list) => given.at(-1)(error, list?.reverse()));
syncBuiltinESMExports();`,
).toString('base64')}`;

async function sameBytes(copy: string): Promise<void> {
  const epoch = String(releaseTime());
  await check('make release writes its files', () => {
    const { status, error } = makeRelease(['--folder', release], { cwd: repository, env: { TZ: 'UTC', LC_ALL: 'C' } });
    assert.equal(status, 0, error);
    const sums = readFileSync(path.join(release, 'SHA256SUMS'), 'utf8').trim().split('\n');
    const listed = sums.map((line) => line.slice(66));
    assert.deepEqual([...listed, 'SHA256SUMS'].sort(), readdirSync(release).sort());
    for (const name of Object.values(names)) assert(listed.includes(name), `${name} is missing`);
  });
  succeed('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: copy });
  await check('npm pack in a fresh clone builds the program and packs what the release has', async () => {
    succeed('npm', ['pack', '--loglevel=error', '--pack-destination', scratch], { cwd: copy, umask: '022' });
    assert.deepEqual(await contentsOf(inScratch(names.npm)), await contentsOf(path.join(release, names.npm)));
  });
  await check('without git and SOURCE_DATE_EPOCH the release says what it needs', () => {
    const { status, error } = makeRelease(['--folder', inScratch('none')], {
      cwd: copy,
      env: { SOURCE_DATE_EPOCH: undefined, GIT_CEILING_DIRECTORIES: path.dirname(copy) },
    });
    assert.deepEqual([status, error.includes('set SOURCE_DATE_EPOCH')], [1, true], error);
  });
  await check('a copy elsewhere, another umask, zone, locale and order of folders: the same bytes', () => {
    const second = inScratch('second');
    const locale = { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' };
    const { status, error } = makeRelease(['--folder', second], {
      cwd: copy,
      umask: '077',
      env: { SOURCE_DATE_EPOCH: epoch, NODE_OPTIONS: backwards, ...locale },
    });
    assert.equal(status, 0, error);
    assert.deepEqual(differences(release, second), []);
  });
  await check('planted: a chart whose files bear another second is noticed', () => {
    const planted = inScratch('planted');
    cpSync(release, planted, { recursive: true });
    const later = { SOURCE_DATE_EPOCH: String(Number(epoch) + 1) };
    makeRelease(['--folder', inScratch('later'), 'chart'], { cwd: repository, env: later });
    cpSync(inScratch('later', names.chart), path.join(planted, names.chart));
    assert.deepEqual(differences(release, planted), [names.chart]);
  });
  await check('planted: a chart of another version than package.json stops the release', () => {
    const file = path.join(copy, 'charts/injector-operator/Chart.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^version: .*/m, 'version: 9.9.9'));
    const { status, error } = makeRelease([], { cwd: copy, env: { SOURCE_DATE_EPOCH: epoch } });
    assert.deepEqual([status, error.includes('version of charts/injector-operator/Chart.yaml is 9.9.9')], [1, true]);
  });
}

async function npmPackage(): Promise<void> {
  const folder = inScratch('an empty folder');
  mkdirSync(folder);
  // Port 9 discards: whoever asks a registry fails.
  const env = { HOME: folder, npm_config_cache: inScratch('cache'), npm_config_registry: 'http://127.0.0.1:9/' };
  const packageFolder = path.join(folder, 'node_modules', project.name);
  await check('npm installs the package from its file, offline, and nothing else', () => {
    succeed('npm', ['install', '--offline', '--no-audit', '--no-fund', released(names.npm)], { cwd: folder, env });
    const installed = readdirSync(path.join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
    assert.deepEqual(installed, [project.name]);
  });
  await check('it holds the program, definitions, chart, examples and licence texts only', () => {
    const allowed =
      /^(?:package\.json|README\.md|LICENSE|dist\/injector\.cjs(?:\.map)?|crds\/[\w.-]+\.yaml|charts\/.+|examples\/.+|(?:dist\/|licenses\/).*(?:LEGAL|LICENSE).*)$/;
    const files = readdirSync(packageFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(packageFolder, path.join(entry.parentPath, entry.name)));
    assert.deepEqual(
      files.filter((file) => !allowed.test(file)),
      [],
    );
    const needed = ['LICENSE', 'dist/injector.cjs', 'charts/injector-operator/values.yaml', 'examples/hello.yaml'];
    assert.deepEqual(
      needed.filter((file) => !files.includes(file)),
      [],
    );
    const crds = readdirSync(path.join(repository, 'crds')).map((name) => `crds/${name}`);
    assert.deepEqual(
      crds.filter((file) => !files.includes(file)),
      [],
    );
  });
  await check('npx injector version says the version', () => {
    const out = succeed('npx', ['--no', 'injector', 'version'], { cwd: folder, env });
    assert(out.startsWith(`injector ${project.version} `), out);
  });
  await check('npx injector inject adds the example’s container', () => {
    const examples = path.join(packageFolder, 'examples');
    const args = ['-f', path.join(examples, 'sleep.yaml'), '--config', path.join(examples, 'hello.yaml')];
    const out = succeed('npx', ['--no', 'injector', 'inject', ...args], { cwd: folder, env });
    assert.match(out, /^ +- name: hello\n +image: busybox/m);
  });
}

async function kubectlPlugin(): Promise<void> {
  await buildKubectl(console.log);
  const krew = await buildProgram('krew', console.log);
  const folder = inScratch('plug in');
  const linked = inScratch('linked here');
  for (const each of [folder, linked]) mkdirSync(each);
  succeed('tar', ['-xzf', released(names.plugin), '-C', folder]);
  for (const name of ['kubectl-sidecar_injector', 'kubectl_complete-sidecar_injector'])
    symlinkSync(path.join('..', path.basename(folder), name), path.join(linked, name));
  const env = { PATH: `${linked}:${process.env['PATH'] ?? ''}`, HOME: inScratch('nobody') };
  const plugin = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Ended =>
    run(paths.kubectl, ['sidecar-injector', ...args], { cwd: repository, env: { ...env, ...more } });

  await check('kubectl runs the plugin by a relative link, from folders with blanks in their names', () => {
    const { out } = plugin(['version']);
    assert(out.startsWith(`injector ${project.version} `), out);
  });
  await check('its output and exit status are those of the program', () => {
    const examples: [string, number][] = [
      ['examples/sleep.yaml', 0],
      ['does not exist.yaml', 2],
    ];
    for (const [file, status] of examples) {
      const args = ['inject', '-f', file, '--config', 'examples/hello.yaml'];
      const direct = run(process.execPath, [paths.injector, ...args], { cwd: repository });
      assert.equal(direct.status, status);
      assert.deepEqual(plugin(args), direct);
    }
  });
  await check('kubectl completes its commands', () => {
    const complete = (...words: string[]): string =>
      succeed(paths.kubectl, ['__complete', 'sidecar-injector', ...words], { cwd: repository, env });
    assert.equal(complete('certs', 'p'), 'patch-ca-bundle\n:4\n');
    assert.equal(complete('inject', '-f', ''), ':0\n');
  });
  await check('it says so when Node is missing, or too old', () => {
    const old = inScratch('old');
    mkdirSync(old);
    writeFileSync(path.join(old, 'node'), '#!/bin/sh\n[ "$*" = --version ] && echo v20.18.3\n', { mode: 0o755 });
    const bare = inScratch('bare');
    mkdirSync(bare);
    for (const tool of ['sh', 'readlink', 'dirname'])
      symlinkSync(succeed('sh', ['-c', `command -v ${tool}`]).trim(), path.join(bare, tool));
    const missing = plugin(['version'], { PATH: `${linked}:${bare}` });
    assert.deepEqual([missing.status, missing.out], [1, '']);
    assert.match(missing.error, /needs Node 20\.19 or later on the PATH, and there is none/);
    const tooOld = plugin(['version'], { PATH: `${linked}:${old}:${bare}` });
    assert.equal(tooOld.status, 1);
    assert.match(tooOld.error, /needs Node 20\.19 or later on the PATH; this is v20\.18\.3/);
  });

  const install = (archive: string, os: string, arch: string, root: string): Ended =>
    run(krew, ['install', `--manifest=${released('sidecar-injector.yaml')}`, `--archive=${archive}`], {
      env: { KREW_ROOT: root, KREW_OS: os, KREW_ARCH: arch, KREW_NO_UPGRADE_CHECK: '1', HOME: inScratch('nobody') },
    });
  for (const os of ['linux', 'darwin'])
    for (const arch of ['amd64', 'arm64'])
      await check(`krew installs it for ${os}/${arch}, and kubectl runs what krew installed`, () => {
        const root = inScratch(`krew ${os} ${arch}`);
        const { status, error } = install(released(names.plugin), os, arch, root);
        assert.equal(status, 0, error);
        const { out } = plugin(['version'], { PATH: `${path.join(root, 'bin')}:${process.env['PATH'] ?? ''}` });
        assert(out.startsWith(`injector ${project.version} `), out);
      });
  await check('krew refuses windows, and an archive with another digest (planted)', () => {
    const root = inScratch('krew refuses');
    assert.match(
      install(released(names.plugin), 'windows', 'amd64', root).error,
      /does not offer installation for this/,
    );
    const changed = inScratch('changed.tar.gz');
    writeFileSync(changed, Buffer.concat([readFileSync(released(names.plugin)), Buffer.of(0)]));
    const { status, error } = install(changed, 'linux', 'amd64', root);
    assert.deepEqual([status === 0, /checksum/.test(error)], [false, true], error);
  });
}

async function chart(): Promise<void> {
  const helm = await findHelm(console.log);
  const archive = released(names.chart);
  const folder = path.relative(repository, paths.chart);
  const bySource = (...args: string[]): [string, string] => {
    const asked = (source: string): string => succeed(helm, [...args, source], { cwd: repository });
    return [asked(archive), asked(folder)];
  };
  await check('helm lint accepts the archive', () => {
    assert.match(succeed(helm, ['lint', '--strict', archive]), /1 chart\(s\) linted, 0 chart\(s\) failed/);
  });
  for (const command of ['show all', 'show crds', 'template injector --include-crds'])
    await check(`helm ${command} says the same of the archive and of the folder`, () => {
      const [packed, loose] = bySource(...command.split(' '));
      assert(packed.length > 1000);
      assert.equal(packed, loose);
    });
  await check('the archive has the files that helm package packs', async () => {
    succeed(helm, ['package', paths.chart, '--destination', scratch]);
    const [ours, theirs] = [await contentsOf(archive), await contentsOf(inScratch(names.chart))];
    assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
    assert(!Object.keys(ours).some((name) => name.includes('/ci/')));
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

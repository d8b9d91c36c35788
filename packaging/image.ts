/** The image: its build context, and archives of it for each architecture. */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { architectures, assembleBase, assemblyLacks, onPath, type Architecture } from './base.ts';
import { project, releaseTime } from './project.ts';
import { packTarGz, type ArchivedFile } from './reproducible-tar.ts';

const run = promisify(execFile);

/** The image that the user wants the bundle on, by name and perhaps digest; undefined: one is assembled. */
export const givenBase = process.env['BASE'] || undefined;

type Report = (line: string) => void;

/** The files of the build context by name. */
function contextFiles(): Map<string, ArchivedFile> {
  const sources = ['packaging/Containerfile', 'dist/injector.cjs', 'LICENSE', 'dist/THIRD-PARTY-LICENSES.txt'];
  const isProgram = (file: string) => file.endsWith('.cjs');
  return new Map(
    sources.map((file) => [path.basename(file), { content: readFileSync(file), executable: isProgram(file) }]),
  );
}

/** The name of the archive of the image for an architecture. */
export const archiveName = (architecture: Architecture): string =>
  `${project.name}-${project.version}-linux-${architecture}.oci.tar`;

/** Why `make release` can make no image here; undefined where it can. */
export function imageLacks(): string | undefined {
  if (onPath('buildah') === undefined) return 'archives of the image are made by buildah, which is not on the PATH';
  return givenBase === undefined ? assemblyLacks() : undefined;
}

/**
 * Writes the build context, and where an image can be built, an OCI archive for each architecture.
 *
 * @throws Error in CI where none can be built
 */
export async function writeImages(folder: string, report: Report): Promise<string[]> {
  const context = `${project.name}-${project.version}-image-context.tar.gz`;
  writeFileSync(path.join(folder, context), await packTarGz(contextFiles(), releaseTime()));
  const lacking = imageLacks();
  if (lacking !== undefined) {
    if (process.env['CI'] === 'true') throw new Error(lacking);
    report(`no archives of the image, only its build context: ${lacking}`);
    return [context];
  }
  const archives: string[] = [];
  for (const architecture of architectures) archives.push(await writeImageArchive(folder, architecture, report));
  return [context, ...archives];
}

/** Writes an OCI archive of the image for one architecture. Resolves with its name. */
async function writeImageArchive(folder: string, architecture: Architecture, report: Report): Promise<string> {
  const storage = mkdtempSync(path.join(tmpdir(), 'injector-image-'));
  // A storage of its own, so that nothing is left behind.
  const flags = ['--root', `${storage}/root`, '--runroot', `${storage}/run`, '--storage-driver', 'vfs'];
  const layout = path.join(storage, 'layout');
  const time = String(releaseTime());
  const options = ['--quiet', '--isolation', 'chroot', '--identity-label=false', '--timestamp', time];
  try {
    const tag = 'localhost/sidecar-injector';
    await buildImage(['buildah', ...flags], ['--platform', `linux/${architecture}`, ...options], tag, report);
    await run('buildah', [...flags, 'push', '--quiet', tag, `oci:${layout}:${project.version}`]);
    await packFolders([layout], path.join(path.resolve(folder), archiveName(architecture)), time);
    return archiveName(architecture);
  } finally {
    rmSync(storage, { recursive: true, force: true });
  }
}

/**
 * Builds the image with one of the tools that know a Containerfile.
 *
 * @param tool docker, podman or buildah, and its global flags
 * @param options of its command `build`
 */
export async function buildImage(tool: string[], options: string[], tag: string, report: Report): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'injector-context-'));
  const build = async (context: string, ...more: string[]) => {
    const [program = '', ...flags] = tool;
    const all = [...flags, 'build', ...options, ...more, '--file', path.join(context, 'Containerfile'), context];
    const call = run(program, all, { maxBuffer: 1 << 26 });
    if (!options.includes('--quiet'))
      for (const each of ['stdout', 'stderr'] as const) call.child[each]?.pipe(process.stderr);
    await call;
  };
  try {
    let base = givenBase;
    if (base === undefined) {
      base = 'localhost/sidecar-injector-base';
      const context = path.join(folder, 'base');
      mkdirSync(context);
      const machine = options.find((option) => option.startsWith('linux/')) ?? process.arch;
      const { folders } = await assembleBase(machine.endsWith('arm64') ? 'arm64' : 'amd64', report);
      await packFolders(folders, path.join(context, 'root.tar'), String(releaseTime()));
      writeFileSync(path.join(context, 'Containerfile'), 'FROM scratch\nADD root.tar /\n');
      await build(context, '--tag', base);
    }
    const context = path.join(folder, 'image');
    mkdirSync(context);
    for (const [name, { content, executable = false }] of contextFiles()) {
      writeFileSync(path.join(context, name), content);
      chmodSync(path.join(context, name), executable ? 0o755 : 0o644);
    }
    const values = { BASE: base, VERSION: project.version, REVISION: revision() };
    const given = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
    await build(context, ...given, ...baseLabels(), '--tag', tag);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Says on which image this one stands, for scanners and for those who build it again when that one has changed. */
function baseLabels(): string[] {
  if (givenBase === undefined) return [];
  const [name = '', digest] = givenBase.split('@');
  const labels = { name, ...(digest === undefined ? {} : { digest }) };
  return Object.entries(labels).flatMap(([key, value]) => ['--label', `org.opencontainers.image.base.${key}=${value}`]);
}

/** The commit, and whether files differ from it. */
export function revision(): string {
  if (!existsSync('.git')) return 'unknown';
  const describe = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  return execFileSync('git', describe, { encoding: 'utf8' }).trim();
}

/** A tar archive of what is in folders, whose bytes depend on names, modes and contents only. */
async function packFolders(folders: readonly string[], archive: string, time: string): Promise<void> {
  const fixed = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=a+rX'];
  const contents = folders.flatMap((folder) => ['-C', folder, '.']);
  await run('tar', ['-cf', archive, '--format=gnu', ...fixed, ...contents]);
}

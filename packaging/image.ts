/** Writes the build context of the image, and an archive of the image for each architecture. */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { architectures, assembleBase, assemblyLacks, onPath, type Architecture } from './base.ts';
import { project, releaseTime } from './project.ts';
import { packTarGz, type ArchivedFile } from './reproducible-tar.ts';

const run = promisify(execFile);

/** The name, with optional digest, of the user's base image; undefined to assemble a base. */
export const chosenBase = process.env['BASE'] || undefined;

type Report = (line: string) => void;

/** Returns the files of the build context by name. */
function contextFiles(): Map<string, ArchivedFile> {
  const sources = ['packaging/Containerfile', 'dist/injector.cjs', 'LICENSE', 'dist/THIRD-PARTY-LICENSES.txt'];
  const isProgram = (file: string) => file.endsWith('.cjs');
  return new Map(
    sources.map((file) => [path.basename(file), { content: readFileSync(file), executable: isProgram(file) }]),
  );
}

/** Returns the name of the image's archive for an architecture. */
export const archiveName = (architecture: Architecture): string =>
  `${project.name}-${project.version}-linux-${architecture}.oci.tar`;

/** Returns the reason why `make release` cannot build an image here; undefined if it can. */
export function imageLacks(): string | undefined {
  if (onPath('buildah') === undefined) return 'building the image archives needs buildah, which is not on the PATH';
  return chosenBase === undefined ? assemblyLacks() : undefined;
}

/**
 * Writes the build context and, if images can be built here, an OCI archive for each architecture.
 *
 * @throws Error in CI if no image can be built
 */
export async function writeImages(folder: string, report: Report): Promise<string[]> {
  const context = `${project.name}-${project.version}-image-context.tar.gz`;
  writeFileSync(path.join(folder, context), await packTarGz(contextFiles(), releaseTime()));
  const lacking = imageLacks();
  if (lacking !== undefined) {
    if (process.env['CI'] === 'true') throw new Error(lacking);
    report(`wrote the build context of the image, but no image archives: ${lacking}`);
    return [context];
  }
  const archives: string[] = [];
  for (const architecture of architectures) archives.push(await writeImageArchive(folder, architecture, report));
  return [context, ...archives];
}

/** Returns the folder in which step `release` leaves a release. Each input changes the name. */
export async function releaseFolder(): Promise<string> {
  const canAssemble = chosenBase === undefined && imageLacks() === undefined;
  const bases = (canAssemble ? architectures : []).map((each) => assembleBase(each, () => undefined));
  const hash = createHash('sha256').update(JSON.stringify([await Promise.all(bases), releaseTime(), revision()]));
  const files = readdirSync('packaging', { withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name } of files) hash.update(readFileSync(path.join('packaging', name)));
  for (const { content } of contextFiles().values()) hash.update(content);
  return path.join('.build', 'made release', hash.digest('hex').slice(0, 16));
}

/** Writes an OCI archive of the image for one architecture. Returns its name. */
export async function writeImageArchive(folder: string, architecture: Architecture, report: Report): Promise<string> {
  const storage = mkdtempSync(path.join(tmpdir(), 'injector-image-'));
  // A temporary storage, so that no image remains on this machine.
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
 * Builds the image with a tool that reads Containerfiles.
 *
 * @param tool docker, podman or buildah, and its global flags
 * @param options the flags of the tool's command `build`
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
    let base = chosenBase;
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
    const buildArgs = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
    await build(context, ...buildArgs, ...baseLabels(), '--tag', tag);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns flags that label the image with its base, so that scanners find images on old bases. */
function baseLabels(): string[] {
  if (chosenBase === undefined) return [];
  const [name = '', digest] = chosenBase.split('@');
  const labels = { name, ...(digest === undefined ? {} : { digest }) };
  return Object.entries(labels).flatMap(([key, value]) => ['--label', `org.opencontainers.image.base.${key}=${value}`]);
}

/** Returns the commit, with suffix `-dirty` if files differ from it. */
export function revision(): string {
  if (!existsSync('.git')) return 'unknown';
  const describe = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  return execFileSync('git', describe, { encoding: 'utf8' }).trim();
}

/** Packs folders into a tar archive whose bytes depend only on names, modes and contents. */
async function packFolders(folders: readonly string[], archive: string, time: string): Promise<void> {
  const fixed = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=a+rX'];
  const contents = folders.flatMap((folder) => ['-C', folder, '.']);
  await run('tar', ['-cf', archive, '--format=gnu', ...fixed, ...contents]);
}

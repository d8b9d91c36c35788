/** The images of a real node, which pulls none: the operator's own, and one with small programs. */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../../../packaging/base.ts';
import { archiveName, releaseFolder, writeImageArchive } from '../../../packaging/image.ts';
import { project } from '../../../packaging/project.ts';
import { buildProgram } from '../build.ts';

const run = promisify(execFile);

/** The image of apps and sidecars. Without arguments, it is the pause container of each pod. */
export const agentImage = 'localhost/agent:1';

/** The same image with another tag, for updates. */
export const otherAgentImage = 'localhost/agent:2';

/** An image with the same programs whose agent answers 503, so that its pod is never ready. */
export const unreadyAgentImage = 'localhost/agent:unready';

/** The image of the examples, which need only `sh` and `sleep`. */
const examplesImage = 'docker.io/library/busybox:1.36';

const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** Returns the archives of all images, with the arguments of `ctr images import`. */
export async function nodeImages(report: (line: string) => void): Promise<string[][]> {
  const [agent, operator] = [await packAgent(report), await packOperator(report)];
  return [[agent], ['--base-name', `docker.io/library/${project.name}`, operator]];
}

/** Returns the archive of the operator's image, as `make release` builds it. */
async function packOperator(report: (line: string) => void): Promise<string> {
  // Programs of the node have another working directory.
  const released = resolve(await releaseFolder());
  const name = archiveName(architecture);
  if (existsSync(join(released, 'SHA256SUMS'))) return join(released, name);
  const folder = await cached(`image-${basename(released)}`, 3, async (building) => {
    report("building the operator's image …");
    await writeImageArchive(building, architecture, report);
  });
  return join(folder, name);
}

/** Packs the agent, and this machine's `sh` and `sleep` with their libraries, as one layer. */
async function packAgent(report: (line: string) => void): Promise<string> {
  const agent = await buildProgram('agent', report);
  const tools = ['/bin/sh', '/bin/sleep'];
  const libraries = execFileSync('ldd', tools, { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g);
  const files = [...new Set([...tools, ...[...libraries].map(([, file = '']) => file)])];
  const hash = createHash('sha256');
  for (const file of [agent, ...files, import.meta.filename]) hash.update(readFileSync(file));
  const folder = await cached(`agent-image-${hash.digest('hex').slice(0, 16)}`, 30, async (building) => {
    const root = mkdtempSync(join(tmpdir(), 'agent-image-'));
    for (const [file, source] of [['/agent', agent], ...files.map((each) => [each, each])] as [string, string][]) {
      mkdirSync(join(root, dirname(file)), { recursive: true });
      copyFileSync(source, join(root, file));
    }
    await packImages(root, building);
    rmSync(root, { recursive: true });
  });
  return join(folder, 'image.tar');
}

/** Packs a root folder as a docker archive with all images, `image.tar` in the target folder. */
async function packImages(root: string, target: string): Promise<void> {
  const layer = join(target, 'layer.tar');
  await run('tar', ['-cf', layer, '--owner=0', '--group=0', '--mode=a+rX', '-C', root, '.']);
  const digest = createHash('sha256').update(readFileSync(layer)).digest('hex');
  const parts = ['manifest.json', 'layer.tar'];
  const withArguments = (Config: string, further: readonly string[], RepoTags: readonly string[]) => {
    const config = { Entrypoint: ['/agent', ...further], Env: ['PATH=/bin'] };
    const rootfs = { type: 'layers', diff_ids: [`sha256:${digest}`] };
    writeFileSync(join(target, Config), JSON.stringify({ architecture, os: 'linux', config, rootfs }));
    parts.push(Config);
    return { Config, RepoTags, Layers: ['layer.tar'] };
  };
  const manifest = [
    withArguments('config.json', [], [agentImage, otherAgentImage, examplesImage]),
    withArguments('unready.json', ['--status=503'], [unreadyAgentImage]),
  ];
  writeFileSync(join(target, 'manifest.json'), JSON.stringify(manifest));
  await run('tar', ['-cf', join(target, 'image'), '-C', target, ...parts]);
  for (const part of parts) rmSync(join(target, part));
  renameSync(join(target, 'image'), join(target, 'image.tar'));
}

import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Plugin } from 'esbuild';
import { cached } from '../../packaging/base.ts';
import { bundle } from '../../scripts/bundle/bundle.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { applyAll, parseObjects } from './apply.ts';
import { chartWorkloads } from './chart-workloads.ts';
import { paths, repository } from './paths.ts';
import type { Replicas } from './replicas/replicas.ts';

const run = promisify(execFile);

/** The commit in `e2e/previous-release`. */
export const previousRelease = readFileSync(join(repository, 'e2e', 'previous-release'), 'utf8').trim();

/**
 * Builds the bundle of an earlier commit from the repository's history, or reuses the bundle in the
 * user's cache folder. Returns its path. The folder also contains the docs of that commit.
 *
 * @throws Error if the clone is shallow or npm cannot install the packages
 */
export async function earlierBundle(commit: string): Promise<string> {
  const folder = await cached(`earlier-${commit}`, 30, async (building) => {
    const git = { cwd: repository, maxBuffer: 256 << 20 };
    if (spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], git).status !== 0)
      throw new Error(`this clone has no commit ${commit}: run \`git fetch --unshallow\``);
    const archive = join(building, 'source.tar');
    await run('git', ['archive', '--output', archive, commit], git);
    await run('tar', ['--extract', '--file', archive, '--directory', building]);
    const cwd = { cwd: building };
    await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], cwd);
    await run(process.execPath, ['--import', 'ts-blank-space/register', 'scripts/build.ts'], cwd);
    for (const name of readdirSync(building))
      if (!['dist', 'docs'].includes(name)) rmSync(join(building, name), { recursive: true });
  });
  return join(folder, 'dist', 'injector.cjs');
}

/** Returns the objects that `injector install` of another version writes, CRDs first. */
export function objectsOf(injector: string, namespace: string): KubernetesObject[] {
  const flags = ['install', '--namespace', namespace, '--set', 'mode=split', '--output', 'yaml'];
  const text = execFileSync(process.execPath, [injector, ...flags], { encoding: 'utf8', maxBuffer: 64 << 20 });
  return parseObjects(text).filter(({ kind }) => kind !== 'Namespace');
}

export function isDefinition({ kind }: KubernetesObject): boolean {
  return kind === 'CustomResourceDefinition';
}

/** Applies the objects of a chart and deletes removed objects. Omits CRDs and Deployments. */
export async function changeChart(client: ApiClient, { installation }: Replicas, objects: KubernetesObject[]) {
  const isChanged = (each: KubernetesObject): boolean => each.kind !== 'Deployment' && !isDefinition(each);
  const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind}/${metadata.name ?? ''}`;
  await applyAll(client, objects.filter(isChanged));
  const kept = objects.map(keyOf);
  for (const each of installation.objects.filter(isChanged)) if (!kept.includes(keyOf(each))) await client.delete(each);
  installation.objects.splice(0, Infinity, ...objects);
  installation.workloads.splice(0, Infinity, ...chartWorkloads(objects, installation.namespace));
}

/** Replaces the processes of the given roles, all roles at the same time. */
export async function replace(
  replicas: Replicas,
  bundle: string,
  roles: ('webhooks' | 'controllers')[],
): Promise<void> {
  replicas.bundle = bundle;
  const each = async (list: Replicas['webhooks']): Promise<void> => {
    for (const replica of [...list]) await replicas.replace(replica);
  };
  await Promise.all(roles.map((role) => each(replicas[role])));
  await replicas.waitUntilServing();
  await replicas.waitForLeader();
}

const formats = "[{ name: '1', write: formatRoute, read: readRoute }]";

/**
 * Bundles a possible later version, which uses a path format that this version cannot read.
 *
 * @param name the format's name; the bundle assumes that all replicas read format `1`
 */
export async function nextBundle(name: '1' | '2'): Promise<string> {
  const outfile = join(paths.later, `next-${name}.cjs`);
  const read = `const found = parts[at] === 'v2' && readRoute(Buffer.from(parts[at + 1], 'hex').toString().split('/'), 1);
    return found ? { route: found.route, end: at + 2 } : undefined;`;
  const write = "'/v2/' + Buffer.from(formatRoute(route)).toString('hex')";
  const next = `{ name: '${name}', write: (route) => ${write}, read: (parts, at) => { ${read} } }`;
  const swap: Plugin = {
    name: 'next-path-format',
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]routing[\\/]route\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (!text.includes(formats))
          throw new Error(`${path} does not contain ${formats}: update e2e/harness/versions.ts`);
        return { contents: text.replace(formats, `[${next}, ${formats.slice(1)}`), loader: 'ts' };
      });
    },
  };
  await bundle(join(repository, 'src', 'cli', 'main.ts'), outfile, { boundedHeap: true, plugins: [swap] });
  return outfile;
}

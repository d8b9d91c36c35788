/** Packs the kubectl plugin, one archive for all platforms, and writes its krew manifest. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { oldestNode, project, releaseTime, sourceAddress } from './project.ts';
import { packTarGz, type ArchivedFile } from './reproducible-tar.ts';

const launchers = 'packaging/plugin';
const plugin = 'sidecar-injector';

/** Writes kubectl-sidecar_injector-VERSION.tar.gz, and sidecar-injector.yaml with its digest. */
export async function writeKubectlPlugin(folder: string): Promise<string[]> {
  const files = new Map<string, ArchivedFile>();
  for (const name of readdirSync(launchers))
    files.set(name, { content: readFileSync(path.join(launchers, name)), executable: true });
  const launcher = files.get('kubectl-sidecar_injector')?.content.toString() ?? '';
  if (!launcher.includes(`needs Node ${oldestNode} or later`))
    throw new Error(`${launchers}/kubectl-sidecar_injector must require Node ${oldestNode}, as package.json does`);
  const legal = readdirSync('dist').filter((name) => /LEGAL|LICENSE/i.test(name));
  for (const file of ['LICENSE', 'dist/injector.cjs', ...legal.map((name) => `dist/${name}`)])
    files.set(path.basename(file), { content: readFileSync(file) });
  for (const file of readdirSync('dist/web', { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  )) {
    const source = path.join(file.parentPath, file.name);
    files.set(path.relative('dist', source), { content: readFileSync(source) });
  }
  const archive = `kubectl-sidecar_injector-${project.version}.tar.gz`;
  const content = await packTarGz(files, releaseTime());
  writeFileSync(path.join(folder, archive), content);
  writeFileSync(
    path.join(folder, `${plugin}.yaml`),
    krewManifest(archive, createHash('sha256').update(content).digest('hex')),
  );
  return [archive, `${plugin}.yaml`];
}

function krewManifest(archive: string, sha256: string): string {
  const within = (key: string, values: string[]) => ({ key, operator: 'In', values });
  return stringify(
    {
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: plugin },
      spec: {
        version: `v${project.version}`,
        homepage: sourceAddress,
        shortDescription: 'Inject sidecars, and explain missing ones',
        description: [
          'Installs an operator for sidecar injectors, and shows its revisions, tags, canary rollouts and',
          'certificates. Explains why a pod was or was not injected. Injects files without a cluster.\n',
        ].join('\n'),
        caveats: [
          `This plugin needs Node ${oldestNode} or later on the PATH: https://nodejs.org/en/download`,
          'Completion: link kubectl_complete-sidecar_injector of the plugin to a folder of the PATH.\n',
        ].join('\n'),
        platforms: [
          {
            // Windows does not run shell scripts; Windows users install the npm package instead.
            selector: {
              matchExpressions: [within('os', ['darwin', 'linux']), within('arch', ['amd64', 'arm64'])],
            },
            uri: `${sourceAddress}/releases/download/v${project.version}/${archive}`,
            sha256,
            bin: 'kubectl-sidecar_injector',
          },
        ],
      },
    },
    { lineWidth: 0 },
  );
}

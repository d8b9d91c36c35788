import { join } from 'node:path';
import { apiVersion, injectorConfigKind } from '../../../src/api/injector-config/injector-config.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { applyObject, readObjects } from '../../harness/apply.ts';
import { waitForCondition } from '../../harness/injector-configs.ts';
import { repository } from '../../harness/paths.ts';
import {
  createNamespace,
  deployment,
  labelNamespace,
  restartDeployment,
  waitForDeployment,
} from '../../harness/workloads.ts';

/** The named parts of a line. */
type Parts = Readonly<Partial<Record<'file' | 'name' | 'namespace' | 'key' | 'value' | 'overwrite', string>>>;
type Verb = readonly [RegExp, (client: ApiClient, parts: Parts) => Promise<unknown>];

/** As much of kubectl as the page has, in the words of the page, and waiting until it is done. */
const verbs: readonly Verb[] = [
  [/^apply -f (?<file>\S+)$/, (client, { file = '' }) => applyFile(client, file)],
  [
    /^wait --for=condition=Ready icfg\/(?<name>\S+)$/,
    (client, { name = '' }) => waitForCondition(client, name, 'Ready', 'True', 1),
  ],
  [/^create namespace (?<name>\S+)$/, (client, { name = '' }) => createNamespace(client, name)],
  [/^label namespace (?<name>\S+) (?<key>[^=\s]+)=(?<value>\S+)(?<overwrite> --overwrite)?$/, label],
  [
    /^create deployment (?<name>\S+) -n (?<namespace>\S+) --image=\S+ -- .+$/,
    async (client, { name = '', namespace = '' }) => {
      await applyObject(client, deployment(namespace, name));
      await waitForDeployment(client, namespace, name);
    },
  ],
  [
    /^rollout restart deployment -n (?<namespace>\S+)$/,
    async (client, { namespace = '' }) => {
      const { items } = await client.listAll(resourceKind('apps/v1', 'Deployment'), { namespace });
      for (const { metadata } of items) await restartDeployment(client, namespace, metadata.name ?? '');
    },
  ],
  [
    /^delete icfg (?<name>\S+)$/,
    (client, { name = '' }) => client.delete({ apiVersion, kind: injectorConfigKind, metadata: { name } }),
  ],
];

/** Does what a line of the page asks of kubectl. */
export async function kubectl(client: ApiClient, line: string): Promise<void> {
  for (const [pattern, act] of verbs) {
    const found = pattern.exec(line);
    if (found === null) continue;
    await act(client, found.groups ?? {});
    return;
  }
  throw new Error(`kubectl ${line}: the scenario does not know this command`);
}

async function applyFile(client: ApiClient, file: string): Promise<void> {
  for (const object of readObjects(join(repository, file))) await applyObject(client, object);
}

/** Like kubectl it does not change a label that is there unless told. */
async function label(client: ApiClient, { name = '', key = '', value = '', overwrite }: Parts): Promise<void> {
  const { metadata } = await client.get(resourceKind('v1', 'Namespace'), name);
  const before = metadata.labels?.[key];
  if (before !== undefined && overwrite === undefined)
    throw new Error(`namespace ${name} has ${key}=${before} already`);
  await labelNamespace(client, name, { [key]: value });
}

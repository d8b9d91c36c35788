import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { applyObject } from '../../harness/apply.ts';
import { clusterFlags, runInjector } from '../../harness/injector-command.ts';
import { smallConfig, waitForCondition } from '../../harness/injector-configs.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

const kinds = [
  resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig'),
  resourceKind('sidecar-injector.io/v1alpha1', 'RevisionTag'),
  resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'),
  resourceKind('v1', 'Namespace'),
];

/** A call, what it must say, and its exit status. */
const refusals: readonly (readonly [string, RegExp, number])[] = [
  ['tag set 1-25 --revision 1-24', /InjectorConfig 1-25 has the revision 1-25/, 1],
  ['tag set prod-new --revision 1-99', /no InjectorConfig has this revision; there are 1-24, 1-25/, 1],
  ['tag set prod-new --revision prod-stable', /this is a tag, not a revision/, 1],
  ['tag set prod-stable --revision 1-25', /exists and leads to revision 1-24; --overwrite moves it/, 1],
  ['tag set prod-stable --revision unreached --overwrite', /unreached is not ready: NotReachable/, 1],
  ['tag set prod-stable --revision 1-25 --overwrite --auto-inject-namespaces', /belongs to tag default/, 2],
  ['tag set odd --revision 1-25', /nobody is at the terminal to be asked: -y says yes/, 2],
  ['tag set prod-stable --revision odd --overwrite', /selectors of its own/, 1],
  ['tag remove prod-stable', /followed by 2 namespaces \(app-ns-1,app-ns-2\) with 2 pods.*\n.*-y says yes/, 2],
];

/** Every refusal of the command line leaves every object as it was. */
export async function checkRefusals(context: ScenarioContext): Promise<void> {
  const { client } = context;
  await applyObject(client, smallConfig('unreached', { url: 'https://127.0.0.1:1' }));
  const namespaceSelector = { matchLabels: { 'istio.io/rev': 'odd' } };
  await applyObject(client, smallConfig('odd', { selection: 'Custom', namespaceSelector }));
  await waitForCondition(client, 'odd', 'Ready', 'True');
  await context.check('a revision that is not reached says so', async () => {
    const found = await waitForCondition(client, 'unreached', 'Ready', 'False');
    return found.status?.conditions?.some(({ reason }) => reason === 'NotReachable');
  });
  for (const [argv, message, code] of refusals) {
    const before = await objects(client);
    const result = await runInjector([...argv.split(' '), ...clusterFlags(context.cluster)]);
    const after = await objects(client);
    await context.checkNow(`refused, and everything is as it was: injector ${argv}`, () => {
      if (!message.test(result.errors) || result.code !== code) {
        throw new Error(`it ended with ${result.code}: ${result.out}${result.errors}`);
      }
      const changed = after.filter((each, index) => !isDeepStrictEqual(each, before[index]));
      if (changed.length > 0) throw new Error(`changed: ${JSON.stringify(changed)}`);
      return after.length === before.length;
    });
  }
  for (const name of ['unreached', 'odd']) {
    await client.delete(smallConfig(name));
    await context.check(`InjectorConfig ${name} goes`, async () => {
      return (await client.find(resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig'), name)) === undefined;
    });
  }
}

/** What a refusal must not change: everything but what the operator writes of its own accord (status, twins), and the API server's book-keeping. */
async function objects(client: ApiClient): Promise<unknown[]> {
  const lists = await Promise.all(kinds.map((kind) => client.listAll(kind)));
  return lists.flatMap(({ items }) =>
    items.filter(isNoTwin).map(({ kind, metadata, spec, webhooks }: KubernetesObject) => {
      const { name, uid, generation, labels, annotations } = metadata;
      return { kind, name, uid, generation, labels, annotations, spec, webhooks };
    }),
  );
}

/** The operator tries from time to time whether a webhook that is not reached is reached now. */
function isNoTwin({ metadata }: KubernetesObject): boolean {
  return metadata.name?.startsWith('sidecar-injector-probe-') !== true;
}

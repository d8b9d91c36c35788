import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { dryRun, refusal } from '../harness/admissions.ts';
import { applyObject } from '../harness/apply.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import {
  applyUntilReady,
  conditionOf,
  eventsAbout,
  injectorConfig,
  injectorConfigs,
  type InjectorConfigObject,
  waitForCondition,
} from '../harness/injector-configs.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { barePod } from '../harness/workloads.ts';

const template = `spec:
  {{ if .NativeSidecars }}initContainers{{ else }}containers{{ end }}:
  - name: istio-proxy
    image: example.com/proxy:1
    resources: {requests: {cpu: 500m}}
{{ if .NativeSidecars }}    restartPolicy: Always
{{ end }}`;
const withTemplate = (more: object): InjectorConfigObject =>
  injectorConfig('default', { injection: { templates: { sidecar: template }, ...more } });

/** Returns a node that runs no pods. Its status never becomes Ready. */
const node = (name: string, kubeletVersion: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, annotations: { 'kwok.x-k8s.io/node': 'none' } },
  spec: { unschedulable: true },
  status: { nodeInfo: { kubeletVersion } },
});

export const nativeMode: Scenario = {
  name: 'native-mode',
  about:
    'when the last old kubelet goes, pods stay as they are and a condition offers native sidecars; the next edit takes them, with a new hash that diff predicts; a sidecar that does not fit into the resources of a pod is named, or added',
  run: async (context) => {
    const { client, cluster } = context;
    const old = node('native-mode-old', 'v1.32.4');
    await client.create(old);
    context.atEnd(() => client.delete(old).catch(() => undefined));
    await context.startOperator();
    await applyUntilReady(client, withTemplate({}));
    const namespace = await context.namespace('pods', { 'istio-injection': 'enabled' });
    const status = async () =>
      (await client.get<InjectorConfigObject>(injectorConfigs, 'default')).status?.config ?? {};
    const mode = async () => {
      const { message = '' } = (await conditionOf(client, 'default', 'TemplatesValid')) ?? {};
      return / with native sidecars (\w+)$/.exec(message)?.[1] ?? 'none';
    };
    const native = async () => {
      const { initContainers = [], containers } = (await dryRun(client, barePod(namespace, 'plain'))).spec;
      return `${initContainers.map(({ name }) => name).join()} ${containers.map(({ name }) => name).join()}`;
    };
    const ordinary = ' sleep,istio-proxy';
    const { hash } = await status();
    const publications = async () =>
      (await eventsAbout(client, 'default')).filter(({ message }) => message.includes('publi')).length;
    await context.check('with an old kubelet, pods get an ordinary container', async () =>
      found(await native(), ordinary),
    );
    await context.checkNow('the status shows the mode', async () => found(await mode(), 'Disabled'));
    const before = await publications();

    await client.delete(old);
    await waitForCondition(client, 'default', 'NativeSidecarsAvailable', 'True');
    await context.checkNow('without the old kubelet, pods, hash and Events stay', async () =>
      found(
        [await native(), (await status()).hash, await mode(), await publications()].join(' '),
        [ordinary, hash, 'Disabled', before].join(' '),
      ),
    );
    const revisions = await runInjector(['revisions', ...clusterFlags(cluster)]);
    await context.checkNow('injector revisions shows the mode', () =>
      /NATIVE[\s\S]*default .* no /.test(revisions.out),
    );

    const own = barePod(namespace, 'own', { spec: { resources: { requests: { cpu: '100m' } } } });
    const elsewhere = await context.namespace('elsewhere');
    const { resources } = (await dryRun(client, { ...own, metadata: { ...own.metadata, namespace: elsewhere } })).spec;
    if (resources !== undefined) {
      const says = await refusal(client, own);
      await context.checkNow('the API server refuses a pod whose resources the sidecar exceeds', () =>
        /spec\.resources/.test(says ?? ''),
      );
      const checked = await runInjector(['check', '-f', '-', ...clusterFlags(cluster)], JSON.stringify(own));
      await context.checkNow(
        'injector check names the container and the remedy',
        () =>
          /"istio-proxy"; set injection\.podResources: Add/.test(checked.out.replace(/\s+/g, ' ')) ||
          Promise.reject(new Error(checked.out + checked.errors)),
      );
    }

    const edited = withTemplate({ podResources: 'Add' });
    const flags = ['diff', '-f', '-', '-o', 'json', ...clusterFlags(cluster)];
    await client.create(barePod(namespace, 'running'));
    const predicted = await runInjector(flags, JSON.stringify(edited));
    await context.checkNow(
      'injector diff predicts native sidecars',
      () => /initContainers/.test(predicted.out) || Promise.reject(new Error(predicted.out + predicted.errors)),
    );
    await applyObject(client, edited);
    await context.check(
      'the edit publishes another hash with native sidecars',
      async () =>
        (await status()).hash !== hash && found(`${await mode()} ${await native()}`, 'Enabled istio-proxy sleep'),
    );
    if (resources !== undefined)
      await context.check('with podResources: Add, the pod has room for its sidecar', async () =>
        found(JSON.stringify((await dryRun(client, own)).spec['resources']), '{"requests":{"cpu":"600m"}}'),
      );
    return 'new kubelets changed no pod, and the next edit took native sidecars';
  },
};

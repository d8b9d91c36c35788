import { jsonEqual } from '../../src/inject/patch/json-equal.ts';
import { dryRun, refusal } from '../harness/admissions.ts';
import { applyAll } from '../harness/apply.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import { paths } from '../harness/paths.ts';
import type { Container } from '../harness/pod.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import * as versions from '../harness/versions.ts';
import { found } from '../harness/wait-for.ts';
import { barePod, createDeployment, podsOf } from '../harness/workloads.ts';

const template = `spec:
  initContainers:
  - {name: prepare, image: "busybox:1.37", command: ["true"]}
  - {name: native, image: "busybox:1.37", command: [sleep, infinity], restartPolicy: Always}
  containers:
  - {name: hello, image: "busybox:1.37", volumeMounts: [{name: files, mountPath: /etc/hello}]}
  volumes:
  - {name: files, configMap: {name: hello, optional: true}}
`;
const own = { name: 'sleep', image: 'busybox:1.37' };
const evil = {
  image: 'evil:1',
  env: [{ name: 'LD_PRELOAD', value: '/evil.so' }],
  securityContext: { privileged: true },
};
const items = [{ key: 'evil', path: 'hello.conf' }];

/** The specs of pods that change elements of the template, and a field that a refusal names. */
const impostors: Readonly<Record<string, readonly [spec: Record<string, unknown>, field: string]>> = {
  container: [{ containers: [own, { name: 'hello', ...evil }] }, 'spec.containers[hello].env'],
  volume: [{ volumes: [{ name: 'files', configMap: { name: 'hello', items } }] }, 'spec.volumes[files].configMap'],
  'init-container': [{ initContainers: [{ name: 'prepare', ...evil }] }, 'spec.initContainers[prepare].env'],
  'native-sidecar': [{ initContainers: [{ name: 'native', ...evil }] }, 'spec.initContainers[native].env'],
};
const all = Object.entries(impostors);

export const sameName: Scenario = {
  name: 'same-name',
  about:
    'pods whose containers or volumes change what a template adds under the same names are refused; before the upgrade, `injector analyze` lists their workloads',
  run: async (context) => {
    const { client } = context;
    const earlier = await versions.earlierBundle(versions.previousRelease);
    const render = (system: string) => versions.objectsOf(earlier, system);
    const replicas = await context.startReplicas({ webhooks: 1, controllers: 1, bundle: earlier, render });
    const apply = async (annotationOverrides = {}, webhook = {}): Promise<string | undefined> => {
      const injection = { templates: { sidecar: template }, annotationOverrides };
      return (await applyUntilReady(client, injectorConfig('same', { injection, webhook }))).status?.config?.hash;
    };
    const hash = await apply();
    const namespace = await context.namespace('shop', { 'istio.io/rev': 'same' });
    for (const [name, [spec]] of [['honest', [{}]] as const, ...all])
      await createDeployment(client, namespace, name, { spec });
    const before = await podsOf(client, namespace);
    await context.checkNow('negative control: the previous release stores a pod with the author’s image', () =>
      before.some(({ spec }) => spec.containers.some(({ name, image }) => name === 'hello' && image === evil.image)),
    );
    await context.check('`injector analyze` lists exactly the workloads that will be refused', async () => {
      const { out } = await runInjector(['analyze', '-n', namespace, '-o', 'json', ...clusterFlags(context.cluster)]);
      const findings = (JSON.parse(out) as Record<'name' | 'reason', string>[]).map(
        ({ name, reason }) => `${name} ${reason}`,
      );
      return found(
        findings.sort().join(),
        all
          .map(([name]) => `${name} SameName`)
          .sort()
          .join(),
      );
    });

    const objects = versions.objectsOf(paths.injector, replicas.installation.namespace);
    await versions.changeChart(client, replicas, objects);
    // A watch that began before the change of a CRD omits new fields.
    await applyAll(client, objects.filter(versions.isDefinition));
    await versions.replace(replicas, paths.injector, ['webhooks', 'controllers']);
    await context.checkNow('the upgrade changes neither a running pod nor the configuration', async () => {
      const after = await podsOf(client, namespace);
      return found(
        [await apply(), ...after.map(({ metadata }) => metadata.uid)].join(),
        [hash, ...before.map(({ metadata }) => metadata.uid)].join(),
      );
    });
    for (const [name, [spec, field]] of all)
      await context.checkNow(
        `${name}: new pods are refused, and with a forged status lose their own element`,
        async () => {
          const message = (await refusal(client, barePod(namespace, name, { spec }))) ?? 'stored';
          const annotations = { 'sidecar.istio.io/status': '{"containers":[]}' };
          const forged = await dryRun(client, barePod(namespace, name, { spec, annotations }));
          return message.includes(field) && found(/evil|LD_PRELOAD/.exec(JSON.stringify(forged.spec))?.[0] ?? '', '');
        },
      );
    const honest = before.find(({ metadata }) => metadata.labels?.app === 'honest')!;
    await context.checkNow('a stored pod can be created again, with the same containers', async () => {
      const { spec: stored, metadata } = honest;
      const pod = barePod(namespace, 'again', { spec: stored, annotations: metadata.annotations ?? {} });
      const { spec } = await dryRun(client, pod);
      return jsonEqual([spec.containers, spec.initContainers], [stored.containers, stored.initContainers]);
    });

    const helloOf = async (...containers: Container[]): Promise<Container> => {
      const { spec } = await dryRun(client, barePod(namespace, 'pod', { spec: { containers: [own, ...containers] } }));
      return spec.containers.find(({ name }) => name === 'hello')!;
    };
    await apply({}, { reinvocationPolicy: 'IfNeeded' });
    await context.check('a sidecar keeps the token that it gets before the second call of the webhook', async () =>
      JSON.stringify((await helloOf()).volumeMounts).includes('serviceaccount'),
    );
    const sized = { ...own, name: 'hello', resources: { requests: { cpu: '1' } } };
    await apply({ sameNameFields: ['resources'] });
    await context.check('sameNameFields allows a field', async () =>
      jsonEqual((await helloOf(sized)).resources, sized.resources),
    );
    const other = barePod(namespace, 'other', { spec: { containers: [own, { ...sized, image: evil.image }] } });
    await context.checkNow('sameNameFields allows no other field', async () =>
      (await refusal(client, other))?.includes('spec.containers[hello].image:'),
    );
    await apply({ sameName: 'Warn' });
    await context.check(
      'sameName Warn allows everything',
      async () => (await helloOf({ ...sized, image: evil.image })).image === evil.image,
    );
    return `${all.length} kinds of impostors are listed before the upgrade, and refused after it`;
  },
};

import { jsonEqual } from '../../src/inject/patch/json-equal.ts';
import { dryRun, refusal } from '../harness/admissions.ts';
import { applyAll } from '../harness/apply.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import {
  applyUntilReady,
  injectorConfig,
  type InjectorConfigObject,
  injectorConfigs,
} from '../harness/injector-configs.ts';
import { paths } from '../harness/paths.ts';
import type { Container, Pod } from '../harness/pod.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { changeChart, earlierBundle, isDefinition, objectsOf, previousRelease, replace } from '../harness/versions.ts';
import { found } from '../harness/wait-for.ts';
import { barePod, createDeployment, podsOf } from '../harness/workloads.ts';

const template = `spec:
  initContainers:
  - {name: prepare, image: "busybox:1.37", command: ["true"]}
  - {name: native, image: "busybox:1.37", command: [sleep, infinity], restartPolicy: Always}
  containers:
  - name: hello
    image: busybox:1.37
    command: [sleep, infinity]
    volumeMounts: [{name: files, mountPath: /etc/hello}]
  volumes:
  - {name: files, configMap: {name: hello, optional: true}}
`;
const own = { name: 'sleep', image: 'busybox:1.37', command: ['sleep', 'infinity'] };
const evil = {
  image: 'evil:1',
  env: [{ name: 'LD_PRELOAD', value: '/evil.so' }],
  securityContext: { privileged: true },
};
const items = [{ key: 'evil', path: 'hello.conf' }];

/** Pods that change elements of the template, and the field that a refusal names. */
const impostors: Readonly<Record<string, readonly [spec: Record<string, unknown>, field: string]>> = {
  container: [{ containers: [own, { name: 'hello', ...evil }] }, 'spec.containers[hello].env'],
  volume: [{ volumes: [{ name: 'files', configMap: { name: 'hello', items } }] }, 'spec.volumes[files].configMap'],
  'init-container': [{ initContainers: [{ name: 'prepare', ...evil }] }, 'spec.initContainers[prepare].env'],
  'native-sidecar': [{ initContainers: [{ name: 'native', ...evil }] }, 'spec.initContainers[native].env'],
};

export const sameName: Scenario = {
  name: 'same-name',
  about:
    'pods whose containers or volumes change what a template adds under the same names are refused; before the upgrade, `injector analyze` lists their workloads',
  run: async (context) => {
    const { client } = context;
    const earlier = await earlierBundle(previousRelease);
    const render = (system: string) => objectsOf(earlier, system);
    const replicas = await context.startReplicas({ webhooks: 1, controllers: 1, bundle: earlier, render });
    const apply = (annotationOverrides?: Record<string, unknown>, webhook: Record<string, unknown> = {}) => {
      const injection = { templates: { sidecar: template }, ...(annotationOverrides && { annotationOverrides }) };
      return applyUntilReady(client, injectorConfig('same', { injection, webhook }));
    };
    const { status } = await apply();
    const namespace = await context.namespace('shop', { 'istio.io/rev': 'same' });
    await createDeployment(client, namespace, 'honest');
    for (const [name, [spec]] of Object.entries(impostors)) await createDeployment(client, namespace, name, { spec });
    const before = await podsOf(client, namespace);
    await context.checkNow('negative control: the previous release stores a pod with the author’s image', () =>
      before.some(({ spec }) => spec.containers.some(({ name, image }) => name === 'hello' && image === evil.image)),
    );
    await context.check(
      '`injector analyze` of this version lists exactly the workloads that will be refused',
      async () => {
        const { out } = await runInjector(['analyze', '-n', namespace, '-o', 'json', ...clusterFlags(context.cluster)]);
        const refused = (JSON.parse(out) as { name: string; reason: string }[]).filter(
          ({ reason }) => reason === 'SameName',
        );
        return found(
          refused
            .map(({ name }) => name)
            .sort()
            .join(),
          Object.keys(impostors).sort().join(),
        );
      },
    );

    const objects = objectsOf(paths.injector, replicas.installation.namespace);
    await changeChart(client, replicas, objects);
    await replace(replicas, paths.injector, ['webhooks', 'controllers']);
    await applyAll(client, objects.filter(isDefinition));
    const names = (pods: readonly Pod[]): string => pods.map(({ metadata }) => metadata.name).join();
    await context.checkNow('the upgrade changes neither a running pod nor the configuration', async () => {
      const { status: after } = await client.get<InjectorConfigObject>(injectorConfigs, 'same');
      return found(
        `${names(await podsOf(client, namespace))} ${after?.config?.hash}`,
        `${names(before)} ${status?.config?.hash}`,
      );
    });
    for (const [name, [spec, field]] of Object.entries(impostors)) {
      for (const annotations of [{}, { 'sidecar.istio.io/status': '{"containers":[]}' }])
        await context.check(
          `${name}${'sidecar.istio.io/status' in annotations ? ' with a forged status' : ''}: new pods are refused`,
          async () => (await refusal(client, barePod(namespace, name, { spec, annotations })))?.includes(field),
        );
    }
    const honest = before.find(({ metadata }) => metadata.labels?.app === 'honest')!;
    const { nodeName, ...stored } = honest.spec;
    const again = barePod(namespace, 'again', { spec: stored, annotations: honest.metadata.annotations ?? {} });
    await context.checkNow(
      `a stored pod (of ${String(nodeName)}) can be created again, with the same containers`,
      async () => {
        const { spec } = await dryRun(client, again);
        return jsonEqual([spec.containers, spec.initContainers], [stored.containers, stored.initContainers]);
      },
    );

    await apply(undefined, { reinvocationPolicy: 'IfNeeded' });
    const mounts = ({ spec }: Pod) =>
      (spec.containers.find(({ name }) => name === 'hello')?.volumeMounts as unknown[]).length;
    await context.check(
      'with reinvocationPolicy IfNeeded, a pod is injected twice, and keeps the token in its sidecar',
      async () => mounts(await dryRun(client, barePod(namespace, 'twice'))) === 2,
    );
    const resources = { limits: { cpu: '1' } };
    const sized: Container = { name: 'hello', image: 'busybox:1.37', resources };
    const withContainer = (container: Container) =>
      barePod(namespace, 'allowed', { spec: { containers: [own, container] } });
    await apply({ sameNameFields: ['resources'] });
    await context.check('with sameNameFields, a pod may change the allowed field', async () => {
      const { spec } = await dryRun(client, withContainer(sized));
      return jsonEqual(spec.containers.find(({ name }) => name === 'hello')?.resources, {
        ...resources,
        requests: resources.limits,
      });
    });
    await context.checkNow('with sameNameFields, a pod may change no other field', async () =>
      (await refusal(client, withContainer({ ...sized, image: 'evil:1' })))?.includes('spec.containers[hello].image:'),
    );
    await apply({ sameName: 'Warn' });
    await context.check('with sameName Warn, a pod may change everything', async () =>
      (await dryRun(client, withContainer({ ...sized, image: 'evil:1' }))).spec.containers.some(
        ({ image }) => image === 'evil:1',
      ),
    );
    return `${Object.keys(impostors).length} kinds of impostors are listed before the upgrade and refused after it`;
  },
};

import type { Random } from '../../../scripts/template-recorder/random.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { objectOf } from '../../harness/apply.ts';
import { injectorConfig } from '../../harness/injector-configs.ts';
import type { Pod } from '../../harness/pod.ts';
import { webhookNamed } from '../../harness/webhook-configurations.ts';
import { barePod } from '../../harness/workloads.ts';

/** A template with a proxy (so that Istio's annotations are validated) and with an annotation. */
const proxyTemplate = `spec:
  containers:
  - name: istio-proxy
    image: example.com/proxy:1
    env:
    - name: LEVEL
      value: "{{ index .ObjectMeta.Annotations "example.com/level" }}"
`;

function smallTemplate(name: string): string {
  return `spec:\n  containers:\n  - name: ${name}\n    image: example.com/${name}:1\n`;
}

/** matchConditions as users write them. Some conditions fail if a field is absent. */
const conditions = [
  "!has(object.metadata.labels) || !('tier' in object.metadata.labels) || object.metadata.labels['tier'] != 'batch'",
  "object.metadata.labels['tier'] != 'batch'",
  "object.metadata.namespace.endsWith('enabled') || object.metadata.name.startsWith('random-')",
  'object.spec.containers.all(c, c.image.contains(":")) && object.spec.containers.size() < 8',
  "object.spec.terminationGracePeriodSeconds > 10 || object.spec.restartPolicy == 'Never'",
  "has(object.spec.priorityClassName) ? object.metadata.labels['always'] == 'yes' : true",
  "request.namespace != 'nowhere' && request.operation == 'CREATE' && oldObject == null",
  "object.spec.volumes.exists(v, has(v.projected)) && object.spec.serviceAccountName == 'default'",
  "!(object.metadata.?labels['never'].orValue('no') == 'yes')",
  "object.metadata.name.matches('^random-[0-9]+$') && object.spec.containers.exists_one(c, c.name == 'sleep')",
];

/** A condition that injector check cannot evaluate. The label keeps unknown results rare. */
const beyondUs = "!('strange' in object.metadata.labels) || quantity('1').isLessThan(quantity('2'))";

const odd = { injection: 'odd.io/injection', revision: 'odd.io/rev', inject: 'odd.io/inject', status: 'odd.io/status' };
const logs = { injection: 'logs.io/injection', revision: 'logs.io/rev', inject: 'logs', status: 'logs.io/status' };

/**
 * Returns InjectorConfigs and webhooks of every kind with random rules. The settings of the default
 * revision depend on the round, so that all of them occur with every seed.
 * @param number the round, from 0
 * @param excluded a namespace that no webhook selects
 */
export function randomRound(random: Random, number: number, excluded: string, home: string) {
  const config = (name: string, injection: Record<string, unknown>, more: Record<string, unknown> = {}) => {
    const condition = (index: number) => ({ name: `user-${index}`, expression: random.pick(conditions) });
    const webhook = {
      excludedNamespaces: [excluded],
      matchConditions: [0, 1].flatMap((index) => (random.chance(0.5) ? [condition(index)] : [])),
      failurePolicy: random.pick(['Fail', 'Fail', 'Ignore']),
      reinvocationPolicy: random.pick(['Never', 'IfNeeded']),
    };
    return injectorConfig(name, { injection, webhook: { ...webhook, ...more } });
  };
  const policy = () => random.pick(['enabled', 'disabled']);
  const selectors = {
    neverInjectSelector: [{ matchLabels: { never: 'yes' } }],
    alwaysInjectSelector: [{ matchExpressions: [{ key: 'always', operator: 'In', values: ['yes'] }] }],
  };
  const strange = { name: 'strange', expression: beyondUs };
  const oddText = `policy: ${policy()}\ntemplates:\n  sidecar: |\n${indented(smallTemplate('odd'))}`;
  // Use a new name per round: an edited ConfigMap would not change the generation to wait for.
  const oddName = `odd-${number}`;
  const stable = config('1-24', { templates: { sidecar: smallTemplate('stable') }, policy: policy(), ...selectors });
  (stable.spec.webhook?.['matchConditions'] as unknown[]).push(strange);
  const standard = config('default', {
    templates: { sidecar: proxyTemplate },
    enableNamespacesByDefault: number % 4 !== 2,
    policy: number % 3 === 2 ? 'disabled' : 'enabled',
    ...selectors,
  });
  const logging = config(
    'logs',
    { templates: { sidecar: smallTemplate('logs') }, policy: policy() },
    {
      keys: logs,
      selection: 'Custom',
      namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['blue', 'green'] }] },
      objectSelector: { matchExpressions: [{ key: 'logs', operator: 'NotIn', values: ['off'] }] },
    },
  );
  const other = config(
    'odd',
    { configFrom: { namespace: home, name: oddName, key: 'config' } },
    { keys: odd, selection: 'Custom', namespaceSelector: { matchLabels: { odd: 'yes' } } },
  );
  return {
    configMap: { ...objectOf('v1', 'ConfigMap', oddName, home), data: { config: oddText, values: '{}' } },
    configs: [standard, stable, logging, other],
    webhook: foreignWebhook(random),
    enableByTag: number % 2 === 1,
  };
}

/** Returns webhooks without a server. Failed calls are ignored, but conditions refuse pods. */
function foreignWebhook(random: Random): KubernetesObject {
  const resources = [random.pick(['*', 'pods', 'pods/*'])];
  const rules = [{ apiGroups: ['*'], apiVersions: ['v1'], operations: ['*'], resources }];
  const clientConfig = { service: { namespace: 'default', name: 'missing', path: '/mutate' } };
  const shared = { admissionReviewVersions: ['v1'], clientConfig, rules, sideEffects: 'None', timeoutSeconds: 1 };
  const scope = { matchExpressions: [{ key: 'e2e.sidecar-injector.io/scenario', operator: 'Exists' }] };
  return {
    ...webhookNamed(random.pick(['a-foreign', 'z-foreign'])),
    webhooks: [
      {
        ...shared,
        name: 'asks.foreign.example.com',
        failurePolicy: 'Ignore',
        namespaceSelector: scope,
        objectSelector: { matchLabels: { tier: 'web' } },
      },
      {
        ...shared,
        name: 'refuses.foreign.example.com',
        failurePolicy: 'Fail',
        namespaceSelector: scope,
        objectSelector: { matchLabels: { always: 'no' } },
        // The condition is false or fails, so the API server never calls the webhook.
        matchConditions: [{ name: 'careless', expression: "object.metadata.labels['tier'] == 'nothing'" }],
      },
    ],
  };
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}

const inject = 'sidecar.istio.io/inject';

/** The namespaces of the random pods, with labels that users might set. */
export const namespaceLabels: readonly (readonly [suffix: string, labels: Readonly<Record<string, string>>])[] = [
  ['unlabelled', {}],
  ['enabled', { 'istio-injection': 'enabled' }],
  ['disabled', { 'istio-injection': 'disabled' }],
  ['stable', { 'istio.io/rev': '1-24' }],
  ['tagged', { 'istio.io/rev': 'prod' }],
  ['lost', { 'istio.io/rev': 'missing' }],
  ['both', { 'istio-injection': 'enabled', 'istio.io/rev': '1-24' }],
  ['team', { team: 'blue' }],
  ['team-enabled', { team: 'green', 'istio-injection': 'enabled' }],
  ['odd', { odd: 'yes' }],
  ['odd-stable', { odd: 'yes', 'istio.io/rev': '1-24' }],
  ['excluded', { 'istio-injection': 'enabled', team: 'blue' }],
];

/** Returns a pod with random fields, most of which affect injection. */
export function randomPod(random: Random, namespace: string, name: string): KubernetesObject & Pod {
  const labels: Record<string, string> = {};
  const annotations: Record<string, string> = {};
  if (random.chance(0.5)) labels[inject] = random.pick(['true', 'true', 'false', 'maybe', '']);
  if (random.chance(0.3)) labels['istio.io/rev'] = random.pick(['default', '1-24', 'prod', 'missing']);
  if (random.chance(0.3)) labels['always'] = random.pick(['yes', 'no']);
  if (random.chance(0.3)) labels['never'] = random.pick(['yes', 'no']);
  if (random.chance(0.7)) labels['tier'] = random.pick(['web', 'batch']);
  if (random.chance(0.3)) labels['logs'] = random.pick(['on', 'off']);
  if (random.chance(0.15)) labels['strange'] = 'yes';
  if (random.chance(0.3)) annotations[inject] = random.pick(['true', 'false', 'maybe']);
  // These two annotations matter only for pods with the proxy of the default revision.
  if (random.chance(0.45)) annotations['sidecar.istio.io/proxyCPU'] = random.pick(['100m', 'plenty']);
  if (random.chance(0.1)) annotations['inject.istio.io/templates'] = random.pick(['sidecar', 'missing']);
  if (random.chance(0.45))
    annotations['example.com/level'] = random.pick(['info', 'info"\n  - name: extra\n    image: "x']);
  const spec: Record<string, unknown> = { schedulerName: 'none' };
  if (random.chance(0.12)) spec['hostNetwork'] = true;
  if (random.chance(0.2)) spec['priorityClassName'] = 'system-cluster-critical';
  if (random.chance(0.2)) spec['terminationGracePeriodSeconds'] = random.pick([0, 60]);
  if (random.chance(0.06)) {
    annotations['kubernetes.io/config.mirror'] = 'digest';
    spec['nodeName'] = 'node-a';
  }
  return barePod(namespace, name, { labels, annotations, spec });
}

import type { Random } from '../../../scripts/template-recorder/random.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { objectOf } from '../../harness/apply.ts';
import { injectorConfig } from '../../harness/injector-configs.ts';
import type { Pod } from '../../harness/pod.ts';
import { webhookNamed } from '../../harness/webhook-configurations.ts';
import { barePod } from '../../harness/workloads.ts';

/** A proxy, so that Istio's annotations are checked, and a place where an annotation goes into the text. */
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

/** matchConditions as people write them; some fail where a field is absent. */
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

/** What the command cannot evaluate: only pods with the label are asked about it, so that few answers are unknown. */
const beyondUs = "!('strange' in object.metadata.labels) || quantity('1').isLessThan(quantity('2'))";

const odd = { injection: 'odd.io/injection', revision: 'odd.io/rev', inject: 'odd.io/inject', status: 'odd.io/status' };
const logs = { injection: 'logs.io/injection', revision: 'logs.io/rev', inject: 'logs', status: 'logs.io/status' };

/**
 * Every kind of webhook and every kind of rule; what each says is chosen again. Who is the default, for whom and with which policy, goes in turn, so
 * that everything occurs whatever the seed is.
 * @param number of the round, from 0
 * @param excluded a namespace that none of them takes
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
  // By another name in each round: that its text is published is known by the generation, which an edit of a ConfigMap leaves as it is.
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

/** Somebody else's webhook: nobody answers it, and it is passed over; but what it asks of a pod first can refuse it. */
function foreignWebhook(random: Random): KubernetesObject {
  const resources = [random.pick(['*', 'pods', 'pods/*'])];
  const rules = [{ apiGroups: ['*'], apiVersions: ['v1'], operations: ['*'], resources }];
  const clientConfig = { service: { namespace: 'default', name: 'nobody-there', path: '/mutate' } };
  const shared = { admissionReviewVersions: ['v1'], clientConfig, rules, sideEffects: 'None', timeoutSeconds: 1 };
  const scope = { matchExpressions: [{ key: 'e2e.sidecar-injector.io/scenario', operator: 'Exists' }] };
  return {
    ...webhookNamed(random.pick(['a-stranger', 'z-stranger'])),
    webhooks: [
      {
        ...shared,
        name: 'asks.stranger.example.com',
        failurePolicy: 'Ignore',
        namespaceSelector: scope,
        objectSelector: { matchLabels: { tier: 'web' } },
      },
      {
        ...shared,
        name: 'refuses.stranger.example.com',
        failurePolicy: 'Fail',
        namespaceSelector: scope,
        objectSelector: { matchLabels: { always: 'no' } },
        // Where it can be evaluated it is false, so that nobody is ever asked.
        matchConditions: [{ name: 'careless', expression: "object.metadata.labels['tier'] == 'nothing'" }],
      },
    ],
  };
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}

const inject = 'sidecar.istio.io/inject';

/** The namespaces of the random pods: what a person might have labelled. */
export const namespaceLabels: readonly (readonly [suffix: string, labels: Readonly<Record<string, string>>])[] = [
  ['unlabelled', {}],
  ['enabled', { 'istio-injection': 'enabled' }],
  ['disabled', { 'istio-injection': 'disabled' }],
  ['stable', { 'istio.io/rev': '1-24' }],
  ['tagged', { 'istio.io/rev': 'prod' }],
  ['lost', { 'istio.io/rev': 'nobody' }],
  ['both', { 'istio-injection': 'enabled', 'istio.io/rev': '1-24' }],
  ['team', { team: 'blue' }],
  ['team-enabled', { team: 'green', 'istio-injection': 'enabled' }],
  ['odd', { odd: 'yes' }],
  ['odd-stable', { odd: 'yes', 'istio.io/rev': '1-24' }],
  ['excluded', { 'istio-injection': 'enabled', team: 'blue' }],
];

/** A pod with what steers injection, and some of what does not. */
export function randomPod(random: Random, namespace: string, name: string): KubernetesObject & Pod {
  const labels: Record<string, string> = {};
  const annotations: Record<string, string> = {};
  if (random.chance(0.5)) labels[inject] = random.pick(['true', 'true', 'false', 'maybe', '']);
  if (random.chance(0.3)) labels['istio.io/rev'] = random.pick(['default', '1-24', 'prod', 'nobody']);
  if (random.chance(0.3)) labels['always'] = random.pick(['yes', 'no']);
  if (random.chance(0.3)) labels['never'] = random.pick(['yes', 'no']);
  if (random.chance(0.7)) labels['tier'] = random.pick(['web', 'batch']);
  if (random.chance(0.3)) labels['logs'] = random.pick(['on', 'off']);
  if (random.chance(0.15)) labels['strange'] = 'yes';
  if (random.chance(0.3)) annotations[inject] = random.pick(['true', 'false', 'maybe']);
  // Both count for few pods only: where the proxy of the default revision is injected.
  if (random.chance(0.45)) annotations['sidecar.istio.io/proxyCPU'] = random.pick(['100m', 'plenty']);
  if (random.chance(0.1)) annotations['inject.istio.io/templates'] = random.pick(['sidecar', 'nobody']);
  if (random.chance(0.45))
    annotations['example.com/level'] = random.pick(['info', 'info"\n  - name: stowaway\n    image: "x']);
  const spec: Record<string, unknown> = { schedulerName: 'nobody' };
  if (random.chance(0.12)) spec['hostNetwork'] = true;
  if (random.chance(0.2)) spec['priorityClassName'] = 'system-cluster-critical';
  if (random.chance(0.2)) spec['terminationGracePeriodSeconds'] = random.pick([0, 60]);
  if (random.chance(0.06)) {
    annotations['kubernetes.io/config.mirror'] = 'digest';
    spec['nodeName'] = 'node-a';
  }
  return barePod(namespace, name, { labels, annotations, spec });
}

import { type DiffReport, makeReport, type WorkloadDiff } from '../../src/cli/diff/diff-report.ts';
import type { TortureReport } from '../../src/cli/torture/run-torture.ts';
import type { PodChange } from '../../src/explain/pod-changes.ts';
import { addResources, noResources } from '../../src/explain/pod-resources.ts';

const sidecar = 'spec.containers[istio-proxy]';
const image = (version: string): string => `registry.example.com/mesh/proxyv2:${version}`;
const proxyConfig = { discoveryAddress: 'istiod-1-24.istio-system.svc:15012', concurrency: 2, tracing: {} };
const tracing = { openCensusAgent: { address: 'otel-collector.observability:55678' } };
const probe = { httpGet: { path: '/healthz/ready', port: 15021 }, periodSeconds: 1, failureThreshold: 600 };
const [cpu, memory] = [`${sidecar}.resources.requests.cpu`, `${sidecar}.resources.limits.memory`];
/** The changes of an upgrade to native sidecars. */
const upgrade: readonly PodChange[] = [
  { kind: 'containers', path: `${sidecar}.list`, before: 'containers', after: 'initContainers' },
  { kind: 'containers', path: `${sidecar}.restartPolicy`, after: 'Always' },
  { kind: 'image', path: `${sidecar}.image`, before: image('1.24.6'), after: image('1.25.2') },
  { kind: 'image', path: 'spec.containers[istio-init].image', before: image('1.24.6'), after: image('1.25.2') },
  { kind: 'resources', path: cpu, before: '100m', after: '120m' },
  { kind: 'resources', path: memory, before: '1Gi', after: '768Mi' },
  {
    kind: 'capabilities and privileges',
    path: 'spec.containers[istio-init].securityContext.capabilities.add',
    before: ['NET_ADMIN', 'NET_RAW', 'SYS_PTRACE'],
    after: ['NET_ADMIN', 'NET_RAW'],
  },
  { kind: 'volumes', path: 'spec.volumes[credential-socket]', after: { name: 'credential-socket', emptyDir: {} } },
  {
    kind: 'environment',
    path: `${sidecar}.env[PROXY_CONFIG].value`,
    before: JSON.stringify(proxyConfig),
    after: JSON.stringify({ ...proxyConfig, discoveryAddress: 'istiod-1-25.istio-system.svc:15012', tracing }),
  },
  { kind: 'environment', path: `${sidecar}.env[ISTIO_META_REVISION].value`, before: '1-24', after: '1-25' },
  { kind: 'probes', path: `${sidecar}.startupProbe`, after: probe },
  { kind: 'labels', path: 'metadata.labels["istio.io/rev"]', before: '1-24', after: '1-25' },
];
const names = `shop/Deployment/cart/6 checkout/Deployment/checkout-api/8 checkout/StatefulSet/ledger/3 \
ingress/Deployment/public-gateway/4 jobs/Job/nightly-report/1 observability/DaemonSet/log-forwarder/14 \
payments/Deployment/fraud-score/5 payments/Deployment/payments-api/12 search/Deployment/query/10 \
search/StatefulSet/index/6 shop/Deployment/catalog/9 shop/Deployment/web/16`.split(' ');
const pods = (requests: number, limit: number) =>
  ({ requests: { cpu: requests, memory: 2 ** 27 }, limits: { cpu: 2, memory: limit } }) as const;

function workloadOf(path: string, index: number): WorkloadDiff {
  const [namespace = '', kind = '', name = '', replicas = '1'] = path.split('/');
  const isRefused = name === 'cart';
  const isEstimated = kind === 'Job';
  const message = 'annotation proxy.istio.io/config: field "concurency" is not known (did you mean concurrency?)';
  const injected = { outcome: 'Injected', reason: 'PolicyMatched', message: 'the policy of the namespace' } as const;
  const refused = { outcome: 'Refused', reason: 'InvalidProxyConfig', message } as const;
  const [before, after] = [pods(0.1, 2 ** 30), pods(0.12, 3 * 2 ** 28)].map((each) =>
    addResources(noResources, each, isRefused ? 0 : Number(replicas)),
  ) as [WorkloadDiff['resources']['before'], WorkloadDiff['resources']['after']];
  return {
    namespace,
    kind,
    name,
    pods: Number(replicas),
    before: { ...injected, configuration: '1-24.5b0c91de' },
    after: { ...(isRefused ? refused : injected), configuration: '1-25.c27fa803' },
    changes: isRefused ? [] : upgrade.slice(0, index % 4 === 1 ? 11 : 12),
    isEstimated,
    changedByOthers: name === 'payments-api' ? ['spec.containers[vault-agent]', 'spec.volumes[vault-token]'] : [],
    notes: isEstimated ? ['the job has no live pod'] : [],
    resources: { before, after },
  };
}

/** The move of a small mesh to another revision. */
export const typical = makeReport('revision 1-24', 'revision 1-25', names.map(workloadOf), [
  'this user may not list LimitRanges: their defaults are missing from the prediction',
]);
const web = workloadOf('shop/Deployment/web/16', 0);
const unchanged = { ...web, changes: [], resources: { before: web.resources.before, after: web.resources.before } };
export const empty = makeReport('revision 1-24', 'revision 1-24-hotfix', [unchanged], []);
/** Nothing changes in what could be compared. */
export const unsure = makeReport('revision 1-24', 'revision 1-25', [unchanged], typical.notes, 3);
/** 500 workloads with 30 changes each. */
export const large = makeReport(
  'revision 1-24',
  'revision 1-25',
  Array.from({ length: 500 }, (_, index) => ({
    ...workloadOf(`team-${index % 40}/Deployment/service-${index}/3`, 0),
    changes: Array.from({ length: 30 }, (_unused, place) => ({
      ...upgrade[place % 12]!,
      path: `${upgrade[place % 12]!.path}.field${place}.of${index % 7}`,
    })),
  })),
  [],
);
const texts = [
  '</script><script>window.wasRun = 1</script>',
  '<!--<script>',
  ']]><img src=x onerror="window.wasRun = 1">',
  '"><svg/onload=window.wasRun=1>\u2028\u2029\u202E',
  'javascript:window.wasRun=1',
  "{{report}} $& $' \0 \uD800 é",
  '{"__proto__": "<b onclick=window.wasRun=1>"}',
];
const outcomes: readonly unknown[] = ['Injected', 'Refused', 'Passed', 'Failed', 'NotApplicable'];
let used = 0;
/** Every text apart from outcomes, and names of members, are texts of a hostile author. */
function hostileValue(value: unknown): unknown {
  if (outcomes.includes(value)) return value;
  if (typeof value === 'string') return `${texts[(used += 1) % texts.length]!}${used}`;
  if (Array.isArray(value)) return value.map(hostileValue);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, hostileValue(each)] as const);
  return Object.fromEntries('httpGet' in value ? entries.flatMap((each) => [each, [texts[0]!, each[1]]]) : entries);
}
export const hostile = hostileValue(typical) as DiffReport;

const pod = { injected: true, milliseconds: 12, problems: [] };
export const tortured: TortureReport = {
  webhookConfiguration: 'istio-sidecar-injector',
  webhook: 'rev.namespace.sidecar-injector.istio.io',
  time: '2026-11-30T08:00:00Z',
  configurationProblems: ['rev.namespace.sidecar-injector.istio.io: timeoutSeconds is 30'],
  results: [
    { ...pod, case: 'a plain pod', about: 'the control: it must be injected', result: 'Passed' },
    {
      ...pod,
      case: 'a container named as the sidecar',
      about: "the author's container is lost, or there are two",
      result: 'Failed',
      problems: ['a second pass changes spec.initContainers[istio-proxy].image'],
    },
    { ...pod, case: 'new field', about: 'a library drops it', injected: false, result: 'NotApplicable' },
  ],
};
export const hostileTorture = hostileValue(tortured) as TortureReport;

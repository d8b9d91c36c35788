import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { prepullLabel } from '../../src/api/names.ts';
import { updateAnnotation } from '../../src/api/revision-tag/update-annotation.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { resourceKind, resourcePath } from '../../src/kube/resource-kinds.ts';
import { refusal, refusalOf } from '../harness/admissions.ts';
import { applyAll, applyObject, readObjects } from '../harness/apply.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { isReady } from '../harness/pod.ts';
import { applyTagUntilReady, restartsOf, revisionTag } from '../harness/revision-tags.ts';
import { none, waitFor } from '../harness/wait-for.ts';
import { barePod, podsOf } from '../harness/workloads.ts';
import { allowed, ownContainers, podAttempts, pullAttempts, resizing } from './taken-over/pod-changes.ts';

export const takenOver: Scenario = {
  name: 'taken-over',
  about: 'a compromised webhook replica or controller can do exactly what SECURITY.md says, attempt by attempt',
  run: async (context) => {
    const { client, cluster } = context;
    const replicas = await context.startReplicas(
      { webhooks: 2 },
      {
        operator: {
          restartWorkloads: true,
          certificateSigningRequests: true,
          holdPods: true,
          updatePods: true,
          prepullPods: true,
          updateImages: allowed.images,
          updateMetadata: allowed.metadata,
        },
      },
    );
    // Stands in for a compromised replica, which can return any patch that a template can produce.
    const sidecar = 'spec: {containers: [{name: thief, image: thief, securityContext: {privileged: true}}]}';
    await applyUntilReady(client, injectorConfig('hello', { injection: { templates: { sidecar } } }));
    const labels = { 'istio.io/rev': 'hello', 'pod-security.kubernetes.io/enforce': 'baseline' };
    const strict = barePod(await context.namespace('strict', labels), 'pod');
    const isRefused = async () => /violates PodSecurity.*"thief"/.test((await refusal(client, strict)) ?? '');
    await context.check('Pod Security of a namespace can refuse a container that the webhook adds', isRefused);
    const shop = await context.namespace('shop');
    const tenant = readObjects(join(import.meta.dirname, 'taken-over.yaml'));
    for (const { metadata } of tenant) if (metadata.namespace !== undefined) metadata.namespace = shop;
    await applyAll(client, tenant);
    for (const each of tenant) context.atEnd(() => refusalOf(() => client.delete(each)));
    const [self = '', other = '', controller = ''] = replicas.all.map(({ name }) => name);
    const page = readFileSync(join(import.meta.dirname, '../../SECURITY.md'), 'utf8')
      .replaceAll(/(-n|namespaces) shop`/g, `$1 ${shop}\``)
      .replaceAll(/(-n |operator-)own(?=[`-])/g, `$1${replicas.installation.namespace}`)
      .replaceAll('-SELF', `-${self}`)
      .replaceAll('-OTHER', `-${other}`);
    for (const [role, name] of Object.entries({ 'webhook replica': self, controller })) {
      const [, section = ''] = page.split(`\n## A compromised ${role}\n`);
      const row = /^\| `([^`]+)` \| (allowed|RBAC|policy) \|/gm;
      const attempts = [...section.split('\n## ', 1).join('').matchAll(row)];
      const check = async (title: string, kubeconfig: string, expected?: string) => {
        const problems = attempts.length < 20 ? [`SECURITY.md has only ${attempts.length} attempts`] : [];
        for (const [, attempt = '', answer = ''] of attempts) {
          const actual = await tryOut(attempt, kubeconfig, client, tenant);
          if (actual !== (expected ?? answer)) problems.push(`${attempt}: ${actual}, not ${expected ?? answer}`);
        }
        await context.checkNow(`${title} (${attempts.length} attempts)`, () => none(problems));
      };
      const kubeconfig = join(cluster.run.path, `${replicas.installation.namespace}-${name}.kubeconfig`);
      await check(`a compromised ${role} gets the results in SECURITY.md`, kubeconfig);
      await check(
        'an administrator may make every attempt, so no request is invalid',
        cluster.kubeconfig ?? '',
        'allowed',
      );
    }
    const updated = join(cluster.run.path, `${replicas.installation.namespace}-${controller}.kubeconfig`);
    await checkPodChanges(context, page, updated);
    await checkUpdates(context);
    await checkPulls(context, replicas.installation.namespace, updated);
    return 'a compromised replica and controller can do exactly what SECURITY.md says';
  },
};

/** Builds an InjectorConfig whose image names its revision. Its template reads the ProxyConfig. */
function updatesConfig(revision: string, cpu: string) {
  const sidecar = `{{ $read := .ProxyConfig.ConfigPath -}}
spec: {containers: [{name: injected, image: 'example.com/injected:${revision}', resources: {requests: {cpu: ${cpu}}}}]}`;
  return injectorConfig(revision, { injection: { templates: { sidecar } } });
}

/** Checks that the policy lets the leader do what an update in place needs. */
async function checkUpdates(context: ScenarioContext): Promise<void> {
  const { client } = context;
  await applyTagUntilReady(client, revisionTag('updating', 'updates'));
  const namespace = await context.namespace('updating', { 'istio.io/rev': 'updating' });
  await client.create(barePod(namespace, 'web'));
  const pod = async () => (await podsOf(client, namespace))[0];
  await waitFor('the pod to be ready', async () => isReady((await pod()) ?? barePod(namespace, 'web')));
  const restart = { minReadySeconds: 0, readyTimeout: '10s', prepull: true };
  const move = async (revision: string, cpu: string) => {
    await applyUntilReady(client, updatesConfig(revision, cpu));
    await applyObject(client, revisionTag('updating', revision, { strategy: { update: 'InPlace', restart } }));
  };
  const state = async () => {
    const found = await pod();
    const image = found?.spec.containers.find(({ name }) => name === 'injected')?.image;
    return `${image} ${found?.metadata.annotations?.[updateAnnotation] ?? ''}`;
  };
  await move('updates-2', '10m');
  const isUpdated = async () =>
    /injected:updates-2 $/.test(await state()) && (await restartsOf(context, 'updating')).phase === 'Idle';
  await context.check('negative control: the policy lets the leader update the pod', isUpdated);
  await move('updates-3', '20m');
  const isTakenBack = async () => /injected:updates-2 .*the API server refuses the change.*resize/.test(await state());
  await context.check('negative control: the policy lets the leader take an update back', isTakenBack);
}

/** Checks which pods a thief can really create and delete in the operator's namespace. */
async function checkPulls(context: ScenarioContext, namespace: string, kubeconfig: string): Promise<void> {
  const [node] = (await context.client.list(resourceKind('v1', 'Node'))).items;
  const thief = new ApiClient(loadKubeConfig({ kubeconfig }), { userAgent: 'e2e-thief' });
  context.atEnd(() => thief.close());
  const [[title, good] = ['', undefined], ...others] = Object.entries(
    pullAttempts(namespace, node?.metadata.name ?? ''),
  );
  if (good === undefined) throw new Error('no attempt');
  await context.checkNow(`a compromised controller may create and delete ${title}`, async () => {
    await thief.create(good);
    await thief.delete(good);
    return true;
  });
  const allowed: string[] = [];
  for (const [what, pod] of others) {
    const message = await refusalOf(() => thief.create(pod));
    if (!/ValidatingAdmissionPolicy|violates PodSecurity/.test(message ?? ''))
      allowed.push(`${what}: ${message ?? 'allowed'}`);
  }
  await context.checkNow(`it may create no such pod with ${others.map(([what]) => what).join(', ')}`, () =>
    none(allowed),
  );
  const own = (await podsOf(context.client, namespace)).find(({ metadata: { labels } }) => !labels?.[prepullLabel]);
  const message = await refusalOf(() => thief.delete(own ?? good));
  await context.checkNow('it may delete no other pod', () => message?.includes('ValidatingAdmissionPolicy') === true);
}

/** Checks the changes of an injected pod in SECURITY.md, as dry runs. */
async function checkPodChanges(context: ScenarioContext, page: string, kubeconfig: string): Promise<void> {
  const { client } = context;
  await applyUntilReady(client, updatesConfig('updates', '10m'));
  const namespace = await context.namespace('updated', { 'istio.io/rev': 'updates' });
  // The API server refuses to resize a running pod whose kubelet does not report its resources.
  const spec = { containers: ownContainers, schedulerName: 'none' };
  const pod = await client.create(barePod(namespace, 'web', { spec }));
  const [, section = ''] = page.split('\n## A compromised controller\n');
  const rows = section
    .split('\n## ', 1)
    .join('')
    .matchAll(/^\| (\w[^|]+) \| (allowed|policy) \|$/gm);
  const expected = new Map([...rows].map(([, title = '', answer = '']) => [title, answer]));
  const thief = new ApiClient(loadKubeConfig({ kubeconfig }), { userAgent: 'e2e-thief' });
  context.atEnd(() => thief.close());
  const attempts = podAttempts(pod);
  const answersTo = async (by: ApiClient) => {
    const answers = new Map<string, string>();
    for (const [title, { change, subresource }] of Object.entries(attempts)) {
      const stored = await client.patch(pod, 'merge', { metadata: { annotations: { [updateAnnotation]: resizing } } });
      const attempt = () => by.patch(stored, 'merge', change, { dryRun: true, subresource });
      const message = await refusalOf(attempt);
      const isRefused = message?.includes('ValidatingAdmissionPolicy') === true;
      answers.set(title, message === undefined ? 'allowed' : isRefused ? 'policy' : message);
    }
    return answers;
  };
  const differing = (answers: Map<string, string>, wanted: (title: string) => string | undefined) =>
    [...new Set([...answers.keys(), ...expected.keys()])]
      .filter((title) => answers.get(title) !== wanted(title))
      .map((title) => `${title}: ${answers.get(title)}, not ${wanted(title)}`);
  const title = `a compromised controller changes running pods only as SECURITY.md says (${expected.size} attempts)`;
  const found = differing(await answersTo(thief), (each) => expected.get(each));
  await context.checkNow(title, () => none(found));
  const invalid = differing(await answersTo(client), () => 'allowed');
  await context.checkNow('an administrator may make every change, so none is invalid', () => none(invalid));
}

type AttemptInputs = [kubeconfig: string, reader: ApiClient, tenant: readonly KubernetesObject[]];

/** Dry-runs an attempt; a creation uses a copy. Returns `allowed`, `RBAC` or `policy`. */
async function tryOut(attempt: string, ...inputs: AttemptInputs): Promise<string> {
  const [kubeconfig, reader, tenant] = inputs;
  const shape = /^(\w+) (\w+)(?:\.([\w.-]+))?(?:\/(\w+))?(?: ([\w.-]+))?(?: -n (\S+))?$/;
  const [, verb = '', plural = '', group = '', subresource, name, namespace] = shape.exec(attempt) ?? [];
  const config = loadKubeConfig({ kubeconfig });
  if (verb === 'impersonate') Object.assign(config.getCurrentUser() ?? {}, { impersonateUser: name });
  const client = new ApiClient(config, { userAgent: 'e2e-thief' });
  const ofCollection = verb === 'list' || (verb === 'create' && subresource === undefined);
  const kind = { group, version: group === 'sidecar-injector.io' ? 'v1alpha1' : 'v1', plural };
  const path = resourcePath(kind, { namespace, name: ofCollection ? undefined : name, subresource });
  const model = tenant.find((each) => resourceKind(each.apiVersion, each.kind).plural === plural);
  const copy = { ...model, metadata: { ...model?.metadata, name, namespace } };
  const requests = {
    create: ['POST', subresource === undefined ? copy : {}],
    update: ['PUT', verb === 'update' && (await reader.request('GET', path))],
    patch: ['PATCH', { metadata: { annotations: { 'example.com/taken': 'over' } } }],
    delete: ['DELETE', { dryRun: ['All'] }],
  } as const;
  const [method, body] = verb in requests ? requests[verb as keyof typeof requests] : (['GET'] as const);
  const fieldSelector = ofCollection && name !== undefined ? `metadata.name=${name}` : '';
  const query = { fieldSelector, ...(subresource === 'exec' ? { command: 'true' } : { dryRun: 'All' }) };
  const contentType = verb === 'patch' ? 'application/merge-patch+json' : undefined;
  const options = { query, body: JSON.stringify(body), contentType };
  const message = await refusalOf(() => client.request(method, verb === 'impersonate' ? '/api' : path, options));
  client.close();
  // A Lease changes often; retry the conflict.
  if (message?.includes('the object has been modified') === true) return tryOut(attempt, ...inputs);
  // The API server requests the upgrade only after it has checked the rights.
  if (message === undefined || message.includes('Upgrade request required')) return 'allowed';
  if (message.includes('ValidatingAdmissionPolicy')) return 'policy';
  return / cannot \S+ (resource|path) | not currently held/.test(message) ? 'RBAC' : message;
}

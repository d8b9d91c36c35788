import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { calledWebhooks, dryRun, podCreations, refusal } from '../harness/admissions.ts';
import { applyUntilReady, checkCondition, smallConfig } from '../harness/injector-configs.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import type { Pod } from '../harness/pod.ts';
import { applyTagUntilReady, removeTagAndWebhook, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';
import { barePod } from '../harness/workloads.ts';
import { gatesOf } from './hold/held-workloads.ts';
import { asReplaceable, servesPolicies, untilAllHolding } from './hold/holding.ts';
import {
  describeRow,
  expected,
  inBatches,
  tableNamespaces,
  tablePods,
  type Meaning,
  type RowKeys,
  type TablePod,
} from './label-truth-table/rows.ts';

export const istioRowKeys: RowKeys = {
  injection: 'istio-injection',
  revision: 'istio.io/rev',
  inject: 'sidecar.istio.io/inject',
};

const hold = { failurePolicy: 'Hold' };
const customKeys: RowKeys = { injection: 'acme.io/mesh', revision: 'acme.io/mesh-revision', inject: 'acme.io/inject' };

/** The number of concurrent requests. With 10 requests, 256 pods take two or three seconds. */
const concurrency = 10;

export const labelTruthTable: Scenario = {
  name: 'label-truth-table',
  about:
    "in 6 settings, all 256 combinations of namespace and pod labels have the result in Istio's table, and with failurePolicy Hold the same pods are held while the webhook is dead",
  full: 'also held pods while the operator is dead in each of the 6 settings, 3 minutes',
  destructive: 'it installs the default revision, which then also selects namespaces without labels',
  run: async (context) => {
    const { client } = context;
    const operator = await (await context.install({ operator: { holdPods: true } })).startOperator();
    const checkTable = tableChecker(context, operator);
    await applyUntilReady(client, smallConfig('default', hold));
    await applyUntilReady(client, smallConfig('1-24', hold));
    await applyTagUntilReady(client, revisionTag('prod', '1-24'));
    const namespaces = await tableNamespaces(context, 'istio', istioRowKeys);
    const revisions = { default: 'default', '1-24': '1-24', prod: '1-24' };
    const plain: Meaning = { revisions, standard: 'default', enabledByDefault: false };
    const setting: Setting = { namespaces, keys: istioRowKeys, meaning: plain, name: 'plain' };
    await checkTable('two revisions and a tag', setting);

    const opening = smallConfig('default', hold);
    opening.spec.injection['enableNamespacesByDefault'] = true;
    await applyUntilReady(client, opening);
    const open = { ...plain, enabledByDefault: true };
    await checkTable('enableNamespacesByDefault', { ...setting, meaning: open, name: 'open' });
    await applyUntilReady(client, smallConfig('default', hold));

    await applyTagUntilReady(client, revisionTag('default', '1-24'));
    const moved = { revisions: { ...revisions, default: '1-24' }, standard: '1-24', enabledByDefault: false };
    await checkTable('RevisionTag default on 1-24', { ...setting, meaning: moved, name: 'moved' });
    await applyTagUntilReady(client, revisionTag('default', '1-24', { enableNamespacesByDefault: true }));
    const movedOpen = { ...setting, meaning: { ...moved, enabledByDefault: true }, name: 'moved-open' };
    await checkTable('RevisionTag default with enableNamespacesByDefault', movedOpen);
    await removeTagAndWebhook(client, 'default');
    await removeTagAndWebhook(client, 'prod');

    // A tag belongs to one family, so recreate it after both revisions moved to the other family.
    const keys = { ...customKeys, status: 'acme.io/status' };
    await applyUntilReady(client, smallConfig('default', { ...hold, keys }));
    await applyUntilReady(client, smallConfig('1-24', { ...hold, keys }));
    await applyTagUntilReady(client, revisionTag('prod', '1-24'));
    const acme = await tableNamespaces(context, 'acme', customKeys);
    const own = { namespaces: acme, keys: customKeys, meaning: plain, name: 'own' };
    await checkTable('custom label names', own);
    const foreign = { ...setting, meaning: { revisions: {}, standard: '', enabledByDefault: false }, name: 'foreign' };
    await checkTable("Istio's label names after the change", foreign);
    return '6 settings with 256 rows each have the results in the table; no pod was selected by two webhooks';
  },
};

interface Setting {
  readonly namespaces: readonly string[];
  readonly keys: RowKeys;
  readonly meaning: Meaning;
  readonly name: string;
}

/** Returns a function that compares stored pods and, with a dead operator, held pods. */
function tableChecker(context: ScenarioContext, operator: OperatorProcess) {
  let hasHeld = false;
  return async (what: string, setting: Setting): Promise<void> => {
    await checkStored(context, what, setting);
    // In the short size, one setting with held pods suffices.
    if (hasHeld && context.size === 'short') return;
    hasHeld = true;
    const isServed = await servesPolicies(context);
    const unserved = /^True \(HoldNotServed\) .*until then spec\.webhook\.fallback \(Fail\) applies to all pods$/;
    if (isServed) await untilAllHolding(context);
    else await checkCondition(context, '1-24', 'HoldUnavailable', 'Hold needs a newer API server', unserved);
    await operator.process.kill();
    await checkDead(context, what, setting, isServed ? 'held' : 'refused');
    await operator.restart();
  };
}

/**
 * Checks that while no webhook answers, a policy holds exactly the pods that the table selects.
 * Where the API server serves no policies, the fallback refuses them.
 */
async function checkDead(context: ScenarioContext, what: string, setting: Setting, outcome: 'held' | 'refused') {
  const { namespaces, keys, meaning } = setting;
  const pods = tablePods(namespaces, outcome, keys);
  const wrong: string[] = [];
  await inBatches(pods, concurrency, async ({ row, pod }) => {
    const tried = asReplaceable(pod);
    const reasons =
      outcome === 'held'
        ? gatesOf(await dryRun(context.client, tried))
        : [await refusal(context.client, tried)].filter((message) => message !== undefined);
    const isExpected = (expected(row, meaning) ?? '') !== '';
    if (reasons.length !== Number(isExpected))
      wrong.push(`${describeRow(row)}: ${reasons.join(' and ') || 'accepted'}`);
  });
  const statement = `${what}: with a dead webhook, exactly the pods of the table are ${outcome}, of ${pods.length}`;
  await context.checkNow(statement, () => none(wrong));
}

async function checkStored(context: ScenarioContext, what: string, setting: Setting): Promise<void> {
  const pods = tablePods(setting.namespaces, setting.name, setting.keys);
  await settle(context, what, setting, pods);
  const audit = context.startAudit();
  const started = Date.now();
  await inBatches(pods, concurrency, ({ pod }) => context.client.create(pod));
  const stored = await storedPods(context, setting.namespaces);
  const milliseconds = Date.now() - started;
  const wrong = pods.flatMap(({ row, pod }) => {
    const injector = expected(row, setting.meaning) || undefined;
    const storedPod = stored.get(`${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`);
    const injectors = storedPod === undefined ? ['(not stored)'] : injectorsOf(storedPod);
    const isRight = injectors.join() === (injector ?? '');
    return isRight ? [] : [`${describeRow(row)}: ${injectors.join(' and ') || 'none'}, not ${injector ?? 'none'}`];
  });
  await context.checkNow(`${what}: all 256 stored pods have the sidecar that the table demands`, () =>
    found(wrong.slice(0, 5).join('; '), ''),
  );
  const creations = setting.namespaces.flatMap((namespace) => podCreations(audit?.events() ?? [], namespace));
  const twice = creations.filter((event) => calledWebhooks(event).length > 1);
  await context.checkNow(
    `${what}: the API server called at most one webhook for each pod`,
    () => (audit === undefined || creations.length === pods.length) && found(String(twice.length), '0'),
  );
  context.say(`${what}: ${pods.length} pods created and read in ${milliseconds} ms`);
}

/** Dry-runs rows with at most one label until the API server uses the changed webhooks. */
async function settle(context: ScenarioContext, what: string, { meaning }: Setting, pods: readonly TablePod[]) {
  const telling = pods.filter(({ row }) => {
    const others = Object.values(row).filter((value) => value !== undefined);
    const isTelling = row.injection === 'enabled' || row.namespaceRevision === 'prod';
    return others.length === 0 || (others.length === 1 && isTelling);
  });
  for (const { row, pod } of telling) {
    const probe = barePod(pod.metadata.namespace ?? '', 'probe', { labels: pod.metadata.labels ?? {} });
    await context.check(`${what}: the API server uses the new webhooks (${describeRow(row)})`, async () => {
      return found(injectorsOf(await dryRun(context.client, probe)).join(), expected(row, meaning) ?? '');
    });
  }
}

async function storedPods({ client }: ScenarioContext, namespaces: readonly string[]): Promise<Map<string, Pod>> {
  const lists = await inBatches(namespaces, concurrency, (namespace) =>
    client.listAll<Pod>(resourceKind('v1', 'Pod'), { namespace }),
  );
  const pods = lists.flatMap(({ items }) => items);
  return new Map(pods.map((pod) => [`${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`, pod]));
}

/** Returns the injectors that a pod's annotation names; adds its containers if they disagree. */
function injectorsOf(pod: Pod): string[] {
  const annotation = pod.metadata.annotations?.['sidecar-injector.io/config'] ?? '';
  const named = annotation.split(',').flatMap((entry) => (entry === '' ? [] : [entry.replace(/\.[0-9a-f]{8}$/, '')]));
  const containers = pod.spec.containers.map(({ name }) => name).filter((name) => name !== 'sleep');
  return named.join() === containers.join() ? named : [...named, `(containers ${containers.join(' ')})`];
}

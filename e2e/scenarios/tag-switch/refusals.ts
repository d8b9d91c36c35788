import type { Condition, KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { labelNames, tagWebhookConfiguration, validatorNames } from '../../../src/api/names.ts';
import { badRevisionTags } from '../../../src/api/testdata/bad-revision-tags.ts';
import { refusal, refusalOf } from '../../harness/admissions.ts';
import { applyObject, isGone, objectOf } from '../../harness/apply.ts';
import { applyUntilReady, conditionOf, deleteForced, smallConfig } from '../../harness/injector-configs.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { removeTag, revisionTag, revisionTags, type RevisionTagObject } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { untilActive } from '../../harness/until-active.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { validatingWebhooks, webhookNamed, webhooks } from '../../harness/webhook-configurations.ts';
import { barePod } from '../../harness/workloads.ts';

/** Checks that the API server refuses each invalid object, and names the field and a remedy. */
export async function checkRefusals(context: ScenarioContext): Promise<number> {
  const second = smallConfig('second');
  second.spec['revision'] = 'v2';
  const custom = smallConfig('wide', { selection: 'Custom', objectSelector: { matchLabels: { team: 'a' } } });
  const rows: [what: string, object: KubernetesObject, message: RegExp][] = [
    [
      'a tag on an unknown revision',
      revisionTag('canary', 'v9'),
      /spec\.revision v9: no InjectorConfig .*existing names: .*v2.*create it, or name another one/,
    ],
    ['a tag on another tag', revisionTag('canary', 'prod'), /spec\.revision prod: no InjectorConfig/],
    [
      'a tag named like a revision',
      revisionTag('v2', 'default'),
      /metadata\.name: InjectorConfig v2 selects the same pods.*give the tag another name/,
    ],
    [
      'a revision named like a tag',
      smallConfig('prod'),
      /spec\.revision: RevisionTag prod selects the same pods.*choose another revision/,
    ],
    ['a duplicate revision', second, /spec\.revision: InjectorConfig v2 selects the same pods/],
    [
      'selectors that overlap with those of revisions',
      custom,
      /spec\.webhook\.selection: InjectorConfig .* selects the same pods/,
    ],
    ...badRevisionTags.map(({ title, name, spec, field, message }): [string, KubernetesObject, RegExp] => [
      title,
      { ...revisionTag(name, ''), spec: spec },
      new RegExp(`${field.replaceAll(/[[\].]/g, '\\$&')}.*(${message.source})`, 's'),
    ]),
  ];
  const created = (object: KubernetesObject) => () => context.client.create(object, { dryRun: true });
  const count = await checkRefused(
    context,
    rows.map(([what, object, message]) => [what, created(object), message]),
  );
  return count + (await checkPairs(context));
}

type Refusal = [what: string, write: () => Promise<unknown>, message: RegExp];

async function checkRefused(context: ScenarioContext, rows: readonly Refusal[]): Promise<number> {
  for (const [what, write, message] of rows) {
    await context.check(`the API server refuses ${what}`, async () => {
      const said = (await refusalOf(write)) ?? 'it was accepted';
      if (message.test(said)) return true;
      throw new Error(said);
    });
  }
  return rows.length;
}

async function checkPairs(context: ScenarioContext): Promise<number> {
  const { client } = context;
  const keysOf = (family: string) => {
    const [revision, inject, status] = ['rev', 'inject', 'status'].map((key) => `${family}/${key}`);
    return { injection: `${family}-injection`, revision, inject, status };
  };
  const otherFamily = await applyUntilReady(client, smallConfig('logs', { keys: keysOf('logs') }));
  const selection = { selection: 'Custom', objectSelector: { matchLabels: { team: 'none' } } };
  const unlabelled = await applyUntilReady(client, smallConfig('picked', { ...selection, keys: keysOf('picked') }));
  const strategy = { canary: { steps: [{ weight: 5 }] } };
  const moved = (spec: object) => () => client.patch(revisionTag('prod', ''), 'merge', { spec }, { dryRun: true });
  const otherKeys = /spec\.revision logs: .* other spec\.webhook\.keys than InjectorConfig .*use another tag/;
  const noLabel = /spec\.revision picked: .*spec\.webhook\.selection Custom.*name another revision/;
  const count = await checkRefused(context, [
    ['a move to an unknown revision', moved({ revision: 'v9' }), /spec\.revision v9: no InjectorConfig/],
    [
      'a rollout to an unknown revision',
      moved({ revision: 'v9', strategy }),
      /spec\.revision v9: .*create it, or name another one/,
    ],
    ['a move between families', moved({ revision: 'logs' }), otherKeys],
    ['a rollout between families', moved({ revision: 'logs', strategy }), otherKeys],
    [
      'a tag on a revision that no label selects',
      () => client.create(revisionTag('canary', 'picked'), { dryRun: true }),
      noLabel,
    ],
    ['a rollout to a revision that no label selects', moved({ revision: 'picked', strategy }), noLabel],
  ]);
  await deleteForced(client, otherFamily);
  await deleteForced(client, unlabelled);
  return count;
}

/** Checks that tags that are invalid, but stored, get a condition and are not published. */
export async function checkConditions(context: ScenarioContext, replicas: Replicas): Promise<void> {
  const { client } = context;
  await unvalidated(context, replicas, async () => {
    await applyObject(client, revisionTag('lost', 'v9'));
    await applyObject(client, revisionTag('v2', 'default'));
  });
  await context.check('a tag on an unknown revision has reason UnknownRevision and no webhook', async () => {
    const ready = await tagCondition(context, 'lost', 'Ready');
    return ready?.reason === 'UnknownRevision' && isGone(client, webhooks, tagWebhookConfiguration('lost'));
  });
  await context.check('a tag named like a revision has condition Overlap and no webhook', async () => {
    const overlap = await tagCondition(context, 'v2', 'Overlap');
    const isNamed = overlap?.status === 'True' && overlap.message.includes('InjectorConfig v2');
    return isNamed && isGone(client, webhooks, tagWebhookConfiguration('v2'));
  });
  await applyUntilReady(client, smallConfig('v9'));
  await context.check('once the revision exists, the tag is Ready', async () => {
    return (await tagCondition(context, 'lost', 'Ready'))?.status === 'True';
  });
  await removeTag(client, 'v2');
  await removeTag(client, 'lost');
  await deleteForced(client, smallConfig('v9'));
}

/** Checks that spec.webhook.takeover is required beside another product's injector. */
export async function checkForeign(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const foreign = foreignInjector('foreign');
  await applyObject(client, foreign);
  await operatorKnowsWebhooks(context);
  const config = smallConfig('foreign');
  await applyObject(client, config);
  const statement = "a revision that overlaps with another product's injector has reason ForeignOverlap and no webhook";
  await context.check(statement, async () => {
    const ready = await conditionOf(client, 'foreign', 'Ready');
    return ready?.reason === 'ForeignOverlap' && isGone(client, webhooks, 'sidecar-injector-foreign');
  });
  await applyUntilReady(client, { ...config, spec: { ...config.spec, webhook: { takeover: true } } });
  await context.check('with spec.webhook.takeover, the revision is published', () =>
    client.find(webhooks, 'sidecar-injector-foreign'),
  );
  await client.delete(foreign);
  await deleteForced(client, config);
}

/**
 * Waits until the operator has seen every stored webhook configuration. One watch delivers them in
 * order, so the operator has seen all of them once it reverts a later edit.
 */
async function operatorKnowsWebhooks({ client }: ScenarioContext): Promise<void> {
  const target = webhookNamed('sidecar-injector-v2');
  await client.patch(target, 'merge', { metadata: { labels: { [labelNames.revision]: 'other' } } });
  await waitFor('the operator to revert an edit', async () => {
    const { metadata } = await client.get(webhooks, 'sidecar-injector-v2');
    return metadata.labels?.[labelNames.revision] === 'v2';
  });
}

/** Checks that a tag's webhook is deleted if the tag was deleted while no operator ran. */
export async function checkOrphan(context: ScenarioContext, replicas: Replicas): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('orphan', { 'istio.io/rev': 'orphan' });
  await applyObject(client, revisionTag('orphan', 'v2'));
  await context.check('a tag is Ready', async () => {
    return (await tagCondition(context, 'orphan', 'Ready'))?.status === 'True';
  });
  await Promise.all(replicas.controllers.map(({ operator }) => operator.process.stop(30_000)));
  await removeTag(client, 'orphan');
  await context.check('if the tag is deleted while no controller runs, its pods are created', async () =>
    found((await refusal(client, barePod(namespace, 'pod'))) ?? '', ''),
  );
  await Promise.all(replicas.controllers.map(({ operator }) => operator.restart()));
  await context.check('after its restart, the operator deletes the webhook of the tag', () =>
    isGone(client, webhooks, tagWebhookConfiguration('orphan')),
  );
}

/** Runs `act` without the validating webhook. Freezes the controllers, which would restore it. */
async function unvalidated(context: ScenarioContext, replicas: Replicas, act: () => Promise<void>): Promise<void> {
  for (const { operator } of replicas.controllers) operator.process.freeze();
  try {
    const { webhookConfiguration } = validatorNames('default');
    await context.client.delete(
      objectOf('admissionregistration.k8s.io/v1', validatingWebhooks.kind, webhookConfiguration),
    );
    await untilActive(context.client, { validating: true });
    await act();
  } finally {
    for (const { operator } of replicas.controllers) operator.process.unfreeze();
  }
}

async function tagCondition(context: ScenarioContext, name: string, type: string): Promise<Condition | undefined> {
  const { status, metadata } = await context.client.get<RevisionTagObject>(revisionTags, name);
  const isCurrent = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return isCurrent ? status?.conditions?.find((each) => each.type === type) : undefined;
}

/** Returns Istio's webhook for a revision. It has no server, so its failurePolicy is Ignore. */
function foreignInjector(revision: string): KubernetesObject {
  return {
    ...webhookNamed('istio-sidecar-injector-e2e'),
    metadata: { name: 'istio-sidecar-injector-e2e', labels: { 'istio.io/rev': revision, app: 'sidecar-injector' } },
    webhooks: [
      {
        name: 'rev.namespace.sidecar-injector.istio.io',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: 'https://127.0.0.1:1/inject' },
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        timeoutSeconds: 1,
        namespaceSelector: { matchExpressions: [{ key: 'istio.io/rev', operator: 'In', values: [revision] }] },
        objectSelector: {
          matchExpressions: [{ key: 'sidecar.istio.io/inject', operator: 'NotIn', values: ['false'] }],
        },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      },
    ],
  };
}

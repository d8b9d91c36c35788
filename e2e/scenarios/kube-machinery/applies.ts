import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { ObjectApplier, type AppliedObject } from '../../../src/kube/apply-object.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import { found } from '../../harness/wait-for.ts';
import { webhookNamed, webhooks, type WebhookConfiguration } from '../../harness/webhook-configurations.ts';
import { configMap, configMaps, type Workbench } from './workbench.ts';

/** Checks that apply writes only differences, names conflicting managers, and can replace. */
export async function checkApplies(bench: Workbench): Promise<void> {
  const applying = new Applying(bench);
  await checkDifferences(applying);
  await checkForeignManager(applying);
  await checkCoOwnedWebhook(applying);
  await checkImmutable(applying);
}

class Applying {
  readonly bench: Workbench;
  /** The clock of the applier, in milliseconds, so that a slow machine cannot change the result. */
  now = 0;
  readonly #applier: ObjectApplier;
  readonly #client = 'km-apply';

  constructor(bench: Workbench) {
    this.bench = bench;
    const client = bench.client(this.#client);
    const clock = { ...systemClock, monotonic: () => this.now };
    this.#applier = new ObjectApplier({ client, fieldManager: 'km-ours', clock });
  }

  async apply(desired: KubernetesObject): Promise<AppliedObject & { writes: string }> {
    const { client } = this.bench.context;
    const kind = desired.kind === 'ConfigMap' ? configMaps : webhooks;
    const { name = '', namespace } = desired.metadata;
    const live = await client.find(kind, name, { namespace });
    const before = this.bench.writesOf(this.#client).length;
    const applied = await this.#applier.apply(desired, live);
    return { ...applied, writes: this.bench.writesOf(this.#client).slice(before).join(', ') };
  }
}

async function checkDifferences(applying: Applying): Promise<void> {
  const { bench } = applying;
  const { context, namespace } = bench;
  const desired = (value: string): KubernetesObject => configMap(namespace, 'applied', { data: { value } });
  const created = await applying.apply(desired('one'));
  const same = [await applying.apply(desired('one')), await applying.apply(desired('one'))];
  const changed = await applying.apply(desired('two'));
  await context.checkNow(
    'an object is created with one write, not written while it is unchanged, and updated with one write',
    () =>
      found(
        [created, ...same, changed].map(({ outcome, writes }) => `${outcome} by ${writes}`).join('; '),
        'Created by patch 201; Unchanged by ; Unchanged by ; Updated by patch 200',
      ),
  );
}

async function checkForeignManager(applying: Applying): Promise<void> {
  const { bench } = applying;
  const { context, namespace } = bench;
  const desired = configMap(namespace, 'contended', { data: { value: 'ours' } });
  const takeAway = () =>
    context.client.patch(desired, 'merge', { data: { value: 'theirs' } }, { fieldManager: 'km-other' });
  await applying.apply(desired);
  await takeAway();
  const first = await applying.apply(desired);
  await context.checkNow(
    'after another manager changed a field, an apply without force names that manager, and an apply with force restores the field',
    () => {
      found(first.writes, 'patch 409, patch 200');
      return found(JSON.stringify(first.foreign), '[{"manager":"km-other","field":".data.value"}]');
    },
  );
  await takeAway();
  const second = await applying.apply(desired);
  applying.now += 999;
  const tooEarly = await applying.apply(desired);
  applying.now -= 999;
  await context.checkNow(
    `when that manager takes the field again, the applier waits (${Math.round(second.retryAfter ?? 0)} ms)`,
    () => {
      found(`${second.outcome} by ${second.writes}`, 'Deferred by ');
      found(`${tooEarly.outcome} by ${tooEarly.writes}`, 'Deferred by ');
      return second.retryAfter === 1000;
    },
  );
  applying.now += second.retryAfter ?? 0;
  const third = await applying.apply(desired);
  await context.checkNow('the applier then restores the field', () => found(third.writes, 'patch 409, patch 200'));
}

/** Checks that the applier removes a list entry that another field manager co-owns. */
async function checkCoOwnedWebhook(applying: Applying): Promise<void> {
  const { context } = applying.bench;
  const name = `${context.name}-co-owned`;
  await applying.apply(webhookConfiguration(name, ['kept', 'dropped']));
  await context.client.apply(
    { ...webhookConfiguration(name, []), webhooks: [{ name: 'dropped.example.com', timeoutSeconds: 7 }] },
    { fieldManager: 'km-other', force: true },
  );
  const applied = await applying.apply(webhookConfiguration(name, ['kept']));
  const { webhooks: left } = await context.client.get<WebhookConfiguration>(webhooks, name);
  await context.checkNow(
    'the API server rejects (Invalid) an apply that removes a co-owned webhook, so the applier replaces the object at its resourceVersion',
    () => {
      found(`${applied.outcome} by ${applied.writes}`, 'Updated by patch 422, update 200');
      return found(left.map((webhook) => webhook.name).join(), 'kept.example.com');
    },
  );
  await context.client.delete(webhookConfiguration(name, []));
}

async function checkImmutable(applying: Applying): Promise<void> {
  const { context, namespace } = applying.bench;
  const desired = (value: string): KubernetesObject => ({
    ...configMap(namespace, 'immutable', { data: { value } }),
    immutable: true,
  });
  const before = await applying.apply(desired('one'));
  const after = await applying.apply(desired('two'));
  await context.checkNow(
    'an immutable object is recreated after a dry run has shown that the API server accepts it',
    () => {
      found(
        `${after.outcome} by ${after.writes}`,
        'Recreated by patch 422, update 422, create 409, delete 200, patch 201',
      );
      return before.object.metadata.uid !== after.object.metadata.uid;
    },
  );
}

/** Returns a webhook configuration that matches no request, with all defaulted fields set. */
function webhookConfiguration(name: string, names: readonly string[]): KubernetesObject {
  const group = { apiGroups: ['none.example.com'], apiVersions: ['v1'], resources: ['things'] };
  const rule = { ...group, operations: ['CREATE'], scope: '*' };
  return {
    ...webhookNamed(name),
    webhooks: names.map((webhook) => ({
      name: `${webhook}.example.com`,
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [rule],
      failurePolicy: 'Ignore',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      reinvocationPolicy: 'Never',
      timeoutSeconds: 10,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    })),
  };
}

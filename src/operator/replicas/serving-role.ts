import { objectNames, servingRoleName, validatorNames, labelNames, managedBy } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { noWrites } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { resyncMs } from '../settings.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';

/**
 * What replicas may read of Secrets: these, each by its name (a list or watch with `fieldSelector=metadata.name=…` is authorized by resourceNames;
 * kubernetes.io/docs/reference/access-authn-authz/rbac, "Referring to resources").
 * @param secretNames at least one: a rule without resourceNames would allow every Secret
 */
function servingRole(
  secretNames: readonly [string, ...string[]],
  { namespace, operatorClass }: Pick<ManifestContext, 'namespace' | 'operatorClass'>,
): KubernetesObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: {
      name: servingRoleName(operatorClass),
      namespace,
      labels: { [labelNames.managedBy]: managedBy, [labelNames.operatorClass]: operatorClass },
    },
    rules: [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [...secretNames].sort(), verbs: ['list', 'watch'] },
    ],
  };
}

/**
 * A name stays this long after its Secret has gone: replicas let go of it later than we, and must not be refused meanwhile. Milliseconds.
 */
const lingerMs = 120_000;

/**
 * Keeps the Role by which replicas may read the serving Secrets, each by its name. A name is in it before the Secret and the ConfigMap that
 * makes replicas look for it are written, so no replica is ever refused.
 */
export class ServingRoleKeeper {
  readonly #options: Pick<PassContext, 'view' | 'owned' | 'settings' | 'clock' | 'logger'>;
  /** Since when a name of the Role has been of no use. */
  readonly #uselessSince = new Map<string, number>();
  /** One write at a time: each says all the names. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PassContext) {
    this.#options = options;
  }

  /** Before anything is written that makes replicas read the Secret of this InjectorConfig. */
  async admit(name: string, signal: AbortSignal): Promise<void> {
    const { servingSecret } = objectNames(name);
    if (!this.#names().includes(servingSecret)) await this.#write(servingSecret, signal);
  }

  /** Makes the Role what it should be; resolves with the milliseconds until it wants to be called again. */
  async reconcile(signal: AbortSignal): Promise<number> {
    await this.#write(undefined, signal);
    return this.#uselessSince.size > 0 ? lingerMs : resyncMs;
  }

  #write(admitted: string | undefined, signal: AbortSignal): Promise<void> {
    const write = this.#last.then(() => this.#writeNow(admitted, signal));
    this.#last = write.catch(() => undefined);
    return write;
  }

  async #writeNow(admitted: string | undefined, signal: AbortSignal): Promise<void> {
    const { owned, settings, logger } = this.#options;
    const live = this.#live();
    const desired = servingRole(this.#wanted(admitted), settings.context);
    const writes = noWrites();
    // Only onto the version that was read: of two leaders one gets a Conflict and looks again.
    const { resourceVersion } = live?.metadata ?? {};
    if (resourceVersion !== undefined) desired.metadata.resourceVersion = resourceVersion;
    await owned.apply(desired, writes, signal);
    for (const { object, difference } of writes.repairs) {
      logger.warn('repaired', { object: `${object.kind} ${object.metadata.name ?? ''}`, difference });
    }
  }

  #wanted(admitted: string | undefined): [string, ...string[]] {
    const { view, settings, clock } = this.#options;
    const own = settings.context.operatorClass;
    const configs = view.configs.list().filter(({ spec }) => {
      const { operatorClass = 'default' } = (spec ?? {}) as { operatorClass?: string };
      return operatorClass === own;
    });
    const owners = [...configs.map(({ metadata: { name = '' } }) => name), ...view.names()];
    const names = new Set(owners.map((name) => objectNames(name).servingSecret));
    if (admitted !== undefined) names.add(admitted);
    const now = clock.monotonic();
    const useless = this.#names().filter((name) => /^sidecar-injector-.+-serving$/.test(name) && !names.has(name));
    for (const name of this.#uselessSince.keys()) if (!useless.includes(name)) this.#uselessSince.delete(name);
    for (const name of useless) {
      const since = this.#uselessSince.get(name) ?? now;
      this.#uselessSince.set(name, since);
      if (now - since < lingerMs) names.add(name);
    }
    return [validatorNames(own).servingSecret, ...names];
  }

  #live(): KubernetesObject | undefined {
    const { view, settings } = this.#options;
    return view.roles.get(servingRoleName(settings.context.operatorClass), settings.context.namespace);
  }

  /** The names that the Role holds now. */
  #names(): readonly string[] {
    const rules = (this.#live()?.rules ?? []) as { resourceNames?: string[] }[];
    return rules.flatMap(({ resourceNames }) => resourceNames ?? []);
  }
}

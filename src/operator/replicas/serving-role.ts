import { objectNames, servingRoleName, validatorNames, labelNames, managedBy } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { logRepairs, type PassContext } from '../controller/pass-context.ts';
import { resyncMs } from '../settings.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';

/**
 * Returns the Role that allows replicas to read Secrets by name. RBAC authorizes a list or watch
 * with `fieldSelector=metadata.name=…` by resourceNames (kubernetes.io/docs/reference/
 * access-authn-authz/rbac, "Referring to resources").
 * @param secretNames at least one name, since a rule without names would allow every Secret
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

/** How long the Role keeps the name of a deleted Secret, in ms: replicas still watch the Secret. */
const lingerMs = 120_000;

/**
 * Maintains the Role that allows replicas to read the serving Secrets. Adds a name before the
 * Secret and the ConfigMap that makes replicas watch it, so that RBAC never refuses a replica.
 */
export class ServingRoleKeeper {
  readonly #options: Pick<PassContext, 'view' | 'owned' | 'settings' | 'clock' | 'logger'>;
  /** When each unused name in the Role became unused, in monotonic milliseconds. */
  readonly #unusedSince = new Map<string, number>();
  /** The last write. Writes are serialized, since each write contains all names. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PassContext) {
    this.#options = options;
  }

  /** Adds the serving Secret of an InjectorConfig. Must precede the first write of its objects. */
  async admit(name: string, signal: AbortSignal): Promise<void> {
    const { servingSecret } = objectNames(name);
    if (!this.#names().includes(servingSecret)) await this.#write(servingSecret, signal);
  }

  /** Applies the Role; resolves with the milliseconds until the next call. */
  async reconcile(signal: AbortSignal): Promise<number> {
    await this.#write(undefined, signal);
    return this.#unusedSince.size > 0 ? lingerMs : resyncMs;
  }

  #write(admitted: string | undefined, signal: AbortSignal): Promise<void> {
    const write = this.#last.then(() => this.#writeNow(admitted, signal));
    this.#last = write.catch(() => undefined);
    return write;
  }

  async #writeNow(admitted: string | undefined, signal: AbortSignal): Promise<void> {
    const { owned, settings, logger } = this.#options;
    const live = this.#live();
    const desired = servingRole(this.#desiredNames(admitted), settings.context);
    // Write with the resourceVersion that was read: the second of two leaders gets a Conflict.
    const { resourceVersion } = live?.metadata ?? {};
    if (resourceVersion !== undefined) desired.metadata.resourceVersion = resourceVersion;
    logRepairs([await owned.apply(desired, signal)], logger);
  }

  #desiredNames(admitted: string | undefined): [string, ...string[]] {
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
    const unused = this.#names().filter((name) => /^sidecar-injector-.+-serving$/.test(name) && !names.has(name));
    for (const name of this.#unusedSince.keys()) if (!unused.includes(name)) this.#unusedSince.delete(name);
    for (const name of unused) {
      const since = this.#unusedSince.get(name) ?? now;
      this.#unusedSince.set(name, since);
      if (now - since < lingerMs) names.add(name);
    }
    return [validatorNames(own).servingSecret, ...names];
  }

  #live(): KubernetesObject | undefined {
    const { view, settings } = this.#options;
    return view.roles.get(servingRoleName(settings.context.operatorClass), settings.context.namespace);
  }

  #names(): readonly string[] {
    const rules = (this.#live()?.rules ?? []) as { resourceNames?: string[] }[];
    return rules.flatMap(({ resourceNames }) => resourceNames ?? []);
  }
}

import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../../kube/api-error.ts';
import type { ListOptions, ListPage } from '../../../kube/api-client.ts';
import type { ResourceKind } from '../../../kube/resource-kinds.ts';

/** An ApiClient that reads objects in memory; some kinds may be forbidden. */
export class MemoryClient {
  readonly #objects: readonly KubernetesObject[];
  readonly #forbidden: readonly string[];

  constructor(objects: readonly KubernetesObject[], forbidden: readonly string[] = []) {
    this.#objects = objects;
    this.#forbidden = forbidden;
  }

  find<T = KubernetesObject>(
    { kind }: ResourceKind,
    name: string,
    { namespace }: { namespace?: string | undefined } = {},
  ): Promise<T | undefined> {
    this.#refuse(kind);
    const found = this.#objects.find(
      (each) =>
        each.kind === kind &&
        each.metadata.name === name &&
        (namespace === undefined || each.metadata.namespace === undefined || each.metadata.namespace === namespace),
    );
    return Promise.resolve(found as T | undefined);
  }

  async get<T = KubernetesObject>(
    resource: ResourceKind,
    name: string,
    options: { namespace?: string | undefined } = {},
  ): Promise<T> {
    const found = await this.find<T>(resource, name, options);
    if (found === undefined) throw new ApiError({ code: 404, reason: 'NotFound', message: `${resource.plural} "${name}" not found` });
    return found;
  }

  listAll<T = KubernetesObject>(
    { kind }: ResourceKind,
    { namespace, labelSelector = '', fieldSelector = '' }: ListOptions = {},
  ): Promise<ListPage<T>> {
    this.#refuse(kind);
    const wanted = labelSelector === '' ? [] : labelSelector.split(',').map((each) => each.split('=') as [string, string?]);
    const items = this.#objects
      .filter((each) => each.kind === kind && (namespace === undefined || each.metadata.namespace === namespace))
      .filter(({ metadata: { labels } }) =>
        wanted.every(([key, value]) => (value === undefined ? labels?.[key] !== undefined : labels?.[key] === value)),
      )
      .filter(({ metadata: { name = '' } }) => fieldSelector === '' || fieldSelector === `metadata.name=${name}`);
    return Promise.resolve({ items: items as T[], resourceVersion: '1', continue: undefined });
  }

  #refuse(kind: string): void {
    if (!this.#forbidden.includes(kind)) return;
    throw new ApiError({ code: 403, reason: 'Forbidden', message: `user "ann" cannot read ${kind}` });
  }
}

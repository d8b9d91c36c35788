import type { KubernetesObject } from '../api/kubernetes.ts';

/** Objects of ours have been deleted and do not go, because finalizers of others hold them; what comes after them waits. */
export class RemovalBlockedError extends Error {
  override readonly name = 'RemovalBlockedError';

  constructor(injectorConfig: string, held: readonly KubernetesObject[]) {
    const names = held.map(({ kind, metadata }) => {
      return `${kind} ${metadata.name ?? ''} (${(metadata.finalizers ?? []).join(', ')})`;
    });
    super(
      `InjectorConfig ${injectorConfig}: deleted, but held by finalizers: ${names.join('; ')}. ` +
        'Whoever set them must take them off; until then everything that answers the webhook stays',
    );
  }
}

import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';

/** What reconcilers ask of the API server. */
export type LeaderClient = Pick<ApiClient, 'find' | 'list' | 'create' | 'replace' | 'apply' | 'patch' | 'delete'>;

/**
 * A client that writes only while the lease is held, by our own clock at that very moment. A process that was suspended in the middle of a pass
 * goes on with its next write when it wakes, before any timer has told it that somebody else leads: that write must not be sent.
 */
export function whileLeading(client: LeaderClient, holdsLease: () => boolean): LeaderClient {
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    if (holdsLease()) return send();
    const message = 'the lease is not held any more; another process may lead, and nothing is written';
    throw new ApiError({ code: 409, reason: 'NotLeading', message });
  };
  return {
    find: client.find.bind(client),
    list: client.list.bind(client),
    create: (object, options) => write(() => client.create(object, options)),
    replace: (object, options) => write(() => client.replace(object, options)),
    apply: (object, options) => write(() => client.apply(object, options)),
    patch: (target, type, body, options) => write(() => client.patch(target, type, body, options)),
    delete: (target, options) => write(() => client.delete(target, options)),
  };
}

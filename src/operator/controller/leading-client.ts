import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';

/** The requests that reconcilers send. */
export type LeaderClient = Pick<
  ApiClient,
  'find' | 'list' | 'listAll' | 'create' | 'replace' | 'apply' | 'patch' | 'delete'
>;

/**
 * Returns a client that checks the Lease against our own clock before each write. A process that
 * was suspended during a pass resumes with its next write before any timer fires, although another
 * process may lead already. Writes reject with ApiError 409 NotLeading once the Lease is lost.
 */
export function whileLeading(client: LeaderClient, holdsLease: () => boolean): LeaderClient {
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    if (holdsLease()) return send();
    const message = 'this process no longer holds the Lease, so it writes nothing; another process may lead';
    throw new ApiError({ code: 409, reason: 'NotLeading', message });
  };
  return {
    find: client.find.bind(client),
    list: client.list.bind(client),
    listAll: client.listAll.bind(client),
    create: (object, options) => write(() => client.create(object, options)),
    replace: (object, options) => write(() => client.replace(object, options)),
    apply: (object, options) => write(() => client.apply(object, options)),
    patch: (target, type, body, options) => write(() => client.patch(target, type, body, options)),
    delete: (target, options) => write(() => client.delete(target, options)),
  };
}

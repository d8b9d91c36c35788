import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectedByAnnotation } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { apiVersionOf } from '../../kube/resource-kinds.ts';
import { replicasOf } from '../../operator/pods/wanted-pods.ts';
import { readWorkloads } from './read-workloads.ts';

type Part = Readonly<Record<string, unknown>>;

function object(kind: string, name: string, parts: Part = {}): KubernetesObject {
  const { metadata, ...others } = parts as { metadata?: object };
  return { apiVersion: '', kind, metadata: { name, namespace: 'shop', ...metadata }, ...others };
}

function podOf(name: string, owner: Part | undefined, parts: Part = {}): KubernetesObject {
  const { metadata, ...others } = parts as { metadata?: object };
  const owners = owner === undefined ? {} : { ownerReferences: [{ uid: 'u', controller: true, ...owner }] };
  return object('Pod', name, { spec: { containers: [] }, ...others, metadata: { ...owners, ...metadata } });
}

const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };

/** Lists objects one by one, so that every list has several pages. */
function cluster(objects: readonly KubernetesObject[], forbidden?: string): Pick<ApiClient, 'list'> {
  return {
    list: (resource, options) => {
      const { limit, continue: token = '0' } = options ?? {};
      assert.ok(limit !== undefined && limit <= 500, 'a list is read page by page');
      if (resource.kind === forbidden)
        return Promise.reject(new ApiError({ code: 403, reason: 'Forbidden', message: 'no' }));
      const own = objects.filter(({ kind }) => kind === resource.kind);
      const items = own.map((each) => ({ ...each, apiVersion: apiVersionOf(resource) }));
      const at = Number(token);
      const next = at + 1 < items.length ? { continue: String(at + 1) } : {};
      return Promise.resolve({ items: items.slice(at, at + 1), resourceVersion: '1', ...next }) as never;
    },
  };
}

async function read(objects: readonly KubernetesObject[], forbidden?: string) {
  const { workloads, entries, notes } = await readWorkloads(cluster(objects, forbidden), undefined, () => undefined);
  const rows = workloads.map(({ kind, name, pods, stored, template }) => {
    const of = stored?.metadata.name ?? (template === undefined ? 'nothing' : 'template');
    return `${kind}/${name}: ${pods} of ${of}`;
  });
  return { rows: rows.sort(), entries: [...entries], notes };
}

describe('the workloads of a cluster', () => {
  it('have the newest of their live pods', async () => {
    const at = (creationTimestamp: string) => ({ metadata: { creationTimestamp, managedFields: [{}] } });
    const { rows } = await read([
      podOf('db-0', set, at('2026-01-02T00:00:00Z')),
      podOf('db-1', set, at('2026-01-03T00:00:00Z')),
      podOf('db-2', set, at('2026-01-01T00:00:00Z')),
      podOf('alone', undefined),
    ]);
    assert.deepEqual(rows, ['Pod/alone: 1 of alone', 'StatefulSet/db: 3 of db-1']);
  });

  it('do not count pods that ended or are being deleted', async () => {
    const { rows } = await read([
      podOf('db-0', set, { status: { phase: 'Succeeded' } }),
      podOf('db-1', set, { status: { phase: 'Failed' } }),
      podOf('db-2', set, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    ]);
    assert.deepEqual(rows, []);
  });

  it('without pods have the pod of their template', async () => {
    const template = { metadata: {}, spec: { containers: [] } };
    const finished = { conditions: [{ type: 'Complete', status: 'True' }] };
    const { rows } = await read([
      podOf('db-0', set),
      object('StatefulSet', 'db', { spec: { replicas: 3, template } }),
      object('Deployment', 'web', { spec: { replicas: 2, template } }),
      object('CronJob', 'night', { spec: { jobTemplate: { spec: { parallelism: 4, template } } } }),
      object('Job', 'once', { spec: { parallelism: 5, template } }),
      object('Job', 'done', { spec: { template }, status: finished }),
      object('Job', 'failed', { spec: { template }, status: { conditions: [{ type: 'Failed', status: 'True' }] } }),
      object('ReplicaSet', 'web-1', {
        spec: { template },
        metadata: {
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true }],
        },
      }),
      object('DaemonSet', 'agent', { spec: { template }, status: { desiredNumberScheduled: 7 } }),
    ]);
    assert.deepEqual(rows, [
      'CronJob/night: 4 of template',
      'DaemonSet/agent: 7 of template',
      'Deployment/web: 2 of template',
      'Job/once: 5 of template',
      'StatefulSet/db: 1 of db-0',
    ]);
  });

  it('name the configurations that injected them', async () => {
    const annotations = { [injectedByAnnotation]: 'logs.11111111,mesh.22222222,bad' };
    const { entries } = await read([podOf('db-0', set, { metadata: { annotations } }), podOf('alone', undefined)]);
    assert.deepEqual(entries, ['logs.11111111', 'mesh.22222222']);
  });

  it('that cannot be listed are named', async () => {
    const { notes } = await read([podOf('db-0', set)], 'CronJob');
    assert.deepEqual(notes, ['CronJobs cannot be listed, so those without pods are missing: no']);
    await assert.rejects(read([], 'Pod'), ApiError);
  });

  it('that ask for no number have one pod, and a DaemonSet without a status none', () => {
    const numbers = ['Deployment', 'Job', 'CronJob', 'DaemonSet'].map((kind) => replicasOf(object(kind, 'a')));
    assert.deepEqual(numbers, [1, 1, 1, 0]);
  });
});

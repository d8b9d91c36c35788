import type { PassedWrite } from '../../harness/faulty-proxy/faulty-proxy-worker.ts';

/**
 * Successful writes that said what the one before them on the same object had said already. Leases are renewed and Events are counted by being written
 * again; those do not count.
 */
export function duplicateWrites(writes: PassedWrite[]): string[] {
  const last = new Map<string, string>();
  const duplicates: string[] = [];
  for (const { verb, apiGroup, resource, subresource, namespace, name, body } of writes.filter(isCounted)) {
    const object = `${resource}.${apiGroup} ${namespace}/${verb === 'create' ? nameIn(body) : name} ${subresource}`;
    const said = verb === 'delete' ? 'deleted' : body;
    if (last.get(object) === said) duplicates.push(`${verb} ${object}`);
    last.set(object, said);
  }
  return duplicates;
}

export function isCounted({ status, resource }: PassedWrite): boolean {
  return status < 300 && !['leases', 'events'].includes(resource);
}

function nameIn(body: string): string {
  const { metadata } = JSON.parse(body) as { metadata?: { name?: string } };
  return metadata?.name ?? '';
}

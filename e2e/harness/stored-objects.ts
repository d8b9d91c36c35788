import type { EtcdCall } from './control-plane.ts';

/** An object as the API server stores it in etcd. Each byte of the value is one character. */
export interface StoredObject {
  /** Such as `/registry/pods/NAMESPACE/NAME`. */
  readonly key: string;
  readonly value: string;
}

/** Reads the stored form of an object. @throws Error when there is no such key */
export async function readStored(etcd: EtcdCall, key: string): Promise<StoredObject> {
  const { kvs = [] } = (await etcd('range', { key: base64(key) })) as { kvs?: { value: string }[] };
  const [found] = kvs;
  if (found === undefined) throw new Error(`etcd has no key ${key}`);
  return { key, value: Buffer.from(found.value, 'base64').toString('latin1') };
}

/**
 * Returns a copy with other names. The stored form contains the length of each text, so a text can
 * only be replaced by one of equal length. @throws Error for other lengths, and for unknown texts
 */
export function copyStored({ key, value }: StoredObject, texts: Readonly<Record<string, string>>): StoredObject {
  let copy = { key, value };
  for (const [from, to] of Object.entries(texts)) {
    if (from.length !== to.length) throw new Error(`${from} is not as long as ${to}`);
    if (!value.includes(from)) throw new Error(`${key} does not contain ${from}`);
    copy = { key: copy.key.replaceAll(from, to), value: copy.value.replaceAll(from, to) };
  }
  return copy;
}

/** Writes objects into etcd in one transaction. The API server learns of them by its watch. */
export async function writeStored(etcd: EtcdCall, objects: readonly StoredObject[]): Promise<void> {
  const success = objects.map(({ key, value }) => ({ requestPut: { key: base64(key), value: base64(value) } }));
  await etcd('txn', { success });
}

function base64(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('base64');
}

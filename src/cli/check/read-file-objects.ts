import type { KubernetesObject } from '../../api/kubernetes.ts';
import { readDocuments } from '../../inject/objects/read-documents.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { listItems } from '../../inject/objects/workload-kinds.ts';
import { readNamedFile } from '../files.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

/**
 * The objects of YAML or JSON files, those of Lists one by one.
 * @throws UsageError naming the file, and the line or the object
 */
export async function readFileObjects(terminal: Terminal, files: readonly string[]): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (const file of files) {
    const text = await readNamedFile(terminal, '--filename', file);
    let documents;
    try {
      documents = readDocuments(text);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UsageError(`--filename ${file}: not YAML: ${why}`, { cause: error });
    }
    for (const { document } of documents) objects.push(...objectsIn(document.toJS() as unknown, file));
  }
  return objects;
}

function objectsIn(value: unknown, file: string): KubernetesObject[] {
  if (value === null || value === undefined) return [];
  const isObject = isJsonObject(value) && typeof value.apiVersion === 'string' && typeof value.kind === 'string';
  if (!isObject) {
    throw new UsageError(`--filename ${file}: holds something without apiVersion and kind; give Kubernetes objects`);
  }
  const items = listItems(value);
  if (items !== undefined) return items.flatMap((item) => objectsIn(item, file));
  const { apiVersion, kind, metadata } = value as { apiVersion: string; kind: string; metadata?: unknown };
  return [{ ...value, apiVersion, kind, metadata: isJsonObject(metadata) ? metadata : {} }];
}

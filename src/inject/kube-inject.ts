import { Document, visit } from 'yaml';
import type { Injector } from './injector.ts';
import { editDocument, type DocumentEdit } from './objects/edit-document.ts';
import { describeObject, injectObject, type FileContext } from './objects/inject-object.ts';
import { readDocuments, type SourceDocument } from './objects/read-documents.ts';
import { listItems } from './objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from './patch/json-value.ts';

/** The result for a file. Each skipped workload adds a line with the reason to `warnings`. */
export type FileInjectionResult =
  | { readonly outcome: 'done'; readonly text: string; readonly warnings: readonly string[] }
  | {
      readonly outcome: 'failed';
      /** The object that failed, e.g. `Deployment "shop/web"`; empty if the file is unreadable. */
      readonly object: string;
      readonly message: string;
    };

/**
 * Injects every workload in a YAML file, including workloads in Lists. Other objects and unchanged
 * parts keep their text. `injector.semantics` selects the behavior of the webhook or the command.
 */
export function kubeInject(injector: Injector, text: string, context: FileContext = {}): FileInjectionResult {
  return editFile(text, (object) => {
    const result = injectObject(injector, object, context);
    if (result.outcome === 'failed') {
      // `istioctl kube-inject` prints Istio's message alone.
      const detail = injector.semantics === 'KubeInject' ? '' : (result.detail ?? '');
      return { failure: `${result.message}${detail}` };
    }
    if (result.outcome === 'injected') {
      const warnings = result.warnings.map((warning) => `${describeObject(object)}: ${warning}`);
      return { edits: result.edits, warnings };
    }
    const skipped = `===> Skipping injection because ${describeObject(object)} ${skipPhrase(result)}`;
    return { edits: [], warnings: [skipped] };
  });
}

/** The edits of one object, or why the file cannot be written. */
type ObjectEdits =
  { readonly edits: readonly DocumentEdit[]; readonly warnings: readonly string[] } | { readonly failure: string };

/** Edits the objects of a YAML file, also in Lists. Unchanged documents keep their text. */
export function editFile(text: string, editsOf: (object: JsonObject) => ObjectEdits): FileInjectionResult {
  let documents: SourceDocument[];
  try {
    documents = readDocuments(text);
  } catch (error) {
    return { outcome: 'failed', object: '', message: error instanceof Error ? error.message : String(error) };
  }
  const warnings: string[] = [];
  const texts: string[] = [];
  for (const source of documents) {
    const edits: DocumentEdit[] = [];
    const value: unknown = source.document.toJS();
    for (const { object, path } of objectsIn(value, [])) {
      const result = editsOf(object);
      if ('failure' in result) return { outcome: 'failed', object: describeObject(object), message: result.failure };
      warnings.push(...result.warnings);
      edits.push(...result.edits.map((edit) => ({ ...edit, path: [...path, ...edit.path] })));
    }
    const unchanged = source.text.endsWith('\n') ? source.text : `${source.text}\n`;
    texts.push(edits.length === 0 ? unchanged : rewrite(source.document, value, edits));
  }
  return { outcome: 'done', text: texts.join('---\n'), warnings };
}

/** Returns the objects in a document: the document itself, or a List's items at any depth. */
function objectsIn(value: unknown, path: readonly string[]): { object: JsonObject; path: readonly string[] }[] {
  if (!isJsonObject(value)) return [];
  const items = listItems(value);
  if (items === undefined) return [{ object: value, path }];
  return items.flatMap((item, index) => objectsIn(item, [...path, 'items', String(index)]));
}

/** Edits a document. Replaces aliases with copies first, so that an edit changes only one copy. */
function rewrite(document: Document, value: unknown, edits: readonly DocumentEdit[]): string {
  const aliases: unknown[] = [];
  visit(document, { Alias: (_, alias) => void aliases.push(alias) });
  const target = aliases.length > 0 ? new Document(value, { version: '1.1', aliasDuplicateObjects: false }) : document;
  editDocument(target, edits);
  return target.toString({ lineWidth: 0, directives: false, flowCollectionPadding: false });
}

/** Returns Istio's phrase for the two reasons that users search for, or else our phrase. */
function skipPhrase({ reason, message }: { readonly reason: string; readonly message: string }): string {
  if (reason === 'HostNetwork') return 'has host networking enabled';
  return reason.startsWith('OptedOut') ? `has sidecar injection disabled (${message})` : `is not selected (${message})`;
}

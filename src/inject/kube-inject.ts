import { Document, visit } from 'yaml';
import type { Injector } from './injector.ts';
import { editDocument, type DocumentEdit } from './objects/edit-document.ts';
import { describeObject, injectObject, type FileContext } from './objects/inject-object.ts';
import { readDocuments, type SourceDocument } from './objects/read-documents.ts';
import { listItems } from './objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from './patch/json-value.ts';

/** What became of a file. `warnings` holds a line per object that was left alone although it is a workload, with the reason. */
export type FileInjectionResult =
  | { readonly outcome: 'done'; readonly text: string; readonly warnings: readonly string[] }
  | {
      readonly outcome: 'failed';
      /** The object that cannot be injected, e.g. `Deployment "shop/web"`; empty when the file cannot be read. */
      readonly object: string;
      readonly message: string;
    };

/**
 * Injects every workload in a YAML file: documents, Lists, all kinds that make pods. Other objects, and the parts of a workload that do not
 * change, stay as they are written. Whether this follows Istio's webhook or its command is a property of the injector.
 */
export function kubeInject(injector: Injector, text: string, context: FileContext = {}): FileInjectionResult {
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
      const result = injectObject(injector, object, context);
      if (result.outcome === 'failed')
        return { outcome: 'failed', object: describeObject(object), message: result.message };
      if (result.outcome === 'skipped') {
        warnings.push(`===> Skipping injection because ${describeObject(object)} ${skipPhrase(result)}`);
        continue;
      }
      warnings.push(...result.warnings.map((warning) => `${describeObject(object)}: ${warning}`));
      edits.push(...result.edits.map((edit) => ({ ...edit, path: [...path, ...edit.path] })));
    }
    const asItWas = source.text.endsWith('\n') ? source.text : `${source.text}\n`;
    texts.push(edits.length === 0 ? asItWas : rewrite(source.document, value, edits));
  }
  return { outcome: 'done', text: texts.join('---\n'), warnings };
}

/** The objects of a document: itself, or the items of a List, which may be Lists again. */
function objectsIn(value: unknown, path: readonly string[]): { object: JsonObject; path: readonly string[] }[] {
  if (!isJsonObject(value)) return [];
  const items = listItems(value);
  if (items === undefined) return [{ object: value, path }];
  return items.flatMap((item, index) => objectsIn(item, [...path, 'items', String(index)]));
}

/** A node that stands in several places must not change in all of them: aliases are written out first. */
function rewrite(document: Document, value: unknown, edits: readonly DocumentEdit[]): string {
  const aliases: unknown[] = [];
  visit(document, { Alias: (_, alias) => void aliases.push(alias) });
  const target = aliases.length > 0 ? new Document(value, { version: '1.1', aliasDuplicateObjects: false }) : document;
  editDocument(target, edits);
  return target.toString({ lineWidth: 0, directives: false, flowCollectionPadding: false });
}

/** Two of Istio's phrases, which people look for, and ours. */
function skipPhrase({ reason, message }: { readonly reason: string; readonly message: string }): string {
  if (reason === 'HostNetwork') return 'has host networking enabled';
  return reason.startsWith('OptedOut') ? `has sidecar injection disabled (${message})` : `is not selected (${message})`;
}

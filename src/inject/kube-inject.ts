import type { Injector } from './injector.ts';
import { documentsOfFile } from './objects/documents-of-file.ts';
import { editedText } from './objects/edit-text.ts';
import { FileError, linesIn, positionAt } from './objects/file-error.ts';
import { describeObject, injectObject, type FileContext } from './objects/inject-object.ts';
import { type FilePart, mapParts, valueWith } from './objects/parts-of-file.ts';
import { listItems } from './objects/workload-kinds.ts';
import { jsonEqual } from './patch/json-equal.ts';
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
 * @param finish changes an injected object further, for example to record what it was before
 */
export function kubeInject(
  injector: Injector,
  text: string,
  context: FileContext = {},
  finish = (_before: JsonObject, after: JsonObject): JsonObject => after,
): FileInjectionResult {
  return editFile(text, (object) => {
    const result = injectObject(injector, object, context);
    if (result.outcome === 'failed') {
      // `istioctl kube-inject` prints Istio's message alone.
      const detail = injector.semantics === 'KubeInject' ? '' : (result.detail ?? '');
      throw new FileError(`${result.message}${detail}`, 0, 0, { object: describeObject(object) });
    }
    if (result.outcome === 'injected') {
      const warnings = result.warnings.map((warning) => `${describeObject(object)}: ${warning}`);
      return { object: result.object === object ? object : finish(object, result.object), warnings };
    }
    const skipped = `===> Skipping injection because ${describeObject(object)} ${skipPhrase(result)}`;
    return { object, warnings: [skipped] };
  });
}

/** Returns an object after an edit. @throws FileError if the file cannot be written */
type EditObject = (object: JsonObject) => { readonly object: JsonObject; readonly warnings: readonly string[] };

/**
 * Edits the objects of a file, also in Lists. What does not change keeps its bytes.
 * @param remark what to say of a part in which values are written
 */
export function editFile(text: string, edit: EditObject, remark?: string): FileInjectionResult {
  const warnings: string[] = [];
  const pieces: string[] = [];
  let at = 0;
  try {
    for (const { start, end, after, warnings: own } of mapParts(text, (part) => editPart(part, edit, remark))) {
      pieces.push(text.slice(at, start), after);
      at = end;
      for (const warning of own) warnings.push(warning);
    }
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { outcome: 'failed', object: error.object, message: error.message };
  }
  return { outcome: 'done', text: pieces.join('') + text.slice(at), warnings };
}

/** Returns what a part becomes; nothing if it stays without a warning. */
function editPart(part: FilePart, edit: EditObject, remark: string | undefined) {
  const warnings: string[] = [];
  const before = part.read();
  if (before !== null && !areObjects(before)) warnings.push(`line ${part.line}: ${notObject}`);
  const value = editValue(before, edit, warnings);
  if (value === before && warnings.length === 0) return [];
  const { start, text } = part;
  const after = value === before ? text : edited(part, before, value, warnings, remark);
  return [{ start, end: start + text.length, after, warnings }];
}

const notObject = 'kubectl refuses what has no kind and apiVersion; it stays as it is';

/** Reports whether kubectl takes a value for an object, or for a List of objects. */
function areObjects(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.kind !== 'string' || value.kind === '') return false;
  const items = listItems(value);
  return items === undefined
    ? typeof value.apiVersion === 'string' && /^[^/]+(?:\/[^/]+)?$/.test(value.apiVersion)
    : items.every(areObjects);
}

/** Edits an object, or a List's items at any depth. Returns the same value if nothing changes. */
function editValue(value: unknown, edit: EditObject, warnings: string[]): unknown {
  if (!isJsonObject(value)) return value;
  const items = listItems(value);
  if (items === undefined) {
    const result = edit(value);
    warnings.push(...result.warnings);
    return result.object;
  }
  const after = items.map((item) => editValue(item, edit, warnings));
  return after.every((item, index) => item === items[index]) ? value : { ...value, items: after };
}

/** Returns the text of a part after an edit. Reads it again: a wrong edit is refused. */
function edited(part: FilePart, before: unknown, after: unknown, warnings: string[], remark?: string): string {
  const { text, line } = part;
  try {
    const result = editedText(text, valueWith(part, before), valueWith(part, after));
    const [{ read } = { read: () => null }] = documentsOfFile(result.text);
    if (!jsonEqual(read(), valueWith(part, after))) throw new FileError('the result has other values', 1);
    let [at, current] = [0, line];
    for (const offset of result.writtenOut.toSorted((one, other) => one - other)) {
      current += linesIn(text, at, offset);
      at = offset;
      warnings.push(`line ${current}: an alias or a merge key was replaced by the values that it stands for`);
    }
    const [first] = result.written;
    if (remark !== undefined && first !== undefined)
      warnings.push(`line ${line - 1 + positionAt(text, first).line}${moreThan(result.written.length - 1)}: ${remark}`);
    return result.text;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const reason = `the document cannot be edited in place: ${error.reason}; write it in block style`;
    throw new FileError(reason, line - 1 + error.line, 0, { cause: error });
  }
}

function moreThan(count: number): string {
  return count === 0 ? '' : ` and ${count} more places`;
}

/** Returns Istio's phrase for the two reasons that users search for, or else our phrase. */
function skipPhrase({ reason, message }: { readonly reason: string; readonly message: string }): string {
  if (reason === 'HostNetwork') return 'has host networking enabled';
  return reason.startsWith('OptedOut') ? `has sidecar injection disabled (${message})` : `is not selected (${message})`;
}

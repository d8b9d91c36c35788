import type { Injector } from './injector.ts';
import { documentsOfFile } from './objects/documents-of-file.ts';
import { type EditedText, editedText, type WrittenValues } from './objects/edit-text.ts';
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
 * @param keep records how scalars of an object were written, which the injection has replaced
 */
export function kubeInject(
  injector: Injector,
  text: string,
  context: FileContext = {},
  finish = (_before: JsonObject, after: JsonObject): JsonObject => after,
  keep?: KeepTexts,
): FileInjectionResult {
  const edit: EditObject = (object) => {
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
  };
  return editFile(text, edit, undefined, keep);
}

type KeepTexts = (object: JsonObject, texts: WrittenValues) => JsonObject;

/** Returns an object after an edit, with the texts of its author. @throws FileError if it cannot */
type EditObject = (object: JsonObject) => { object: JsonObject; warnings: readonly string[]; texts?: WrittenValues };

/**
 * Edits the objects of a file, also in Lists. What does not change keeps its bytes.
 * @param remark what to say of a part in which values are written
 */
export function editFile(text: string, edit: EditObject, remark?: string, keep?: KeepTexts): FileInjectionResult {
  const warnings: string[] = [];
  const pieces: string[] = [];
  let at = 0;
  try {
    for (const { start, end, after, warnings: own } of mapParts(text, (part) => editPart(part, edit, remark, keep))) {
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
function editPart(part: FilePart, edit: EditObject, remark?: string, keep: KeepTexts = (object) => object) {
  const warnings: string[] = [];
  const texts: WrittenValues[number][] = [];
  const before = part.read();
  if (before !== null && !areObjects(before)) warnings.push(`line ${part.line}: ${notObject}`);
  const value = editValue(before, (object) => {
    const result = edit(object);
    warnings.push(...result.warnings);
    texts.push(...(result.texts ?? []));
    return result.object;
  });
  if (value === before && warnings.length === 0) return [];
  const { start, text } = part;
  const end = start + text.length;
  if (value === before || !isJsonObject(value)) return [{ start, end, after: text, warnings }];
  const first = edited(part, before, value, texts);
  const kept = first.lost.length === 0 ? value : keep(value, first.lost);
  const result = kept === value ? first : edited(part, before, kept, texts);
  warnings.push(...remarksOn(part, result, remark));
  return [{ start, end, after: result.text, warnings }];
}

const notObject = 'kubectl refuses what has no kind and apiVersion, or is a List in a List; it stays as it is';

/** Reports whether kubectl takes a value for an object, or for a List of objects. */
function areObjects(value: unknown, isItem = false): boolean {
  if (!isJsonObject(value) || typeof value.kind !== 'string' || value.kind === '') return false;
  const { apiVersion, items } = value;
  if (items !== undefined && !isItem) return listItems(value)?.every((item) => areObjects(item, true)) ?? false;
  return typeof apiVersion === 'string' && /^(?:[^/]*\/)?[^/]+$/.test(apiVersion) && !Array.isArray(items);
}

/** Edits an object, or the objects of a List. Returns the same value if nothing changes. */
function editValue(value: unknown, edit: (object: JsonObject) => JsonObject): unknown {
  if (!isJsonObject(value)) return value;
  const items = listItems(value);
  if (items === undefined) return edit(value);
  if (items.some((item) => isJsonObject(item) && Array.isArray(item.items))) return value;
  const after = items.map((item) => (isJsonObject(item) ? edit(item) : item));
  return after.every((item, index) => item === items[index]) ? value : { ...value, items: after };
}

/** Returns a part after an edit. Uses the author's texts if they still fit. @throws FileError */
function edited(part: FilePart, before: unknown, after: unknown, texts: WrittenValues): EditedText {
  const { text, line } = part;
  const value = valueWith(part, after);
  try {
    const result = editedText(text, valueWith(part, before), value, texts);
    const [{ read } = { read: () => null }] = documentsOfFile(result.text);
    // A wrong edit is refused.
    if (!jsonEqual(read(), value)) throw new FileError('the result has other values', 1);
    return result;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (texts.length > 0) return edited(part, before, after, []);
    const reason = `the document cannot be edited in place: ${error.reason}; write it in block style`;
    throw new FileError(reason, line - 1 + error.line, 0, { cause: error });
  }
}

/** Says what an edit has not kept. */
function remarksOn({ text, line }: FilePart, { writtenOut, written }: EditedText, remark?: string): string[] {
  let [at, current] = [0, line];
  const remarks: string[] = [];
  for (const offset of writtenOut.toSorted((one, other) => one - other)) {
    current += linesIn(text, at, offset);
    at = offset;
    remarks.push(`line ${current}: an alias or a merge key was replaced by the values that it stands for`);
  }
  const [first] = written;
  if (remark !== undefined && first !== undefined)
    remarks.push(`line ${line - 1 + positionAt(text, first).line}${moreThan(written.length - 1)}: ${remark}`);
  return remarks;
}

function moreThan(count: number): string {
  return count === 0 ? '' : ` and ${count} more places`;
}

/** Returns Istio's phrase for the two reasons that users search for, or else our phrase. */
function skipPhrase({ reason, message }: { readonly reason: string; readonly message: string }): string {
  if (reason === 'HostNetwork') return 'has host networking enabled';
  return reason.startsWith('OptedOut') ? `has sidecar injection disabled (${message})` : `is not selected (${message})`;
}

import { originalAnnotation } from '../../src/api/names.ts';
import { jsonEqual } from '../../src/inject/patch/json-equal.ts';
import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';
import type { FileInjectionResult } from '../../src/inject/kube-inject.ts';
import type { Run, Subject } from './subject.ts';

/** What kubectl reads in a file; main.go describes the fields. */
export interface Verdict {
  readonly error?: string;
  readonly refused?: readonly string[];
  readonly objects: readonly JsonObject[];
  readonly numbers?: readonly string[];
}

/** A fault, or something that the commands say themselves. */
export interface Finding {
  readonly kind: 'fault' | 'stricter' | 'kubectl ignores the rest' | 'not exact';
  readonly name: string;
  readonly detail?: string;
}

const fault = (name: string, detail = ''): Finding => ({ kind: 'fault', name, detail });

/** Compares a run with what kubectl reads in the file, after `inject`, and after `uninject`. */
export function findingOf(
  run: Run,
  subject: Subject,
  before: Verdict,
  after: Verdict,
  back: Verdict,
): Finding | undefined {
  const { injected } = run;
  if (injected.outcome === 'failed') return refusal(injected, subject, before);
  if (before.error !== undefined) return fault('accepted, and kubectl refuses', before.error);
  if (after.error !== undefined) return fault('kubectl refuses the result', after.error);
  const refused = before.refused?.length ?? 0;
  if ((after.refused?.length ?? 0) !== refused) return fault('another number of documents that are not objects');
  if (refused > 0 && !injected.warnings.some((warning) => warning.includes('kubectl refuses')))
    return fault('does not say that kubectl refuses a document', before.refused?.[0]);
  const expected = before.objects.map((object) => subject.expected(object));
  const failed = expected.find((each) => typeof each === 'string');
  if (failed !== undefined) return fault('accepted, and the engine refuses what kubectl reads', failed);
  const [is, should] = [comparable(after.objects), comparable(expected)];
  if (!jsonEqual(is, should)) return fault('other values', differing(is, should));
  if (!jsonEqual(before.numbers, after.numbers)) return fault('a large integer has changed');
  return textFinding(run, before.objects, after.objects) ?? exactness(run, before, back);
}

/**
 * Reads the records of what was overwritten: the order of their members does not matter. How values
 * were written is not a matter of values.
 */
function comparable(objects: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(objects), (name, value: unknown) => {
    if (name !== originalAnnotation || typeof value !== 'string') return value;
    const { texts, ...record } = JSON.parse(value) as JsonObject;
    return texts !== undefined && Object.keys(record).length === 0 ? undefined : record;
  });
}

/** Judges a refusal: by the engine, by kubectl too, or by the reader alone. */
function refusal({ message, object }: FileInjectionResult & { outcome: 'failed' }, subject: Subject, before: Verdict) {
  if (before.error !== undefined) return undefined;
  const failures = before.objects.map((each) => subject.expected(each)).filter((each) => typeof each === 'string');
  if (object !== '')
    return failures.length > 0 ? undefined : fault('refused by the engine, not so by kubectl’s values', message);
  const name = message.replaceAll(/line \d+(?:, column \d+)?|"[^"]*"|\d+/g, '_').slice(0, 150);
  // Where the indentation ends a document, kubectl reads no further, and says nothing.
  const isIgnored = message.includes('end of the stream or a document separator');
  return { kind: isIgnored ? 'kubectl ignores the rest' : 'stricter', name, detail: message } as const;
}

function textFinding({ file, injected }: Run, before: readonly JsonObject[], after: readonly JsonObject[]) {
  if (injected.outcome === 'failed') return undefined;
  let at = 0;
  for (const part of file.fixed) {
    const found = injected.text.indexOf(part, at);
    if (found < 0) return fault('text of another object has changed', JSON.stringify(part));
    at = found + part.length;
  }
  const isOfWindows = (text: string): boolean => !/(?<!\r)\n/.test(text);
  if (isOfWindows(file.text) && !isOfWindows(injected.text)) return fault('line ends of Unix in a file of Windows');
  const isWrittenOut = injected.warnings.some((warning) => warning.includes('was replaced by the values'));
  if (isWrittenOut || !before.every((object, index) => onlyAdds(object, after[index]))) return undefined;
  return isWithin(file.text, injected.text) ? undefined : fault('text is lost');
}

/** Reports whether one value has all that another has, in its order. */
function onlyAdds(before: unknown, after: unknown): boolean {
  if (jsonEqual(before, after)) return true;
  if (Array.isArray(before) && Array.isArray(after)) {
    const rest = [...(after as unknown[])];
    return (
      before.length > 0 &&
      before.every((item) => {
        for (let next = rest.shift(); next !== undefined; next = rest.shift()) if (onlyAdds(item, next)) return true;
        return false;
      })
    );
  }
  if (!isJsonObject(before) || !isJsonObject(after)) return false;
  const names = Object.keys(before);
  return names.length > 0 && names.every((name) => Object.hasOwn(after, name) && onlyAdds(before[name], after[name]));
}

/** Reports whether a text can be had from another by removals. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (let next = 0; next < whole.length && at < part.length; next += 1) if (whole[next] === part[at]) at += 1;
  return at === part.length;
}

function exactness({ file, injected, back }: Run, before: Verdict, values: Verdict): Finding | undefined {
  if (injected.outcome === 'failed' || back === undefined) return undefined;
  if (back.outcome === 'failed') return fault('uninject refuses what inject wrote', back.message);
  if (back.text === file.text) return undefined;
  const warnings = [...injected.warnings, ...back.warnings].filter(
    (each) => !/is not injected$|Skipping|nothing was/.test(each),
  );
  if (values.error === undefined && !jsonEqual(values.objects, before.objects))
    if (jsonEqual(withoutNulls(values.objects), withoutNulls(before.objects)))
      return { kind: 'not exact', name: 'a member without a value (null) vanishes' };
  const isLost = warnings.some((warning) => warning.includes('the original is not known'));
  if (!isLost && (values.error !== undefined || !jsonEqual(values.objects, before.objects)))
    return fault('uninject gives other values', values.error ?? differing(values.objects, before.objects));
  const [warning] = warnings;
  if (warning === undefined)
    return fault('uninject gives another text, and says nothing', firstDifference(file.text, back.text));
  return {
    kind: 'not exact',
    detail: firstDifference(file.text, back.text),
    name: warning.replaceAll(/line \d+|"[^"]*"|^\w+ _: |\d+/g, '_').slice(0, 150),
  };
}

function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, each: unknown) => each ?? undefined));
}

function differing(is: unknown, should: unknown, path = ''): string {
  if (isJsonObject(is) && isJsonObject(should))
    for (const name of new Set([...Object.keys(is), ...Object.keys(should)]))
      if (!jsonEqual(is[name], should[name])) return differing(is[name], should[name], `${path}.${name}`);
  if (Array.isArray(is) && Array.isArray(should) && is.length === should.length)
    for (const [index, item] of is.entries())
      if (!jsonEqual(item, should[index])) return differing(item, should[index], `${path}[${index}]`);
  return `${path}: ${JSON.stringify(is)} instead of ${JSON.stringify(should)}`;
}

function firstDifference(should: string, is: string): string {
  let at = 0;
  while (should[at] === is[at]) at += 1;
  const near = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 40), at + 60));
  return `${near(is)} instead of ${near(should)}`;
}

import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { firstDifference, type Mismatch } from './conformance-case.ts';
import type { Setting } from './golden.ts';
import type { WebhookAnswer } from './webhook-cases.ts';

/** What a deliberate difference may look at. */
export interface PodContext {
  readonly id: string;
  readonly setting: Setting;
  readonly answer: WebhookAnswer;
}

/** Where the engine differs from Istio on purpose: a class of rows, recognised in code. */
export interface DeliberateDifference {
  readonly name: string;
  readonly reason: string;
  /** Istio's pod as it would be without the defect; `undefined` where the defect does not show. */
  readonly correct: (wanted: JsonObject, context: PodContext) => JsonObject | undefined;
}

export const deliberateDifferences: readonly DeliberateDifference[] = [];

/** Compares two pods, and tells which deliberate difference explains where they part. */
export function explainPod(actual: JsonObject, wanted: JsonObject, context: PodContext): Mismatch | undefined {
  const summary = firstDifference(actual, wanted, '');
  if (summary === undefined) return undefined;
  for (const { name, correct } of deliberateDifferences) {
    const corrected = correct(wanted, context);
    if (corrected !== undefined && firstDifference(actual, corrected, '') === undefined)
      return { summary, difference: name };
  }
  return { summary };
}

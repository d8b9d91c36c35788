import { decide } from './decide.ts';
import { InjectionFailure } from './injection-failure.ts';
import type { InjectionRequest } from './injection-request.ts';
import type { InjectionResult } from './injection-result.ts';
import type { Injector } from './injector.ts';
import { readPodFacts } from './pod/pod-facts.ts';

/**
 * Injects one pod: decides, renders the templates, merges them onto the pod and finishes the result. Never throws and never changes the
 * request's pod; the same input always gives the same result.
 */
export function inject(injector: Injector, request: InjectionRequest): InjectionResult {
  try {
    const facts = readPodFacts(request.pod, request.namespace);
    const decision = decide(injector.rules, facts);
    if (!decision.inject) {
      const { reason, message, warnings } = decision;
      return { outcome: 'skipped', reason, message, warnings };
    }
    throw new InjectionFailure('TemplateFailed', 'the templates are not compiled yet');
  } catch (error) {
    if (error instanceof InjectionFailure) return { outcome: 'failed', reason: error.reason, message: error.message };
    return {
      outcome: 'failed',
      reason: 'Internal',
      message: `unexpected: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

import type { Random } from '../../../../scripts/template-recorder/random.ts';
import { validatePath } from '../../../../src/api/names.ts';
import {
  creation,
  framed,
  hostile,
  otherThan,
  review,
  word,
  type HostileClass,
  type HostileRequest,
  type HostileTarget,
  type Members,
} from '../materials.ts';

function submitted(random: Random, target: HostileTarget, object: unknown): HostileRequest {
  const request = {
    ...creation(random, object),
    kind: { group: 'sidecar-injector.io', version: 'v1alpha1', kind: 'InjectorConfig' },
    resource: { group: 'sidecar-injector.io', version: 'v1alpha1', resource: 'injectorconfigs' },
    name: word(random),
    namespace: '',
  };
  return { bytes: framed(target, JSON.stringify(review(request)), { path: `${validatePath}?timeout=10s` }) };
}

function config(random: Random, injection: unknown, spec: Members = {}): Members {
  return {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'InjectorConfig',
    metadata: { name: word(random) },
    spec: { injection, ...spec },
  };
}

/** What the webhook for InjectorConfigs is sent by those who mean it harm; the API server's schema would stop most of it before. */
export const objectsOfOurs: readonly HostileClass[] = [
  // The refusal names every field that is wrong.
  hostile('our-objects-of-wrong-types', '200 refused', (random, target) => {
    const wrong = random.pick<unknown>([
      null,
      otherThan(random, 'object'),
      config(random, otherThan(random, 'object')),
      config(random, { templates: otherThan(random, 'object') }),
      config(random, { templates: { [word(random)]: otherThan(random, 'string') } }),
      config(random, { template: '', delimiters: otherThan(random, 'list') }),
      config(random, { templates: { sidecar: '' }, policy: word(random) }),
      config(random, { templates: { sidecar: '' }, values: word(random) }, { webhook: otherThan(random, 'object') }),
    ]);
    return submitted(random, target, wrong);
  }),
  // A template that does not compile is a warning: it may be mended before it is published, and never is before.
  hostile('our-objects-with-broken-templates', '200 allowed', (random, target) => {
    const broken = random.pick([
      '{{ if }}',
      '{{ end }}',
      '{{ range .x }}',
      '{{',
      '{{ "unclosed }}',
      '{{ nobody 1 }}',
      '{{ .a.b.. }}',
      `{{ ${'('.repeat(300)} }}`,
      `{{ template "${word(random)}" . }}`,
      '{{ $x }}',
      '{{/* open',
      '{{ 1e999 }}',
    ]);
    return submitted(
      random,
      target,
      config(random, { templates: { sidecar: `spec: # ${word(random)}\n  ${broken}\n` } }),
    );
  }),
  // Templates are compiled within bounds, whatever they nest.
  hostile('our-objects-with-nested-templates', '200 allowed', (random, target) => {
    const levels = 50 + random.below(400);
    const text = `{{ if .${word(random)} }}`.repeat(levels) + '{{ end }}'.repeat(levels);
    return submitted(random, target, config(random, { templates: { sidecar: text } }));
  }),
];

import type { Random } from '../../../../scripts/template-recorder/random.ts';
import { validatePath } from '../../../../src/api/names.ts';
import { hostile, type HostileClass, type HostileRequest, type HostileTarget } from '../hostile-class.ts';
import { creation, framed, type Members, otherThan, review, word } from '../materials.ts';

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
  hostile(
    'our-objects-of-wrong-types',
    '200 refused',
    'the refusal names every field that is wrong',
    (random, target) => {
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
    },
  ),
  hostile(
    'our-objects-with-broken-templates',
    '200 allowed',
    'a template that does not compile is a warning: it may be mended before it is published, and never is before',
    (random, target) => {
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
    },
  ),
  hostile(
    'our-objects-with-nested-templates',
    '200 allowed',
    'templates are compiled within bounds, whatever they nest',
    (random, target) => {
      const levels = 50 + random.below(400);
      const text = `{{ if .${word(random)} }}`.repeat(levels) + '{{ end }}'.repeat(levels);
      return submitted(random, target, config(random, { templates: { sidecar: text } }));
    },
  ),
];

import { validatePath } from '../../../../src/api/names.ts';
import { framed, hostile, review, type Materials, type Members } from '../materials.ts';

/** Defines a class of objects for the webhook that validates InjectorConfigs. */
function submitted(name: string, expect: string, make: (random: Materials) => unknown) {
  return hostile(name, expect, (random, target) => {
    const request = {
      ...random.creation(make(random)),
      kind: { group: 'sidecar-injector.io', version: 'v1alpha1', kind: 'InjectorConfig' },
      resource: { group: 'sidecar-injector.io', version: 'v1alpha1', resource: 'injectorconfigs' },
      name: random.word(),
      namespace: '',
    };
    return { bytes: framed(target, JSON.stringify(review(request)), { path: `${validatePath}?timeout=10s` }) };
  });
}

function config(random: Materials, injection: unknown, spec: Members = {}): Members {
  return {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'InjectorConfig',
    metadata: { name: random.word() },
    spec: { injection, ...spec },
  };
}

/** Classes of hostile InjectorConfigs, most of which the API server's schema would refuse. */
export const objectsOfOurs = [
  // The refusal names every invalid field.
  submitted('our-objects-of-wrong-types', '200 refused', (random) =>
    random.pick<unknown>([
      null,
      random.otherThan('object'),
      config(random, random.otherThan('object')),
      config(random, { templates: random.otherThan('object') }),
      config(random, { templates: { [random.word()]: random.otherThan('string') } }),
      config(random, { template: '', delimiters: random.otherThan('list') }),
      config(random, { templates: { sidecar: '' }, policy: random.word() }),
      config(random, { templates: { sidecar: '' }, values: random.word() }, { webhook: random.otherThan('object') }),
    ]),
  ),
  // A template that does not compile gets a warning and is not published until a user fixes it.
  submitted('our-objects-with-broken-templates', '200 allowed', (random) => {
    const open = ['{{ if }}', '{{ range .x }}', '{{', '{{ "unclosed }}', '{{/* open', `{{ ${'('.repeat(300)} }}`];
    const unknown = ['{{ unknown 1 }}', `{{ template "${random.word()}" . }}`, '{{ $x }}'];
    const broken = random.pick([...open, ...unknown, '{{ end }}', '{{ .a.b.. }}', '{{ 1e999 }}']);
    return config(random, { templates: { sidecar: `spec: # ${random.word()}\n  ${broken}\n` } });
  }),
  // The cost of compiling a template is bounded, even for deeply nested templates.
  submitted('our-objects-with-nested-templates', '200 allowed', (random) => {
    const levels = 50 + random.below(400);
    const text = `{{ if .${random.word()} }}`.repeat(levels) + '{{ end }}'.repeat(levels);
    return config(random, { templates: { sidecar: text } });
  }),
];

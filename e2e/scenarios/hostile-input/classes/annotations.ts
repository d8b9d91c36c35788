import type { Random } from '../../../../scripts/template-recorder/random.ts';
import { hostile, type HostileClass, type HostileRequest, type HostileTarget } from '../hostile-class.ts';
import { bytes, creation, json, otherThan, pod, review, word } from '../materials.ts';

const refused = '200 refused';

/** A healthy pod with one more annotation. */
function annotated(random: Random, target: HostileTarget, name: string, value: string): HostileRequest {
  const object = pod(random);
  object.metadata.annotations[name] = value;
  return json(target, review(creation(random, object)));
}

/** YAML whose aliases multiply: nine times more with each level. */
function bomb(random: Random): string {
  const name = word(random, 4);
  const levels = 8 + random.below(20);
  const lines = [`${name}0: &${name}0 [${word(random)}, ${word(random)}]`];
  for (let level = 1; level < levels; level++) {
    const alias = `*${name}${level - 1}`;
    lines.push(`${name}${level}: &${name}${level} [${Array.from({ length: 9 }, () => alias).join(', ')}]`);
  }
  return `${lines.join('\n')}\nproxyMetadata: *${name}${levels - 1}\n`;
}

const checked: readonly [name: string, wrong: (random: Random) => string][] = [
  ['sidecar.istio.io/interceptionMode', word],
  ['sidecar.istio.io/proxyCPU', (random) => `${word(random)} cores`],
  ['status.sidecar.istio.io/port', (random) => String(70_000 + random.below(1_000_000))],
  ['traffic.sidecar.istio.io/excludeInboundPorts', (random) => `80,${word(random)}`],
  ['traffic.sidecar.istio.io/includeOutboundIPRanges', (random) => `10.0.0.${random.below(999)}/64`],
  ['readiness.status.sidecar.istio.io/periodSeconds', (random) => `-${random.below(100)}`],
];

/** What the authors of pods can write into the annotations that an injector reads. */
export const annotations: readonly HostileClass[] = [
  hostile(
    'annotation-yaml-bomb',
    refused,
    'aliases are bounded: the text is refused instead of being expanded',
    (random, target) => annotated(random, target, 'proxy.istio.io/config', bomb(random)),
  ),
  hostile('annotation-that-is-no-yaml', refused, 'the refusal names the annotation', (random, target) =>
    annotated(
      random,
      target,
      'proxy.istio.io/config',
      random.pick([
        `[${word(random)}`,
        `{a: ${word(random)}`,
        `\t${word(random)}: 1`,
        `"${word(random)}`,
        `- ${word(random)}`,
        `${word(random)}: [}`,
        `!!binary ${word(random)}`,
      ]),
    ),
  ),
  hostile('annotation-with-wrong-fields', refused, 'the refusal names the annotation and the field', (random, target) =>
    annotated(
      random,
      target,
      'proxy.istio.io/config',
      JSON.stringify({
        [random.pick(['concurrency', 'proxyMetadata', 'tracing', 'drainDuration', 'image'])]: random.pick<unknown>([
          [word(random)],
          `${word(random)} `,
          [{}],
        ]),
      }),
    ),
  ),
  hostile(
    'annotation-of-wrong-value',
    refused,
    "Istio checks these annotations' values before a template sees them",
    (random, target) => {
      const [name, wrong] = random.pick(checked);
      return annotated(random, target, name, wrong(random));
    },
  ),
  hostile(
    'annotation-with-long-wrong-value',
    refused,
    'the refusal says what is wrong; neither it nor the log grows with what was sent',
    (random, target) =>
      annotated(random, target, random.pick(checked)[0], `${word(random, 20)} `.repeat(100 + random.below(500))),
  ),
  hostile(
    'annotation-of-unknown-templates',
    refused,
    'the refusal names the template that there is not',
    (random, target) =>
      annotated(
        random,
        target,
        'inject.istio.io/templates',
        random.pick([
          word(random, 20),
          `sidecar,${word(random)}`,
          '__proto__',
          'constructor',
          '../sidecar',
          bytes(random, 12).toString('latin1'),
        ]),
      ),
  ),
  hostile('annotation-of-bad-overrides', refused, 'the refusal names the annotation', (random, target) =>
    annotated(
      random,
      target,
      'proxy.istio.io/overrides',
      random.pick([
        word(random),
        `{"containers":${JSON.stringify(otherThan(random, 'list'))}}`,
        `{"containers":[${JSON.stringify(otherThan(random, 'object'))}]}`,
        `[${random.below(99)}]`,
        `{"containers":[{"name":${random.below(99)}}]}`,
        `{"containers":`,
      ]),
    ),
  ),
  hostile(
    'annotation-of-a-false-status',
    '200 patched',
    'a status that cannot be read says no more than that there was an injection',
    (random, target) =>
      annotated(
        random,
        target,
        'sidecar.istio.io/status',
        random.pick([
          word(random),
          '',
          `{"containers":${JSON.stringify(otherThan(random, 'list'))}}`,
          `{"containers":["__proto__","constructor","${word(random)}"]}`,
          '[]',
          'null',
          `{"initContainers":[[["${word(random)}"]]]}`,
        ]),
      ),
  ),
  hostile(
    'annotation-in-template-syntax',
    '200 patched',
    'what a template reads is text, never a template, and the template quotes it',
    (random, target) => {
      const evil = random.pick([
        '{{ .Values }}',
        '{{ template "sidecar" . }}',
        '"]}\n- name: evil\n  image: ',
        "'; drop table",
        '\n  hostNetwork: true\n#',
        '*alias',
        '&anchor x',
        '!!js/function',
        '---\n',
        '${HOME}',
      ]);
      return annotated(random, target, 'example.com/guard-note', `${evil}${word(random, 8)}`);
    },
  ),
];

import type { Random } from '../../../../scripts/template-recorder/random.ts';
import { bytes, hostilePod, otherThan, word, type HostileClass, type PodMembers } from '../materials.ts';

const refused = '200 refused';

function annotated(object: PodMembers, name: string, value: string): PodMembers {
  object.metadata.annotations[name] = value;
  return object;
}

function hostileNote(name: string, expect: string, annotation: string, value: (random: Random) => string) {
  return hostilePod(name, expect, (random, object) => annotated(object, annotation, value(random)));
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
  // Aliases are bounded: the text is refused instead of being expanded.
  hostileNote('annotation-yaml-bomb', refused, 'proxy.istio.io/config', bomb),
  hostileNote('annotation-that-is-no-yaml', refused, 'proxy.istio.io/config', (random) =>
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
  hostileNote('annotation-with-wrong-fields', refused, 'proxy.istio.io/config', (random) =>
    JSON.stringify({
      [random.pick(['concurrency', 'proxyMetadata', 'tracing', 'drainDuration', 'image'])]: random.pick<unknown>([
        [word(random)],
        `${word(random)} `,
        [{}],
      ]),
    }),
  ),
  // Istio checks these annotations' values before a template sees them.
  hostilePod('annotation-of-wrong-value', refused, (random, object) => {
    const [name, wrong] = random.pick(checked);
    return annotated(object, name, wrong(random));
  }),
  // The refusal says what is wrong; neither it nor the log grows with what was sent.
  hostilePod('annotation-with-long-wrong-value', refused, (random, object) =>
    annotated(object, random.pick(checked)[0], `${word(random, 20)} `.repeat(100 + random.below(500))),
  ),
  // The refusal names the template that there is not.
  hostileNote('annotation-of-unknown-templates', refused, 'inject.istio.io/templates', (random) =>
    random.pick([
      word(random, 20),
      `sidecar,${word(random)}`,
      '__proto__',
      'constructor',
      '../sidecar',
      bytes(random, 12).toString('latin1'),
    ]),
  ),
  hostileNote('annotation-of-bad-overrides', refused, 'proxy.istio.io/overrides', (random) =>
    random.pick([
      word(random),
      `{"containers":${JSON.stringify(otherThan(random, 'list'))}}`,
      `{"containers":[${JSON.stringify(otherThan(random, 'object'))}]}`,
      `[${random.below(99)}]`,
      `{"containers":[{"name":${random.below(99)}}]}`,
      `{"containers":`,
    ]),
  ),
  // A status that cannot be read says no more than that there was an injection.
  hostileNote('annotation-of-a-false-status', '200 patched', 'sidecar.istio.io/status', (random) =>
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
  // What a template reads is text, never a template, and the template quotes it.
  hostileNote('annotation-in-template-syntax', '200 patched', 'example.com/guard-note', (random) => {
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
    return `${evil}${word(random, 8)}`;
  }),
];

/**
 * Tries hostile annotations, labels and names on the templates of examples/. The engine must refuse
 * each value and name the field, or inject the value only as a value. On deliberately unsafe
 * templates, the values must add containers or privileges only if preset Safe's check is off.
 *
 *     hostile-annotations.ts [--count 100000] [--seed 1]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { parseInjectorConfig } from '../src/api/injector-config/parse-injector-config.ts';
import { loadInjector, type Injector } from '../src/inject/injector.ts';
import { configurationFiles, type ReferencedTexts } from '../src/manifests/configuration-files.ts';
import { authorFields } from './hostile/author-fields.ts';
import { noFigures, runHostile, type HostileFigures, type Target } from './hostile/hostile-run.ts';
import { Random } from './template-recorder/random.ts';

/** Deliberately unsafe templates. */
const unsafeTemplates = parse(
  readFileSync(new URL('hostile/unsafe-templates.yaml', import.meta.url), 'utf8'),
) as Readonly<Record<string, string>>;

const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const count = Number(values.count);
const random = new Random(Number(values.seed));

const targets = exampleTargets();
const figures = noFigures();
for (const target of targets) runHostile(target, random, Math.ceil(count / targets.length), 9, figures);
console.log(`${targets.length} examples: ${describe(figures)}`);

const [off, on] = (['Istio', 'Safe'] as const).map((preset) => {
  const found = noFigures();
  for (const [name, template] of Object.entries(unsafeTemplates)) {
    runHostile(unsafeTarget(name, template, preset), new Random(Number(values.seed)), 1000, 2, found);
  }
  return found;
}) as [HostileFigures, HostileFigures];
console.log(`unsafe templates, unchecked: ${describe(off)}`);
console.log(`unsafe templates, checked: ${describe(on)}`);

const checks: [name: string, holds: boolean][] = [
  [
    'the examples refuse each hostile value and name its field, or inject it only as a value',
    figures.different + figures.unnamed === 0,
  ],
  ['the examples refuse some values and accept some', figures.refused > 0 && figures.equal > 0],
  ['without the check, the unsafe templates add containers, volumes or privileges', off.escalated > 10],
  ['with the check, they add nothing', on.different + on.unnamed === 0 && on.refused > 100 && on.equal > 0],
];
for (const [name, holds] of checks) if (!holds) console.log(`FAIL ${name}`);
for (const example of [...figures.examples, ...on.examples]) console.log(example);
console.log(
  `${checks.filter(([, holds]) => holds).length} passed, ${checks.filter(([, holds]) => !holds).length} failed`,
);
if (checks.some(([, holds]) => !holds)) process.exitCode = 1;

function describe({ values: tried, pods, refused, equal, unnamed, different, escalated }: HostileFigures): string {
  return `${tried} values in ${pods} pods: ${refused} pods refused by name, ${equal} equal to harmless pods, ${different} different (${escalated} with an added container, volume or privilege), ${unnamed} refused without a name`;
}

function targetOf(name: string, injector: Injector): Target {
  const reads = injector.guard?.readsOf(injector.defaultTemplates);
  if (reads === undefined) throw new Error(`${name}: preset Istio checks nothing`);
  return { name, injector, fields: authorFields(injector, reads) };
}

/** Returns the InjectorConfigs of examples/. Sets preset Safe if they use Istio's ConfigMaps. */
function exampleTargets(): Target[] {
  const found: Target[] = [];
  for (const file of readdirSync('examples').filter((name) => name.endsWith('.yaml'))) {
    const objects = parseAllDocuments(readFileSync(`examples/${file}`, 'utf8')).map(
      (document) => document.toJS() as ExampleObject,
    );
    for (const object of objects) {
      if (object.kind !== 'InjectorConfig') continue;
      const config = parseInjectorConfig(object);
      const { annotationOverrides, configFrom } = config.spec.injection;
      const injection = {
        ...config.spec.injection,
        ...(configFrom && { annotationOverrides: { allow: [], ...annotationOverrides, preset: 'Safe' as const } }),
      };
      const files = configurationFiles({ ...config, spec: { ...config.spec, injection } }, references(objects));
      found.push(targetOf(`${file} ${config.metadata.name}`, loadInjector(files)));
    }
  }
  return found;
}

interface ExampleObject {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Returns the keys of all ConfigMaps in a file, to which its InjectorConfig may refer. */
function references(objects: readonly ExampleObject[]): ReferencedTexts {
  return Object.assign(
    {},
    ...objects.filter(({ kind }) => kind === 'ConfigMap').map(({ data }) => data),
  ) as ReferencedTexts;
}

function unsafeTarget(name: string, template: string, preset: 'Safe' | 'Istio'): Target {
  const load = (chosen: 'Safe' | 'Istio'): Injector =>
    loadInjector({
      config: JSON.stringify({ policy: 'enabled', templates: { sidecar: template } }),
      values: '',
      mesh: '',
      settings: JSON.stringify({ annotationOverrides: { preset: chosen } }),
    });
  const { fields } = targetOf(name, load('Safe'));
  const read = fields.filter((field) => field.name === 'example.com/team' || field.name === 'team');
  return { name, injector: load(preset), fields: read };
}

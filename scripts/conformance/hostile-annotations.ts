import { loadInjector, type Injector } from '../../src/inject/injector.ts';
import { authorFields } from '../hostile/author-fields.ts';
import { noFigures, runHostile } from '../hostile/hostile-run.ts';
import { Random } from '../template-recorder/random.ts';
import type { Golden, Setting } from './golden.ts';

/** Annotations that Istio validates, so that an administrator may allow them. */
const checkedByIstio = [
  'traffic.sidecar.istio.io/*',
  'sidecar.istio.io/interceptionMode',
  'sidecar.istio.io/capNetBindService',
];

/**
 * Tries hostile values on Istio's templates with preset Safe. The engine must refuse each value and
 * name the field, or inject the value only as a value. Returns a line with figures, and problems.
 */
export function hostileAnnotations(
  golden: Golden,
  count: number,
): { readonly line: string; readonly problems: readonly string[] } {
  const figures = noFigures();
  const random = new Random(1);
  const setups = (golden.json('_cross/setups.json') as (Setting & { readonly name: string })[]).slice(0, 3);
  const targets = setups.flatMap((setup) =>
    ['sidecar', 'gateway', 'grpc-agent'].flatMap((template) =>
      [[], checkedByIstio].flatMap((allow) => {
        const injector = safely(golden, setup, template, allow);
        const reads = injector.guard?.readsOf([template]);
        if (reads === undefined) return [];
        return [{ name: `${setup.name} ${template}`, injector, fields: authorFields(injector, reads) }];
      }),
    ),
  );
  for (const target of targets) runHostile(target, random, Math.ceil(count / targets.length), 6, figures);
  const { values, pods, refused, equal, unnamed, different, examples } = figures;
  return {
    line: `hostile values over Istio's templates, preset Safe: ${values} in ${pods} pods: ${refused} pods refused by name, ${equal} equal to harmless ones, ${different} different, ${unnamed} refused without a name`,
    problems:
      different + unnamed === 0 && refused > 0 && equal > 0
        ? []
        : ['hostile values: some are neither refused by name nor equal to harmless ones', ...examples],
  };
}

function safely(golden: Golden, setup: Setting, template: string, allow: readonly string[]): Injector {
  const files = golden.files(setup, 'default');
  const settings = { ...(JSON.parse(files.settings) as object), annotationOverrides: { preset: 'Safe', allow } };
  const config = files.config.replace(/^defaultTemplates:\n(?:- .*\n)*/m, `defaultTemplates: [${template}]\n`);
  return loadInjector({ ...files, config, settings: JSON.stringify(settings) });
}

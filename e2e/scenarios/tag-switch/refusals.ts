import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { badRevisionTags } from '../../../src/api/testdata/bad-revision-tags.ts';
import { refusalOf } from '../../harness/admissions.ts';
import { smallConfig } from '../../harness/injector-configs.ts';
import { revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** Checks that the API server refuses each invalid object, and names the field and a remedy. */
export async function checkRefusals(context: ScenarioContext): Promise<number> {
  const { client } = context;
  const second = smallConfig('second');
  second.spec['revision'] = 'v2';
  const custom = smallConfig('wide', { selection: 'Custom', objectSelector: { matchLabels: { team: 'a' } } });
  const rows: [what: string, object: KubernetesObject, message: RegExp][] = [
    [
      'a tag on an unknown revision',
      revisionTag('canary', 'v9'),
      /spec\.revision v9: no InjectorConfig .*existing names: .*v2.*create it, or name another one/,
    ],
    ['a tag on another tag', revisionTag('canary', 'prod'), /spec\.revision prod: no InjectorConfig/],
    [
      'a tag named like a revision',
      revisionTag('v2', 'default'),
      /metadata\.name: InjectorConfig v2 selects the same pods.*give the tag another name/,
    ],
    [
      'a revision named like a tag',
      smallConfig('prod'),
      /spec\.revision: RevisionTag prod selects the same pods.*choose another revision/,
    ],
    ['a duplicate revision', second, /spec\.revision: InjectorConfig v2 selects the same pods/],
    [
      'selectors that overlap with those of revisions',
      custom,
      /spec\.webhook\.selection: InjectorConfig .* selects the same pods/,
    ],
    ...badRevisionTags.map(({ title, name, spec, field, message }): [string, KubernetesObject, RegExp] => [
      title,
      { ...revisionTag(name, ''), spec: spec },
      new RegExp(`${field.replaceAll(/[[\].]/g, '\\$&')}.*(${message.source})`, 's'),
    ]),
  ];
  const checkRefused = async (what: string, write: () => Promise<unknown>, message: RegExp) => {
    await context.check(`the API server refuses ${what}`, async () => {
      const said = (await refusalOf(write)) ?? 'it was accepted';
      if (message.test(said)) return true;
      throw new Error(said);
    });
  };
  for (const [what, object, message] of rows)
    await checkRefused(what, () => client.create(object, { dryRun: true }), message);
  const moved = { spec: { revision: 'v9' } };
  const move = () => client.patch(revisionTag('prod', ''), 'merge', moved, { dryRun: true });
  await checkRefused('a move to an unknown revision', move, /spec\.revision v9: no InjectorConfig/);
  return rows.length + 1;
}

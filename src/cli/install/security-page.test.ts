import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { readChart } from './chart-files.ts';
import { renderChart } from './render-chart.ts';

const page = readFileSync('SECURITY.md', 'utf8');
const release = { name: 'injector', namespace: 'own', service: 'Helm' };

interface Role extends KubernetesObject {
  rules: { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }[];
}

/** Returns every right of the chart, in the format of the page's table. */
function rightsOf(chart: ReturnType<typeof readChart>): string[] {
  const operator = {
    restartWorkloads: true,
    updatePods: true,
    prepullPods: true,
    certificateSigningRequests: true,
    certManager: true,
    holdPods: true,
    openShift: true,
  };
  const some = [{ operator }, { mode: 'all', operator }, { operator, rbac: { configMapNamespaces: ['other'] } }];
  const roles = some.flatMap((values) =>
    renderChart(chart, release, values).objects.filter(({ kind }) => /^(Cluster)?Role$/.test(kind)),
  ) as Role[];
  const rights = roles.flatMap(({ metadata: { name = '', namespace }, rules }) =>
    rules.flatMap(({ apiGroups, resources, resourceNames = [], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.map((resource) => {
          const where = namespace === undefined ? 'cluster' : namespace === release.namespace ? 'own' : 'namespace';
          const what = [group === '' ? resource : `${resource}.${group}`, ...resourceNames].join(' ');
          return `${name.replace(/.*-/, '')}, ${where}: ${verbs.join(', ')} ${what}`;
        }),
      ),
    ),
  );
  // The controller writes this Role at run time.
  return [...new Set([...rights, 'serving, own: list, watch secrets sidecar-injector-N-serving'])].sort();
}

function rightsOnPage(text: string): string[] {
  const [, section = ''] = text.split('\n## Permissions\n');
  const rows = [...section.matchAll(/^\| (\w+, \w+) \| `([^`]+)` \| [^|]+ \| [^|]+ \|$/gm)];
  return rows.map(([, who = '', right = '']) => `${who}: ${right}`).sort();
}

/** Returns references to missing tests, and list items without a test. */
function mistakesOf(text: string): string[] {
  const files = { scenario: 'e2e/scenarios', gate: 'scripts/gates.ts', step: 'scripts/test.ts' };
  const read = (path: string): string =>
    path.endsWith('.ts')
      ? readFileSync(path, 'utf8')
      : readdirSync(path, { withFileTypes: true })
          .map(({ name }) => [`${path}/${name}`, `${path}/${name}/${name}.ts`])
          .flatMap(([file = '', ofFolder = '']) =>
            [file, ofFolder].filter((each) => each.endsWith('.ts') && existsSync(each)),
          )
          .map((file) => readFileSync(file, 'utf8'))
          .join('');
  const wrong = [...text.matchAll(/`(scenario|gate|step)\s+([^`]+)`/g)].filter(([, kind = '', name = '']) => {
    const title = name.replaceAll(/\s+/g, ' ');
    const source = read(files[kind as keyof typeof files]);
    return (
      name !== 'NAME' &&
      !['name: ', 'name = ', 'one(', 'summary('].some((start) => source.includes(`${start}'${title}'`))
    );
  });
  const tests = [...text.matchAll(/`(src\/[^`:]+\.test\.ts):\s+([^`]+)`/g)].filter(([, file = '', name = '']) => {
    const title = name.replaceAll(/\s+/g, ' ');
    return !existsSync(file) || !["'", '"'].some((quote) => read(file).includes(`it(${quote}${title}${quote}`));
  });
  const items = text.split('\n## Permissions\n')[1]?.split(/\n(?=- |\n)/) ?? [];
  const unproven = items.filter(
    (item) => item.startsWith('- ') && !/Tested\s+by\s+`(scenario|gate|step|src)/.test(item),
  );
  return [...[...wrong, ...tests].map(([reference]) => reference), ...unproven];
}

describe('SECURITY.md', () => {
  it('lists exactly the rights of the chart', () => {
    assert.deepEqual(rightsOnPage(page), rightsOf(readChart()));
  });

  it('detects an additional right of the chart', () => {
    const file = 'templates/role.yaml';
    const chart = readChart();
    const more = { ...chart, [file]: chart[file]?.replace('[services, configmaps]', '[services, pods]') ?? '' };
    assert.notDeepEqual(rightsOnPage(page), rightsOf(more));
  });

  it('names every hook of the chart', () => {
    const texts = Object.values(readChart()).join('\n');
    const hooks = [...texts.matchAll(/helm\.sh\/hook["']?: *(.*)/g)].map(([, hook = '']) => `\`${hook}\``);
    assert.deepEqual(page.match(/`(pre|post)-[a-z-]+`|`(test|crd-install)`/g), hooks);
  });

  it('names at least one existing test in each list item', () => {
    assert.deepEqual(mistakesOf(page), []);
  });

  for (const part of ['scenario roles', 'limits the duration of a Lease', 'gate safe-templates', 'step linear time']) {
    it(`detects a wrong name of the test ${part}`, () => {
      assert.notDeepEqual(mistakesOf(page.replaceAll(part, `${part} more`)), []);
    });
  }

  it('detects a list item without a test', () => {
    assert.deepEqual(mistakesOf(`${page}\n- All is well.`), ['- All is well.']);
  });
});

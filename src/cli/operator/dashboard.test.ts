import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { restartStatusSchema, rolloutStatusSchema } from '../../api/revision-tag/revision-tag.ts';
import { parseYaml } from '../../inject/yaml/parse-yaml.ts';
import { offeredMetrics, type OfferedMetric } from '../testdata/offered-metrics.ts';

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly (Target & { readonly datasource: { readonly uid: string } })[];
  readonly fieldConfig?: {
    readonly defaults: { readonly mappings?: readonly { readonly options: Record<string, { text: string }> }[] };
  };
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string; readonly titleFormat: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const file = '../../../charts/injector-operator/dashboards/sidecar-injector.json';
const dashboard = JSON.parse(readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8')) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const offered = new Map(offeredMetrics().map((metric) => [metric.name, metric]));

/** Labels that Prometheus adds to each sample. */
const ofTarget = ['job', 'instance'];

/** A use of a metric in a query, with its suffix and the labels of its selector. */
interface Use {
  readonly metric: OfferedMetric;
  readonly isRate: boolean;
  readonly suffix: string;
  readonly selected: readonly string[];
}

function usesIn(expression: string): Use[] {
  // The prefix excludes labels, functions, keywords and variables.
  const found = expression.matchAll(
    /((?:rate|increase)\()?\b((?:injector|sidecar)_\w+?)(_bucket|_sum|_count)?(?!\w)(\{[^}]*\})?/g,
  );
  return [...found].map(([text, rate, name = '', suffix = '', selector = '']) => {
    const metric = offered.get(name);
    assert.ok(metric, `${text}: there is no metric ${name}`);
    const selected = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label);
    return { metric, isRate: rate !== undefined, suffix, selected };
  });
}

function labelsOf({ metric, suffix }: Use): string[] {
  return [...metric.labels, ...ofTarget, ...(suffix === '_bucket' ? ['le'] : [])];
}

const queries = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target }))),
  ...dashboard.annotations.list.map(({ expr, titleFormat }) => ({
    title: 'annotation',
    expr,
    legendFormat: titleFormat,
  })),
];
const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
const variables = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);

describe('the alerts of the chart', () => {
  interface Alert {
    readonly alert: string;
    readonly expr: string;
    readonly labels: { readonly severity: string };
    readonly annotations: Record<string, string>;
  }
  const { groups } = parseYaml(read('charts/injector-operator/files/alerts.yaml')) as { groups: { rules: Alert[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules);

  for (const { alert, expr, labels, annotations } of alerts) {
    it(`${alert} uses existing metrics and labels, and shows labels of the result`, () => {
      assert.match(labels.severity, /^(?:critical|warning|info)$/);
      const uses = usesIn(expr);
      assert.notEqual(uses.length, 0);
      for (const use of uses)
        for (const label of use.selected) assert.ok(labelsOf(use).includes(label), `${use.metric.name}: ${label}`);
      const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
      const shown = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
      for (const label of shown) assert.ok(kept.includes(label) || expr.startsWith('(up == 0)'), label);
    });
  }

  it('each have a section in the runbook, and a name in the values schema', () => {
    const names = alerts.map(({ alert }) => alert);
    const sections = [...read('docs/runbook-alerts.md').matchAll(/^## (Sidecar\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(sections, names);
    const schema = read('charts/injector-operator/values.schema.json');
    const known = [...schema.matchAll(/"(SidecarInjector\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(known, [...names, ...names]);
  });
});

describe('the Grafana dashboard', () => {
  for (const { title, expr, legendFormat } of queries) {
    it(`${title}: ${expr.slice(0, 60).replaceAll(/\s+/g, ' ')} uses existing metrics and labels`, () => {
      const uses = usesIn(expr);
      assert.notEqual(uses.length, 0, expr);
      for (const use of uses) {
        const labels = labelsOf(use);
        for (const label of use.selected) assert.ok(labels.includes(label), `${use.metric.name} has no label ${label}`);
        assert.equal(use.isRate, use.metric.type !== 'gauge', `${use.metric.name} is a ${use.metric.type}`);
        assert.equal(use.suffix !== '', use.metric.type === 'histogram', expr);
        assert.ok(use.selected.includes('job'), `${expr}: the query has no job selector`);
      }
      const groups = [...expr.matchAll(/\bby \(([^)]*)\)/g)].map(([, group = '']) => group.split(/,\s*/));
      for (const label of groups.flat()) {
        const exists = uses.some((use) => labelsOf(use).includes(label));
        assert.ok(exists, `${expr}: nothing has a label ${label}`);
      }
      // The outermost aggregation determines the labels of the result.
      const kept = /^(?:topk\(\d+, )?\w+ by \(([^)]*)\)/.exec(expr)?.[1]?.split(/,\s*/) ?? [];
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        assert.ok(kept.includes(label), `{{${label}}}`);
      if (!expr.startsWith('histogram_quantile(')) {
        for (const label of kept) assert.ok(legendFormat.includes(`{{${label}}}`), `the legend lacks ${label}`);
      }
      for (const [, variable = ''] of expr.matchAll(/\$(\w+)/g)) {
        const known = [...dashboard.templating.list.map(({ name }) => name), '__rate_interval'];
        assert.ok(known.includes(variable), `there is no variable ${variable}`);
      }
      assert.deepEqual([...expr.matchAll(/[({[]/g)].length, [...expr.matchAll(/[)}\]]/g)].length, expr);
    });
  }

  it('fills its variables from existing metrics and labels', () => {
    assert.ok(variables.length >= 3);
    for (const definition of variables) {
      const [use, ...others] = usesIn(definition);
      const label = /, (\w+)\)$/.exec(definition)?.[1] ?? '';
      assert.ok(use && others.length === 0 && labelsOf(use).includes(label), definition);
      for (const each of use.selected) assert.ok(labelsOf(use).includes(each), definition);
    }
  });

  it('shows every metric of rollouts and restarts', () => {
    const shown = new Set(
      panels
        .flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => usesIn(expr)))
        .map(({ metric }) => metric.name),
    );
    const expected = [...offered.keys()].filter((name) => /^injector_(rollout|restart)/.test(name));
    assert.ok(expected.length >= 10);
    const missing = expected.filter((name) => !shown.has(name));
    assert.deepEqual(missing, []);
  });

  for (const [metric, phases] of [
    ['injector_rollout_phase', rolloutStatusSchema.shape.phase.options],
    ['injector_restart_phase', restartStatusSchema.shape.phase.options],
  ] as const) {
    it(`has a number and a text for each phase of ${metric}`, () => {
      const panel = panels.find(({ targets }) => targets?.[0]?.expr.includes(metric));
      const expression = panel?.targets?.[0]?.expr ?? '';
      const terms = [...expression.matchAll(/phase="(\w+)"\}\) \* (\d+)/g)];
      const texts = panel?.fieldConfig?.defaults.mappings?.[0]?.options ?? {};
      assert.deepEqual(terms.map(([, phase]) => phase).sort(), [...phases].sort());
      assert.deepEqual(Object.keys(texts).length, terms.length);
      for (const [, phase, code = ''] of terms) assert.equal(texts[code]?.text, phase);
    });
  }

  it('has unique panels that do not overlap and use the selected data source', () => {
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
    assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
    for (const { title, datasource, targets = [] } of panels) {
      for (const uid of [datasource, ...targets.map((target) => target.datasource)].map((each) => each?.uid)) {
        assert.equal(uid, '${datasource}', title);
      }
    }
    const cells = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      assert.ok(gridPos.x + gridPos.w <= 24, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          assert.ok(!cells.has(`${x} ${y}`), `${title} lies over another panel`);
          cells.add(`${x} ${y}`);
        }
      }
    }
  });
});

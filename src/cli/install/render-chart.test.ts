import assert from 'node:assert/strict';
import { readChart } from './chart-files.ts';
import { mergeValues, setValues, type ChartValues } from './chart-values.ts';
import { renderChart } from './render-chart.ts';

const release = { name: 'injector', namespace: 'system', service: 'Helm' };

describe('install: values', () => {
  const sets: [text: string, expected: ChartValues | RegExp][] = [
    ['a=1,b.c=x,d[1]=y,e={f,2,null}', { a: 1n, b: { c: 'x' }, d: [null, 'y'], e: ['f', 2n, null] }],
    ['a=TRUE,b=null,c=0,d=007,e=1.5,f=-3,g=', { a: true, b: null, c: 0n, d: '007', e: '1.5', f: -3n, g: '' }],
    ['a=9223372036854775807,b=9223372036854775808', { a: 9223372036854775807n, b: '9223372036854775808' }],
    [String.raw`a\.b=c\,d,e={x\,y}`, { 'a.b': 'c,d', e: ['x,y'] }],
    ['list[0].name=z,list[2]=q', { list: [{ name: 'z', old: 1 }, 'two', 'q'] }],
    ['list.a=1', /a: the existing value has another type/],
    ['b', /"b" is not KEY=VALUE/],
    ['a={b', /"\{b" is not KEY=VALUE/],
  ];
  for (const [text, expected] of sets) {
    it(`${expected instanceof RegExp ? 'refuses' : 'applies'} --set ${text}`, () => {
      const old = text.startsWith('list') ? { list: [{ name: 'a', old: 1 }, 'two'] } : {};
      if (expected instanceof RegExp) assert.throws(() => setValues(old, text), expected);
      else assert.deepEqual(setValues(old, text), expected);
    });
  }

  it('are merged by key, and null removes a default', () => {
    const merged = mergeValues({ a: { b: 1 }, c: [1], e: 1 }, { a: { d: null }, c: [2], e: null });
    assert.deepEqual(merged, { a: { b: 1, d: null }, c: [2], e: null });
    const whole = mergeValues({ a: { d: 1, x: {} }, c: [0], e: 2, f: 3 }, merged, true);
    assert.deepEqual(whole, { a: { b: 1, x: {} }, c: [2], f: 3 });
  });

  // scripts/baseline.ts compares the results with helm.
  const refusals: [values: ChartValues, problem: RegExp][] = [
    [
      { mode: 'both', replicas: 2 },
      /^mode: the chart requires enum \["split","all"\]; replicas: the chart has no such value; existing names: .*, mode, /,
    ],
    [
      { operator: { webhookPort: 1023n, class: 'A' } },
      /operator\.class: .* pattern .*operator\.webhookPort: .* minimum 1024/,
    ],
    [
      { imagePullSecrets: [{ name: '' }, {}] },
      /imagePullSecrets\[0\]\.name: .* minLength 1; imagePullSecrets\[1\]: .* required/,
    ],
    [{ commonLabels: { 'helm.sh/chart': 'x' }, runAsUser: 'a' }, /commonLabels: .* propertyNames.*runAsUser: .* type /],
    [{ podDisruptionBudget: { maxUnavailable: 0 } }, /podDisruptionBudget\.maxUnavailable: .* minimum 1/],
    [
      { operator: { drainSeconds: 40 } },
      /templates\/deployment\.yaml:2:4: .*operator\.drainSeconds \(40\) must be shorter/,
    ],
  ];
  for (const [values, problem] of refusals) {
    it(`refuses ${JSON.stringify(values, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each))}`, () => {
      assert.throws(() => renderChart(readChart(), release, values), { message: problem });
    });
  }

  it('reports unsupported functions and keywords by file and line', () => {
    const other = (name: string, text: string) => () => renderChart({ ...readChart(), [name]: text }, release, {});
    assert.throws(other('templates/x.yaml', 'a: 1\nb: {{ lookup "v1" }}'), /templates\/x\.yaml:2: function "lookup"/);
    assert.throws(other('values.schema.json', '{"if": {}}'), /keyword if is not supported/);
  });

  it("renders CRDs first, and the rest in helm's order", () => {
    const { objects } = renderChart(readChart(), release, { metrics: { serviceMonitor: { enabled: true } } });
    const kinds = [...new Set(objects.map(({ kind }) => kind))].join(' ');
    assert.match(kinds, /^Custom\w+ PodDis\w+ ServiceAccount ClusterRole .* Deployment Mut\w+ ServiceMonitor Val/);
  });

  // The kubelet starts a probe every period, and its worker can just have missed the moment.
  it('replaces a frozen process within 30 s, and no process that answers once in 14 s', () => {
    const deployments = renderChart(readChart(), release, {}).objects.filter(({ kind }) => kind === 'Deployment');
    assert.equal(deployments.length, 2);
    for (const { spec } of deployments as unknown as RenderedDeployment[]) {
      const [{ startupProbe: startup, livenessProbe: liveness }] = spec.template.spec.containers;
      const failing = (liveness.failureThreshold - 1) * liveness.periodSeconds + liveness.timeoutSeconds;
      assert.ok(failing >= 14);
      const killed = failing + liveness.periodSeconds + liveness.terminationGracePeriodSeconds;
      assert.ok(killed + startup.initialDelaySeconds + startup.periodSeconds <= 26);
    }
  });
});

interface RenderedDeployment {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [Container] } } };
}

interface Container {
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe & { readonly terminationGracePeriodSeconds: number };
}

interface Probe {
  readonly initialDelaySeconds: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

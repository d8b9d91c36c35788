/**
 * Generates promtool rule tests from scrapes of replicas. The series have the names, labels and
 * values of the scrapes. Each minute, counters (not gauges) grow as between the two scrapes.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { paths } from '../e2e/harness/paths.ts';

/** The text of `/metrics` by replica; undefined for a replica that did not answer. */
export type Scrape = ReadonlyMap<string, string | undefined>;

/** Scrapes before and after an event, and the alerts that must fire: `Name label="value",…`. */
export interface AlertCase {
  readonly name: string;
  readonly before: Scrape;
  readonly after: Scrape;
  readonly raises: readonly string[];
  /** How long the series last, in hours. The default, 3, exceeds the longest `for` of an alert. */
  readonly hours?: number;
}

export const alertsFile = join(paths.chart, 'files', 'alerts.yaml');
const job = 'job="sidecar-injector-metrics"';
/** The labels that identify the object of an alert. */
const objectLabels = 'alertname, injector, tag, server_name, instance, type, reason, subject';

/** Returns the names of all alerts of the chart. */
export function alertNames(): string[] {
  const { groups } = load(readFileSync(alertsFile, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
  return groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
}

/** Returns the samples of the metrics that the alerts query, by series. */
function samples(scrape: Scrape): Map<string, { readonly value: number; readonly isCounter: boolean }> {
  const found = new Map<string, { value: number; isCounter: boolean }>();
  const queried = new Set(readFileSync(alertsFile, 'utf8').match(/\binjector_\w+/g));
  for (const [instance, text] of scrape) {
    const target = `${job},instance="${instance}"`;
    found.set(`up{${target}}`, { value: text === undefined ? 0 : 1, isCounter: false });
    const types = new Map([...(text ?? '').matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name, type]) => [name, type]));
    for (const [, name = '', labels = '', value = ''] of (text ?? '').matchAll(
      /^(injector_\w+)(?:\{(.*)\})? (\S+)$/gm,
    )) {
      if (!queried.has(name)) continue;
      const series = `${name}{${[labels, target].filter((part) => part !== '').join(',')}}`;
      found.set(series, { value: Number(value), isCounter: types.get(name) !== 'gauge' });
    }
  }
  return found;
}

const slow = 'SidecarInjectorSlow';

/** Reports whether to check SidecarInjectorSlow, which any fault may raise on a busy machine. */
function countsSlow({ raises }: AlertCase): boolean {
  return raises.length === 0 || raises.includes(slow);
}

function inputSeries({ before, after, hours = 3 }: AlertCase) {
  const earlier = samples(before);
  return [...samples(after)].map(([series, { value, isCounter }]) => {
    const gained = isCounter ? value - (earlier.get(series)?.value ?? 0) : 0;
    // A restarted replica counts from zero.
    return { series, values: `${value}+${gained < 0 ? value : gained}x${hours * 60}` };
  });
}

/**
 * Runs `promtool test rules`: each case must raise its alerts and no others.
 *
 * @throws Error with the output of promtool
 */
export async function testAlerts(promtool: string, cases: readonly AlertCase[], file: string): Promise<true> {
  const tests = cases.map((each) => ({
    name: each.name,
    interval: '1m',
    start_timestamp: Math.floor(Date.now() / 1000),
    input_series: inputSeries(each),
    promql_expr_test: [
      {
        expr: `group by (${objectLabels}) (ALERTS{alertstate="firing"${countsSlow(each) ? '' : `,alertname!="${slow}"`}})`,
        eval_time: `${(each.hours ?? 3) * 60 - 30}m`,
        exp_samples: each.raises.map((raised) => {
          const [name, labels = ''] = raised.split(' ');
          return { labels: `{alertname="${name}",${labels}}`, value: 1 };
        }),
      },
    ],
  }));
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files: [alertsFile], evaluation_interval: '1m', tests }));
  const run = promisify(execFile);
  await run(promtool, ['check', 'rules', '--lint=all', '--lint-fatal', alertsFile]);
  await run(promtool, ['test', 'rules', file], { maxBuffer: 1 << 26 }).catch((error: unknown) => {
    throw new Error((error as { stderr?: string }).stderr ?? String(error), { cause: error });
  });
  return true;
}

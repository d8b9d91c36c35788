/**
 * Makes promtool's tests of what replicas answered to scrapes. Names, labels and values of the series are those of the scrapes; their course is made of
 * them: what a counter gained between two scrapes it gains every minute, what a gauge said last it goes on saying.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { paths } from '../e2e/harness/paths.ts';

/** The text of `/metrics` by replica; undefined for one that did not answer. */
export type Scrape = ReadonlyMap<string, string | undefined>;

/** What replicas said before and after something happened, and which alerts that is to raise: `Name label="value",…`. */
export interface AlertCase {
  readonly name: string;
  readonly before: Scrape;
  readonly after: Scrape;
  readonly raises: readonly string[];
  /** Hours for which it stays so; those of the longest `for` unless told. */
  readonly hours?: number;
}

export const alertsFile = join(paths.chart, 'files', 'alerts.yaml');
const job = 'job="sidecar-injector-metrics"';
/** The labels that say which object an alert is about. */
const about = 'alertname, injector, tag, server_name, instance, type, reason, subject';

/** The names of all alerts. */
export function alertNames(): string[] {
  const { groups } = load(readFileSync(alertsFile, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
  return groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
}

/** Samples of the metrics that alerts ask for, by series. */
function samples(scrape: Scrape): Map<string, { readonly value: number; readonly grows: boolean }> {
  const found = new Map<string, { value: number; grows: boolean }>();
  const wanted = new Set(readFileSync(alertsFile, 'utf8').match(/\binjector_\w+/g));
  for (const [instance, text] of scrape) {
    const target = `${job},instance="${instance}"`;
    found.set(`up{${target}}`, { value: text === undefined ? 0 : 1, grows: false });
    const types = new Map([...(text ?? '').matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name, type]) => [name, type]));
    for (const [, name = '', labels = '', value = ''] of (text ?? '').matchAll(
      /^(injector_\w+)(?:\{(.*)\})? (\S+)$/gm,
    )) {
      if (!wanted.has(name)) continue;
      const series = `${name}{${[labels, target].filter((part) => part !== '').join(',')}}`;
      found.set(series, { value: Number(value), grows: types.get(name) !== 'gauge' });
    }
  }
  return found;
}

const slow = 'SidecarInjectorSlow';

/** Whether a slow admission is a finding: a busy machine makes the few of a fault slow in truth. */
function isCalm({ raises }: AlertCase): boolean {
  return raises.length === 0 || raises.includes(slow);
}

function inputSeries({ before, after, hours = 3 }: AlertCase) {
  const earlier = samples(before);
  return [...samples(after)].map(([series, { value, grows }]) => {
    const gained = grows ? value - (earlier.get(series)?.value ?? 0) : 0;
    // A replica that was started again counts from zero.
    return { series, values: `${value}+${gained < 0 ? value : gained}x${hours * 60}` };
  });
}

/**
 * Runs `promtool test rules`: each case raises its alerts and no others.
 *
 * @throws Error with what promtool says
 */
export async function testAlerts(promtool: string, cases: readonly AlertCase[], file: string): Promise<true> {
  const tests = cases.map((each) => ({
    name: each.name,
    interval: '1m',
    start_timestamp: Math.floor(Date.now() / 1000),
    input_series: inputSeries(each),
    promql_expr_test: [
      {
        expr: `group by (${about}) (ALERTS{alertstate="firing"${isCalm(each) ? '' : `,alertname!="${slow}"`}})`,
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

import { readFileSync } from 'node:fs';
import { lintConfiguration } from '../../src/explain/lint/lint-configuration.ts';
import type { Golden, Setting } from './golden.ts';

/**
 * Lints each recorded configuration of Istio. Every finding in a template of Istio must be in the
 * table of docs/lint.md, by rule and template, and every row of the table must be found.
 */
export function lintedConfigurations(golden: Golden, names: readonly string[]): { line: string; problems: string[] } {
  const page = readFileSync('docs/lint.md', 'utf8');
  const rows = page.matchAll(/^\| \[`([\w-]+)`\]\(lint\/[\w-]+\.md\) \| `([\w-]+)` \|/gm);
  const documented = new Set([...rows].map(([, rule = '', template = '']) => `${rule} in ${template}`));
  const templates = new Set([...documented].map((row) => row.split(' in ')[1]));
  const settings = new Map<string, Setting>();
  for (const name of names) {
    const setting = golden.json(`${name}/case.json`) as Setting;
    settings.set(JSON.stringify([setting.config, setting.values, setting.mesh]), setting);
  }
  const found = new Set<string>();
  for (const setting of settings.values()) {
    for (const { rule, template = 'sidecar' } of lintConfiguration(golden.files(setting, 'default')))
      if (templates.has(template)) found.add(`${rule} in ${template}`);
  }
  return {
    line: `lint: ${settings.size} configurations of Istio, ${found.size} kinds of findings in its templates`,
    problems: [
      ...[...found].filter((row) => !documented.has(row)).map((row) => `lint: docs/lint.md lacks ${row}`),
      ...[...documented].filter((row) => !found.has(row)).map((row) => `lint: not found: ${row}, of docs/lint.md`),
    ],
  };
}

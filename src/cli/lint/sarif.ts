import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lintRules } from '../../explain/lint/rules.ts';
import { programVersion } from '../version.ts';
import type { PlacedFinding } from '../../explain/lint/lint-files.ts';

const home = 'https://github.com/sidecar-injector/sidecar-injector';

/**
 * Returns findings as a SARIF 2.1.0 log (OASIS), which GitHub and other services show in pull
 * requests.
 */
export function sarifLog(findings: readonly PlacedFinding[]): object {
  const ids = Object.keys(lintRules);
  const rules = Object.entries(lintRules).map(([id, { level, title, why, repair }]) => ({
    id,
    name: id.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text: title },
    fullDescription: { text: `${title} ${why}` },
    help: { text: repair.replaceAll('`', ''), markdown: repair },
    helpUri: `${home}/blob/main/docs/lint/${id}.md`,
    defaultConfiguration: { level },
  }));
  const results = findings.map(({ file, line, column, level, object, message, rule }) => ({
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    level,
    message: { text: `${object === '' ? '' : `${object}: `}${message}.` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: artifactOf(file),
          region: { startLine: line, startColumn: column },
        },
      },
    ],
  }));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'injector lint', semanticVersion: programVersion, informationUri: home, rules } },
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  };
}

/** Relative paths stay relative to the root of the repository, as services expect. */
function artifactOf(file: string): object {
  if (file === '-') return { uri: 'stdin' };
  return {
    uri: isAbsolute(file) ? pathToFileURL(file).href : encodeURI(file.replaceAll('\\', '/').replace(/^\.\//, '')),
  };
}

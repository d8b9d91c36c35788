import { customResourceDefinitions } from '../../api/crd.ts';
import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseYaml } from '../../inject/yaml/parse-yaml.ts';
import { any, string } from '../../template/exec/parameters.ts';
import {
  goFunction,
  meteredFunction,
  type FunctionTable,
  type GoFunction,
} from '../../template/functions/go/go-function.ts';
import { decodeJson } from '../../template/functions/go/json-decode.ts';
import { encodeYaml } from '../../template/functions/go/yaml-encode.ts';
import { sprigFunctions } from '../../template/functions/sprig/sprig-functions.ts';
import type { GoMethod, StructType } from '../../template/go-type.ts';
import { compileTemplate, type Template } from '../../template/template.ts';
import { property, typed } from '../../template/typed-value.ts';
import type { ChartFiles } from './chart-files.ts';
import { mergeValues, type ChartValues } from './chart-values.ts';
import { schemaMistakes, type Schema } from './values-schema.ts';

/** The values of `.Release` in templates. */
interface Release {
  readonly name: string;
  readonly namespace: string;
  /** The manager that applies the release: `Helm`, or `injector`. */
  readonly service: string;
}

/** The rendered chart. */
interface RenderedChart {
  readonly version: string;
  /** In the order of application: CRDs, then helm's order. */
  readonly objects: KubernetesObject[];
  /** The notes for users. */
  readonly notes: string;
}

/** Helm's order for the kinds of our chart, after CRDs; other kinds follow by name. */
const installOrder = [
  ...['CustomResourceDefinition', 'NetworkPolicy', 'PodDisruptionBudget', 'ServiceAccount', 'ConfigMap', 'ClusterRole'],
  ...['ClusterRoleBinding', 'Role', 'RoleBinding', 'Service', 'Deployment'],
];

/** The sprig functions that our chart uses; any other function is an error. */
const sprigNames = [
  ...['contains', 'default', 'dict', 'fail', 'has', 'int', 'list', 'lower', 'merge', 'mergeOverwrite'],
  ...['nindent', 'quote', 'replace', 'ternary', 'toJson', 'trim', 'trimSuffix', 'trunc', 'uniq'],
];
const functions: FunctionTable = {
  ...Object.fromEntries(Object.entries(sprigFunctions).filter(([name]) => sprigNames.includes(name))),
  fromJsonArray: sprigFunctions['fromJson'] as GoFunction,
  fromYaml: goFunction([string], (text) => parseYaml(text)),
  toYaml: meteredFunction([any], (meter, value) => encodeYaml(value, meter).replace(/\n$/, '')),
};

const filesType: StructType = {
  kind: 'struct',
  name: 'engine.files',
  fields: [],
  methods: { Get: { parameters: [string], result: string, call: property as GoMethod['call'] } },
};

/**
 * Renders the chart as `helm template --no-hooks` does.
 * @throws ConfigurationError for values that violate the schema, TemplateError for a failing
 *   template
 */
export function renderChart(files: ChartFiles, release: Release, userValues: ChartValues): RenderedChart {
  const text = (name: string): string => files[name] ?? '';
  const chart = parseYaml(text('Chart.yaml')) as { name: string; version: string; appVersion: string };
  const values = mergeValues(parseYaml(text('values.yaml')) as ChartValues, userValues, true);
  const mistakes = schemaMistakes(decodeJson(text('values.schema.json')) as Schema, values);
  if (mistakes.length > 0) throw new ConfigurationError('values', mistakes.join('; '));
  // Replaces files/crds, which scripts/generate.ts writes.
  const definitions = customResourceDefinitions().map(({ metadata: { name = '' }, spec }) => {
    return [`files/crds/${name}.yaml`, `spec: ${JSON.stringify(spec)}`];
  });
  const data = {
    Values: values,
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: release.name, Namespace: release.namespace, Service: release.service },
    Files: typed(filesType, { ...files, ...Object.fromEntries(definitions) }),
  };
  const compile = (name: string, table: FunctionTable): Template =>
    compileTemplate(text(name), { name: `${chart.name}/${name}`, functions: table, missingKey: 'zero' });
  const include: GoFunction = goFunction([string, any], (name, dot) => helpers.execute(dot, {}, name));
  const helpers = compile('templates/_helpers.tpl', { ...functions, include });
  const render = (name: string): string =>
    compile(name, { ...functions, include })
      .execute(data)
      .replaceAll('<no value>', '');
  const objects = Object.keys(files)
    .filter((name) => /^templates\/.*\.yaml$/.test(name))
    .flatMap((name) => render(name).split(/^---[ \t]*/m))
    .flatMap((document) => (parseYaml(document) ?? []) as KubernetesObject)
    .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined);
  // Kinds unknown to helm come last, by name.
  const rank = ({ kind }: KubernetesObject): string =>
    installOrder.includes(kind) ? String(installOrder.indexOf(kind)).padStart(2, '0') : kind;
  objects.sort((one, other) => (rank(one) < rank(other) ? -1 : Number(rank(one) > rank(other))));
  const notes = render('templates/NOTES.txt');
  return { version: chart.version, objects, notes };
}

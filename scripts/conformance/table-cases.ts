import type { LabelSelector } from '../../src/api/kubernetes/kubernetes.ts';
import { systemNamespaces } from '../../src/api/kubernetes/system-namespaces.ts';
import { quantityProblem } from '../../src/inject/annotations/annotation-values.ts';
import { annotationProblems, validatedAnnotations } from '../../src/inject/annotations/validate-annotations.ts';
import { decide } from '../../src/inject/decide.ts';
import { scrapeTargets } from '../../src/inject/finish/prometheus-merge.ts';
import { normalisePod } from '../../src/inject/kubernetes/typed-pod.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { escapeGoJson } from '../../src/template/functions/go/json-encode.ts';
import { parseStatus } from '../../src/inject/pod/injection-status.ts';
import { useNativeSidecars } from '../../src/inject/pod/native-sidecars.ts';
import { parsePathEnvironment } from '../../src/inject/pod/path-environment.ts';
import type { EnvironmentVariable, Named, Pod } from '../../src/inject/pod/pod.ts';
import { readPrometheusAnnotations } from '../../src/inject/pod/prometheus-annotations.ts';
import { workloadOf } from '../../src/inject/pod/workload.ts';
import { encodeProbers, listProbers } from '../../src/inject/probes/handlers.ts';
import { addProbers, isRewriteEnabled, rewriteProbes } from '../../src/inject/probes/take-over-probes.ts';
import { compileLabelSelector, type CompiledSelector } from '../../src/selection/label-selector.ts';
import { expectEqual, type ConformanceCase, type Mismatch, type RowComparison } from './conformance-case.ts';
import type { Golden } from './golden.ts';
import { functionTables } from './tables/function-tables.ts';
import { meshTables } from './tables/mesh-tables.ts';

interface DecisionRow {
  readonly config: {
    readonly policy: string;
    readonly alwaysInjectSelector?: LabelSelector[] | null;
    readonly neverInjectSelector?: LabelSelector[] | null;
  };
  readonly hostNetwork?: boolean;
  readonly metadata: {
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly required: boolean;
}

const compiled = (selector: LabelSelector): CompiledSelector => compileLabelSelector(selector, 'nothing');

const compareDecision: RowComparison = (row) => {
  const { config, hostNetwork, metadata, required } = row as DecisionRow;
  const decision = decide(
    {
      policy: config.policy,
      neverInject: (config.neverInjectSelector ?? []).map(compiled),
      alwaysInject: (config.alwaysInjectSelector ?? []).map(compiled),
      ignoredNamespaces: new Set(systemNamespaces),
      injectKey: 'sidecar.istio.io/inject',
    },
    {
      namespace: metadata.namespace ?? '',
      hostNetwork: hostNetwork ?? false,
      labels: metadata.labels ?? {},
      annotations: metadata.annotations ?? {},
    },
  );
  return expectEqual(decision.inject, required);
};

const modes = { auto: 'Auto', true: 'Enabled', false: 'Disabled' } as const;

/** Tables about whether and how a pod is injected. */
const decisionTables: Readonly<Record<string, RowComparison>> = {
  injectRequired: compareDecision,
  injectRequiredMatrix: compareDecision,
  injectRequiredSelectors: compareDecision,
  ignoredNamespaces: (row) => expectEqual(systemNamespaces.includes(row as string), true),
  detectNativeSidecar: (row) => {
    const { mode, nodes, podNodeName, out } = row as {
      mode: keyof typeof modes;
      nodes: { metadata: { name?: string }; status: { nodeInfo: { kubeletVersion: string } } }[];
      podNodeName: string;
      out: boolean;
    };
    const facts = nodes.map(({ metadata, status }) => ({
      name: metadata.name ?? '',
      kubeletVersion: status.nodeInfo.kubeletVersion,
    }));
    return expectEqual(useNativeSidecars(modes[mode], facts, podNodeName === '' ? undefined : podNodeName), out);
  },
};

/** Tables about the redirection of probes and hooks to the agent. */
const probeTables: Readonly<Record<string, RowComparison>> = {
  dumpAppProbers: (row) => {
    const { pod, out, targetPort } = row as { pod: JsonObject; out: string; targetPort: number };
    return expectEqual(encodeProbers(listProbers(normalisePod(pod) as Pod, targetPort)), out);
  },
  mergeOrAppendProbers: (row) => {
    const { env, out, previouslyInjected, probers } = row as {
      env: EnvironmentVariable[];
      out: EnvironmentVariable[];
      previouslyInjected: boolean;
      probers: string;
    };
    const entries = Object.entries(JSON.parse(probers) as JsonObject);
    const list = new Map(entries.map(([path, prober]) => [path, escapeGoJson(JSON.stringify(prober))]));
    return expectEqual(addProbers(previouslyInjected, env, list), out);
  },
  patchRewriteProbe: (row) => {
    const { pod, defaultPort, out } = row as { pod: JsonObject; defaultPort: number; out: JsonObject };
    return expectEqual(rewriteProbes(normalisePod(pod) as Pod, defaultPort), normalisePod(out));
  },
  shouldRewriteAppHTTPProbers: (row) => {
    const { annotations, specSetting, out } = row as {
      annotations: Record<string, string> | null;
      specSetting: boolean;
      out: boolean;
    };
    return expectEqual(isRewriteEnabled(normalisePod({ metadata: { annotations } }) as Pod, specSetting), out);
  },
};

/** Tables about the parsing of pods and webhook paths. */
const podTables: Readonly<Record<string, RowComparison>> = {
  deployMeta: (row) => {
    const { deploymentMeta, metadata, typeMeta } = row as {
      deploymentMeta: object;
      metadata: object;
      typeMeta: object;
    };
    return expectEqual(workloadOf(normalisePod({ metadata }) as Pod), { ...deploymentMeta, ...typeMeta });
  },
  parseInjectEnvs: (row) => {
    const { in: path, out } = row as { in: string; out: unknown };
    return expectEqual(Object.fromEntries(parsePathEnvironment(path)), out);
  },
  parseStatus: (row) => {
    const { status, out } = row as { status: string; out: { containers?: Named[]; initContainers?: Named[] } };
    const parsed = parseStatus(status);
    return expectEqual(
      { containers: [...(parsed?.containers ?? [])], initContainers: [...(parsed?.initContainers ?? [])] },
      {
        containers: (out.containers ?? []).map(({ name }) => name),
        initContainers: (out.initContainers ?? []).map(({ name }) => name),
      },
    );
  },
  getPrometheusScrapeConfiguration: (row) => {
    const { annotations, out } = row as { annotations: Record<string, string>; out: unknown };
    const pod = normalisePod({ metadata: { annotations } }) as Pod;
    const { scrape = '', path = '', port = '', targets: text } = readPrometheusAnnotations(pod);
    const targets = scrapeTargets(text);
    return expectEqual({ scrape, path, port, ...(targets.length > 0 && { targets }) }, out);
  },
};

interface ErrorRow {
  readonly error: string | null;
}

/** Tables about the validation of annotations. */
const annotationTables: Readonly<Record<string, RowComparison>> = {
  validateAnnotationMatrix: (row) => {
    const { annotation, value, error } = row as ErrorRow & { annotation: string; value: string };
    return compareErrors(annotationProblems({ [annotation]: value }), error);
  },
  validateAnnotations: (row) => {
    const { annotations, error } = row as ErrorRow & { annotations: Record<string, string> };
    return compareErrors(annotationProblems(annotations), error);
  },
  validateResourceQuantity: (row) => {
    const { value, error } = row as ErrorRow & { value: string };
    return expectEqual(quantityProblem(value) ?? null, error);
  },
  validatedAnnotations: (row) => expectEqual(validatedAnnotations.includes(row as string), true),
};

/** Compares errors, but not the messages from YAML parsers, which differ by parser. */
function compareErrors(actual: string | undefined, expected: string | null): Mismatch | undefined {
  const yaml = /(failed to convert to apply proxy config: yaml: )[^]*$/;
  return expectEqual(actual?.replace(yaml, '$1') ?? null, expected?.replace(yaml, '$1') ?? null);
}

/** The comparisons of rows, by the name of the table. */
const tables: Readonly<Record<string, RowComparison>> = {
  ...annotationTables,
  ...decisionTables,
  ...functionTables,
  ...meshTables,
  ...podTables,
  ...probeTables,
};

/** Returns the rows of all tables, which contain inputs and Istio's outputs. */
export function* tableCases(golden: Golden): Generator<ConformanceCase> {
  for (const [name, compare] of Object.entries(tables)) {
    const rows = golden.json(`_tables/${name}.json`) as unknown[];
    for (const [index, row] of rows.entries()) {
      yield { id: `_tables/${name}/${index}`, group: `tables/${name}`, run: () => compare(row) };
    }
  }
}

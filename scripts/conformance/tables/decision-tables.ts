import type { LabelSelector } from '../../../src/api/kubernetes/kubernetes.ts';
import { systemNamespaces } from '../../../src/api/kubernetes/system-namespaces.ts';
import { decide } from '../../../src/inject/decide.ts';
import { compileLabelSelector, type CompiledSelector } from '../../../src/selection/label-selector.ts';
import { useNativeSidecars } from '../../../src/inject/pod/native-sidecars.ts';
import { expectEqual } from '../conformance-case.ts';
import type { RowComparison } from '../table-cases.ts';

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

/** Whether a pod is injected, and how. */
export const decisionTables: Readonly<Record<string, RowComparison>> = {
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

import { normalisePod } from '../../../src/inject/kubernetes/typed-pod.ts';
import { scrapeTargets } from '../../../src/inject/finish/prometheus-merge.ts';
import { parseStatus } from '../../../src/inject/pod/injection-status.ts';
import { parsePathEnvironment } from '../../../src/inject/pod/path-environment.ts';
import type { Named, Pod } from '../../../src/inject/pod/pod.ts';
import { readPrometheusAnnotations, scrapeTargetsOf } from '../../../src/inject/pod/prometheus-annotations.ts';
import { workloadOf } from '../../../src/inject/pod/workload.ts';
import { expectEqual } from '../conformance-case.ts';
import type { RowComparison } from '../table-cases.ts';

/** What is read of pods and of paths. */
export const podTables: Readonly<Record<string, RowComparison>> = {
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
    const { scrape = '', path = '', port = '' } = readPrometheusAnnotations(pod);
    const targets = scrapeTargets(scrapeTargetsOf(pod));
    return expectEqual({ scrape, path, port, ...(targets.length > 0 && { targets }) }, out);
  },
};

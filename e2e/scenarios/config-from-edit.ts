import type { AuditEvent } from '../harness/audit-log.ts';
import { dryRun } from '../harness/admissions.ts';
import { applyAll, applyObject } from '../harness/apply.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { barePod } from '../harness/workloads.ts';
import { istioConfig, istioConfigMaps, istioTexts, withTag } from './istio-templates/istio-texts.ts';

const revision = 'edited';

/** Until a trial process ends, in milliseconds: 15 s without work, and a margin. */
const untilIdle = 17_000;

export const configFromEdit: Scenario = {
  name: 'config-from-edit',
  about: "an edit of Istio's ConfigMap applies to all new pods; the scenario prints how long each step takes",
  run: async (context) => {
    const { client } = context;
    const { texts, source } = istioTexts();
    const replicas = await context.startReplicas();
    const namespace = await context.namespace('pods', { 'istio.io/rev': revision });
    await applyAll(client, istioConfigMaps(namespace, revision, texts));
    await applyUntilReady(client, istioConfig(namespace, revision));
    const edits: Record<string, number>[] = [];
    for (let edit = 0; edit < (context.size === 'full' ? 6 : 3); edit += 1) {
      // Most edits come after a long time without one, so the last edit alone finds warm processes.
      if (edit !== 2) await new Promise((resolve) => setTimeout(resolve, untilIdle));
      const audit = context.requireAudit();
      const tag = `edit-${edit}`;
      const [configMap] = istioConfigMaps(namespace, revision, withTag(texts, tag));
      const begun = Date.now();
      if (configMap !== undefined) await applyObject(client, configMap);
      await context.check(`pods have the tag of edit ${edit}`, async () =>
        JSON.stringify(await dryRun(client, barePod(namespace, 'pod'))).includes(tag),
      );
      edits.push(stepsOf(audit.events(), begun));
    }
    context.measured({ edits, replicas: replicas.webhooks.length });
    return `${edits.map(describe).join('; ')}; ${replicas.webhooks.length} replicas, ${source}`;
  },
};

/** Returns when the steps of an edit ended, in milliseconds since the edit. */
function stepsOf(events: readonly AuditEvent[], begun: number): Record<string, number> {
  let until = Date.now() - begun;
  const steps = { appliedMs: until };
  /** Returns when the operator last used a verb before the next step. */
  const last = (verbs: readonly string[], resource: string): number => {
    const times = events
      .filter(({ verb, userAgent = '' }) => verbs.includes(verb) && userAgent.startsWith('injector/'))
      .filter(({ objectRef }) => objectRef?.resource === resource)
      .map(({ stageTimestamp }) => Date.parse(stageTimestamp) - begun);
    until = Math.max(...times.filter((each) => each <= until));
    return until;
  };
  const publishedMs = last(['patch', 'update'], 'mutatingwebhookconfigurations');
  const servedMs = last(['update'], 'leases');
  const storedMs = last(['create', 'patch'], 'configmaps');
  const triedMs = last(['create'], 'pods');
  return { triedMs, storedMs, servedMs, publishedMs, ...steps };
}

function describe({ triedMs, storedMs, servedMs, publishedMs, appliedMs }: Record<string, number>): string {
  return `tried ${triedMs}, stored ${storedMs}, served ${servedMs}, published ${publishedMs}, applied ${appliedMs} ms`;
}

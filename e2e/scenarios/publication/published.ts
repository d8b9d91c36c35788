import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { objectNames } from '../../../src/api/names.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import {
  condition,
  injectorConfigs,
  waitForCondition,
  type InjectorConfigObject,
} from '../../harness/injector-configs.ts';
import { markDefect, markedConfig, marksOf } from '../../harness/load/marked-config.ts';
import type { PodDefect } from '../../harness/lost-admissions.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';

export const configName = 'edited';
/** A frozen replica costs the API server this long for each connection that it has to it. */
const webhook = { timeoutSeconds: 5 };

interface WebhookConfiguration extends KubernetesObject {
  webhooks: { clientConfig: { service?: { path: string } } }[];
}

/** What has been asked for, what is published, and what pods show of it. */
export class Published {
  readonly context: ScenarioContext;
  /** Marks of configurations that could be published; pods may show no others. */
  readonly good = new Set<string>();
  /** The mark that pods of each configuration showed, by `NAME.HASH`. */
  readonly marks = new Map<string, string>();
  readonly #namespace: string;

  constructor(context: ScenarioContext, namespace: string) {
    this.context = context;
    this.#namespace = namespace;
  }

  /** What is wrong with a stored pod: plain, a mixture, a mark that nobody published, or another mark than its configuration has. */
  inspect(pod: Pod): PodDefect | undefined {
    const defect = markDefect(pod, (mark) => this.good.has(mark));
    if (defect !== undefined) return defect;
    const { marks, configuration = 'none' } = marksOf(pod);
    const [mark = 'none'] = marks;
    const before = this.marks.get(configuration);
    this.marks.set(configuration, mark);
    if (before === undefined || before === mark) return undefined;
    return { kind: 'mixed', what: `configuration ${configuration} showed ${before} and shows ${mark}` };
  }

  /** Asks for a mark. */
  async ask(mark: string): Promise<void> {
    this.good.add(mark);
    await applyObject(this.context.client, markedConfig(configName, mark, { webhook }));
  }

  /** Asks for something that must not be published: a template that does not compile, one without an end, or a mesh that cannot be read. */
  async askBroken(kind: number): Promise<void> {
    const config = markedConfig(configName, 'broken', { webhook });
    const { injection } = config.spec;
    const broken = [
      { templates: { sidecar: 'spec:\n  {{ if }}' } },
      { templates: { sidecar: '{{ range .Values }}' } },
      { meshConfig: { defaultConfig: { discoveryAddress: 'broken' } } },
    ];
    config.spec.injection = { ...injection, ...broken[kind % broken.length] };
    await applyObject(this.context.client, config);
  }

  /** Waits until a mark is Ready and pods show it; returns the hash. */
  async waitFor(mark: string, timeout = 30_000): Promise<string> {
    const { client } = this.context;
    const { metadata } = await client.get<InjectorConfigObject>(injectorConfigs, configName);
    await waitForCondition(client, configName, 'Ready', 'True', metadata.generation, timeout);
    // The API server follows the webhook's path a few milliseconds late; and where a replica is frozen, asking takes more than one attempt.
    await waitFor('pods to show it', async () => found(await this.shown(), mark));
    return this.hash();
  }

  /** Waits until the operator says that what is asked for is broken. */
  async waitForRefusal(): Promise<void> {
    const { client } = this.context;
    const { metadata } = await client.get<InjectorConfigObject>(injectorConfigs, configName);
    await waitForCondition(client, configName, 'TemplatesValid', 'False', metadata.generation);
  }

  /** The mark that a pod of this moment shows. */
  async shown(): Promise<string> {
    return marksOf(await dryRun(this.context.client, barePod(this.#namespace, 'probe'))).marks.join(' and ');
  }

  /** The path that the webhook names now. */
  async hash(): Promise<string> {
    const kind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
    const name = objectNames(configName).webhookConfiguration;
    const { webhooks } = await this.context.client.get<WebhookConfiguration>(kind, name);
    return webhooks[0]?.clientConfig.service?.path ?? '';
  }

  /** Why it is not Ready, as its condition says. */
  async reason(): Promise<string> {
    const config = await this.context.client.get<InjectorConfigObject>(injectorConfigs, configName);
    const ready = condition(config, 'WebhookReady');
    return `${ready?.reason ?? ''}: ${ready?.message ?? ''}`;
  }
}

import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import { found } from '../../harness/wait-for.ts';
import { condition, injectorConfigs, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';
import { comparable, expectedPod, firstDifference, type Surroundings } from './expected-pod.ts';
import { injectorOf, istioConfigMaps, withTag, type IstioTexts } from './istio-texts.ts';

export interface EditedInstallation {
  config: InjectorConfigObject;
  /** The namespace of the ConfigMaps. */
  istio: string;
  revision: string;
  texts: IstioTexts;
  /** Namespaces without and with injection. */
  plain: string;
  mesh: string;
  around: Surroundings;
}

/** What becomes of edits of the ConfigMaps and of ProxyConfigs: good ones are followed, broken ones are told and change nothing. Returns their number. */
export async function checkEdits(context: ScenarioContext, installation: EditedInstallation): Promise<number> {
  const { client } = context;
  const { istio, revision, texts, mesh, around } = installation;
  const edit = async (changed: Partial<Record<keyof IstioTexts, string | null>>): Promise<void> => {
    const [config, meshConfig] = istioConfigMaps(istio, revision, texts) as [KubernetesObject, KubernetesObject];
    const { mesh: meshText, ...others } = changed;
    if (Object.keys(others).length > 0) await client.patch(config, 'merge', { data: others });
    if (meshText !== undefined) await client.patch(meshConfig, 'merge', { data: { mesh: meshText } });
  };

  const tagged = withTag(texts, 'edited');
  await edit({ values: tagged.values });
  const after = { ...around, injector: injectorOf(revision, tagged) };
  await checkPod(context, 'an edit of the values is followed', installation, after);

  const renamed = {
    ...tagged,
    mesh: `${texts.mesh.replace(/^trustDomain:.*$/m, '').trimEnd()}\ntrustDomain: edited.example\n`,
  };
  await edit({ mesh: renamed.mesh });
  const whole = { ...around, injector: injectorOf(revision, renamed) };
  await checkPod(context, 'so is one of the mesh config', installation, whole);

  const proxyConfig = {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'ProxyConfig',
    metadata: { name: 'seven', namespace: mesh },
    spec: { concurrency: 7, image: { imageType: 'distroless' } },
  };
  await applyObject(client, proxyConfig);
  const proxied = { ...whole, proxyConfigs: [proxyConfig] };
  await checkPod(context, 'a ProxyConfig is followed', installation, proxied);
  await context.check('and makes a difference', async () => {
    const [twin, pod] = await podAndTwin(client, installation);
    return firstDifference(comparable(pod), await expectedPod(client, whole, twin, pod)) !== '';
  });

  const broken: [
    says: string,
    changed: Partial<Record<keyof IstioTexts, string | null>>,
    type: string,
    message: RegExp,
  ][] = [
    [
      'a broken template is told with ConfigMap, key, line and column',
      { config: 'templates:\n  sidecar: "{{ if }}"\n' },
      'ConfigurationInvalid',
      new RegExp(`revision ${revision}.*key "config" of configmap "istio-sidecar-injector-.*line 1, column`),
    ],
    [
      'so are a config without templates',
      { config: 'policy: enabled\n' },
      'ConfigurationInvalid',
      /config\.defaultTemplates names "sidecar", which is not in config\.templates/,
    ],
    [
      'a broken mesh config',
      { mesh: 'defaultConfig: 7' },
      'ConfigurationInvalid',
      /key "mesh".*cannot parse mesh config/,
    ],
    ['broken values', { values: '[1]' }, 'ReferenceInvalid', /key "values" of configmap .* must be a JSON or YAML map/],
    [
      'a missing key',
      { mesh: null },
      'ReferenceInvalid',
      new RegExp(`missing configuration map key "mesh" in configmap "istio-${revision}"`),
    ],
    ['missing values', { values: null }, 'ReferenceInvalid', /missing configuration map key "values"/],
  ];
  for (const [says, changed, reason, message] of broken) {
    await edit(changed);
    await checkRefused(context, says, reason, message);
    await checkPod(context, 'and pods are injected as before', installation, proxied);
    await edit({ config: renamed.config, values: renamed.values, mesh: renamed.mesh });
    await checkReady(context);
  }

  const [, meshConfig] = istioConfigMaps(istio, revision, renamed) as [KubernetesObject, KubernetesObject];
  await client.delete(meshConfig);
  const gone = new RegExp(`could not read valid configmap "istio-${revision}" from namespace "${istio}"`);
  await checkRefused(context, 'so is a missing ConfigMap', 'ReferenceInvalid', gone);
  await client.create(meshConfig);
  await checkReady(context);
  await client.delete(proxyConfig);
  await checkPod(context, 'without the ProxyConfig pods are as before it', installation, whole);
  return broken.length + 5;

  async function checkRefused(context: ScenarioContext, says: string, reason: string, message: RegExp): Promise<void> {
    await context.check(says, async () => {
      const said = condition(await client.get<InjectorConfigObject>(injectorConfigs, revision), 'TemplatesValid');
      found(said?.reason ?? '', reason);
      return message.test(said?.message ?? '') || found(said?.message ?? '', message.source);
    });
  }

  async function checkReady(context: ScenarioContext): Promise<void> {
    await context.check('mended: Ready', async () => {
      const said = condition(await client.get<InjectorConfigObject>(injectorConfigs, revision), 'Ready');
      return found(said?.status ?? '', 'True');
    });
  }
}

/** A pod that is created now is what the engine makes of it in these surroundings. */
async function checkPod(
  context: ScenarioContext,
  says: string,
  installation: EditedInstallation,
  around: Surroundings,
): Promise<void> {
  const { client } = context;
  await context.check(says, async () => {
    const [twin, pod] = await podAndTwin(client, installation);
    return found(firstDifference(comparable(pod), await expectedPod(client, around, twin, pod)), '');
  });
}

/** The same pod as the API server would store it without and with injection. */
function podAndTwin(client: ApiClient, { plain, mesh }: EditedInstallation): Promise<[twin: Pod, pod: Pod]> {
  return Promise.all([dryRun(client, barePod(plain, 'edit')), dryRun(client, barePod(mesh, 'edit'))]);
}

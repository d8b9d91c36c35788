import { ConfigurationError } from '../../api/errors.ts';
import { apiVersion, injectorConfigKind } from '../../api/injector-config/injector-config.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
import { commandLine } from '../../api/command-line.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames, tagWebhookConfiguration } from '../../api/names.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { revisionTagKind } from '../../api/revision-tag/revision-tag.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';
import { parseTemplateConfig } from '../../inject/configuration/parse-injector-config.ts';
import { loadInjector } from '../../inject/injector.ts';
import { parsePathEnvironment } from '../../inject/pod/path-environment.ts';
import { valuesJson } from '../../manifests/values-json.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { istiodSettings, settingPaths } from '../../manifests/istiod-settings.ts';
import { functionCalls } from '../../template/parse/function-calls.ts';
import {
  callOf,
  type Incumbent,
  incumbentsIn,
  type IncumbentSelection,
  isDeactivated,
  selectionOf,
} from './incumbent-webhooks.ts';
import { environmentOf, istiodOf } from './istiod-deployment.ts';
import { standbyCondition } from './standby-condition.ts';

/** The objects of a cluster from which a plan is made. */
export interface IstioFacts {
  /** The namespace of istiod. */
  readonly namespace: string;
  /** All MutatingWebhookConfigurations. */
  readonly configurations: readonly KubernetesObject[];
  /** The ConfigMaps and Deployments in the namespace. */
  readonly configMaps: readonly KubernetesObject[];
  readonly deployments: readonly KubernetesObject[];
  /** The Deployments of an istiod that webhooks call by a URL; undefined if they are not given. */
  readonly elsewhere?: readonly KubernetesObject[] | undefined;
}

/** A setting of Istio's injector, and where the plan puts it. */
export interface PlannedSetting {
  /** The revision or tag. */
  readonly owner: string;
  readonly setting: string;
  readonly value: string;
  readonly goesTo: string;
}

export interface AdoptionPlan {
  /** InjectorConfigs, then RevisionTags. */
  readonly objects: readonly KubernetesObject[];
  readonly settings: readonly PlannedSetting[];
  /** Why nothing can be moved yet, each with what to do. */
  readonly refusals: readonly string[];
}

/** Collects the settings and refusals of one incumbent. */
class Findings {
  readonly settings: PlannedSetting[] = [];
  readonly refusals: string[] = [];
  readonly #owner: string;

  constructor(owner: string) {
    this.#owner = owner;
  }

  goes(setting: string, value: string, goesTo: string): void {
    this.settings.push({ owner: this.#owner, setting, value, goesTo });
  }
}

/** Plans InjectorConfigs and RevisionTags that inject the same pods as Istio's injector. */
export function planAdoption(facts: IstioFacts): AdoptionPlan {
  const incumbents = incumbentsIn(facts.configurations, facts.namespace);
  const active = incumbents.filter((each) => !isDeactivated(each));
  const revisions = active.filter(({ tag }) => tag === undefined);
  const planned = revisions.map((incumbent) => planRevision(incumbent, facts));
  const known = new Map(revisions.map((incumbent) => [incumbent.revision, incumbent]));
  const tags = active.flatMap((tag) => (tag.tag === undefined ? [] : [planTag(tag, tag.tag, known.get(tag.revision))]));
  const off = incumbents.filter(isDeactivated).map(({ name, tag, revision }) => {
    const goesTo = 'nothing: its webhooks select no pod';
    return { owner: tag ?? revision, setting: `MutatingWebhookConfiguration ${name}`, value: 'deactivated', goesTo };
  });
  const all = [...planned, ...tags];
  return {
    objects: all.flatMap(({ object }) => object ?? []),
    settings: [...all.flatMap(({ findings }) => findings.settings), ...off],
    refusals: all.flatMap(({ findings }) => findings.refusals),
  };
}

interface PlannedObject {
  readonly object?: KubernetesObject;
  readonly findings: Findings;
}

function planRevision(incumbent: Incumbent, facts: IstioFacts): PlannedObject {
  const { revision } = incumbent;
  const findings = new Findings(revision);
  const selection = ordered(incumbent, objectNames(revision).webhookConfiguration, findings);
  const texts = textsOf(revision, facts, findings);
  const webhook = webhookFields(incumbent, selection, findings);
  const istiod = istiodFields(incumbent, facts, texts?.values, findings);
  if (texts === undefined || selection === undefined || findings.refusals.length > 0) return { findings };
  const injection = {
    ...texts.references,
    ...istiod,
    ...(selection.enableNamespacesByDefault && { enableNamespacesByDefault: true }),
  };
  const object = { apiVersion, kind: injectorConfigKind, metadata: { name: revision }, spec: { injection, webhook } };
  refuseUnusable(object, texts, findings);
  return findings.refusals.length > 0 ? { findings } : { object, findings };
}

/** Checks the order of calls, and reads the selectors. */
function ordered(incumbent: Incumbent, ours: string, findings: Findings): IncumbentSelection | undefined {
  const { name } = incumbent;
  // The API server calls webhooks in the order of these names.
  if (name > ours)
    findings.refusals.push(
      `MutatingWebhookConfiguration ${name} sorts after ${ours}, so the API server would call our webhook first, and Istio's would change the injected pods; install Istio with a webhook whose name sorts before, such as istio-sidecar-injector`,
    );
  const selection = selectionOf(incumbent);
  if (typeof selection === 'string') {
    findings.refusals.push(
      `${selection}, so a revision would not select the same pods; apply Istio's chart again, or write an InjectorConfig with spec.webhook.selection Custom`,
    );
    return undefined;
  }
  const { excludedNamespaces, enableNamespacesByDefault, addedByAks } = selection;
  const isTag = incumbent.tag !== undefined;
  findings.goes('selectors', `those of ${isTag ? 'a tag' : 'a revision'}`, isTag ? 'a RevisionTag' : 'spec.revision');
  if (excludedNamespaces.length > 0)
    findings.goes('namespaceSelector', `not ${excludedNamespaces.join(', ')}`, 'spec.webhook.excludedNamespaces');
  for (const key of addedByAks) findings.goes('namespaceSelector', key, 'nothing: AKS also adds it to our webhooks');
  if (enableNamespacesByDefault)
    findings.goes(
      'webhook auto',
      'present',
      isTag ? 'spec.enableNamespacesByDefault' : 'spec.injection.enableNamespacesByDefault',
    );
  return selection;
}

/** The texts of Istio's ConfigMaps, and the fields that refer to them. */
type IstioTexts = Exclude<ReturnType<typeof textsOf>, undefined>;

function textsOf(revision: string, { namespace, configMaps }: IstioFacts, findings: Findings) {
  const end = revision === 'default' ? '' : `-${revision}`;
  const textOf = (name: string, key: string): string | undefined => {
    const found = configMaps.find(({ metadata }) => metadata.name === name);
    return (found?.data as Readonly<Record<string, string>> | undefined)?.[key];
  };
  const names = { injector: `istio-sidecar-injector${end}`, mesh: `istio${end}` };
  const texts = { config: textOf(names.injector, 'config'), values: textOf(names.injector, 'values') };
  const mesh = textOf(names.mesh, 'mesh');
  const { config, values } = texts;
  if (config === undefined || values === undefined) {
    const missing = config === undefined ? 'config' : 'values';
    findings.refusals.push(
      `ConfigMap ${namespace}/${names.injector} has no key ${missing}, from which istiod of revision ${revision} injects; apply Istio's chart again, or name the namespace of istiod with -i; if istiod runs elsewhere, copy the ConfigMap from there`,
    );
    return undefined;
  }
  const where = `ConfigMap ${namespace}/${names.injector}`;
  findings.goes(`${where}, key config`, `${config.length} characters`, 'spec.injection.configFrom');
  findings.goes(`${where}, key values`, `${values.length} characters`, 'read beside configFrom');
  const ofMesh = `ConfigMap ${namespace}/${names.mesh}, key mesh`;
  if (mesh === undefined) findings.goes(ofMesh, 'missing', "nothing: Istio's defaults");
  else findings.goes(ofMesh, `${mesh.length} characters`, 'spec.injection.meshConfigFrom');
  const references = {
    configFrom: { namespace, name: names.injector, key: 'config' },
    ...(mesh !== undefined && { meshConfigFrom: { namespace, name: names.mesh, key: 'mesh' } }),
  };
  return { config, values, ...(mesh !== undefined && { mesh }), references };
}

/** Returns the fields of `spec.webhook`. The last two make the InjectorConfig stand by. */
function webhookFields(incumbent: Incumbent, selection: IncumbentSelection | undefined, findings: Findings): object {
  const call = callOf(incumbent);
  const { name } = incumbent;
  if (typeof call === 'string') {
    findings.refusals.push(`${call}, but an InjectorConfig has one for all its webhooks; make them equal`);
    return {};
  }
  const { clientConfig = {}, matchConditions = [] } = call;
  const { url } = clientConfig;
  const path = url === undefined ? (clientConfig.service?.path ?? '/inject') : new URL(url).pathname;
  if (url !== undefined) findings.goes('url', url, 'nothing: our webhook calls our Service');
  if ((clientConfig.caBundle ?? '') === '')
    findings.refusals.push(
      `MutatingWebhookConfiguration ${name} has no caBundle, so no call succeeds; repair Istio before you move away from it`,
    );
  if (!/^\/inject(?:\/|$)/.test(path))
    findings.refusals.push(
      `MutatingWebhookConfiguration ${name} has path ${path}, which is not one of Istio's injector; correct it`,
    );
  const pathEnvironment = Object.fromEntries(parsePathEnvironment(path));
  const hasPath = Object.keys(pathEnvironment).length > 0;
  findings.goes('path', path, hasPath ? 'spec.webhook.pathEnvironment' : 'nothing: it has no variables');
  const usual = { failurePolicy: 'Fail', timeoutSeconds: 10, reinvocationPolicy: 'Never', matchPolicy: 'Equivalent' };
  const changed = (Object.keys(usual) as (keyof typeof usual)[]).filter((key) => call[key] !== usual[key]);
  for (const key of Object.keys(usual) as (keyof typeof usual)[])
    findings.goes(key, String(call[key]), changed.includes(key) ? `spec.webhook.${key}` : 'the default');
  for (const condition of matchConditions)
    findings.goes(`matchCondition ${condition.name}`, condition.expression, 'spec.webhook.matchConditions');
  const { excludedNamespaces = [] } = selection ?? {};
  return {
    ...Object.fromEntries(changed.map((key) => [key, call[key]])),
    ...(hasPath && { pathEnvironment }),
    ...(excludedNamespaces.length > 0 && { excludedNamespaces }),
    takeover: true,
    matchConditions: [...matchConditions, standbyCondition],
  };
}

/** Returns fields for settings in istiod's environment that the values do not have. */
function istiodFields(
  { name, revision, webhooks }: Incumbent,
  { namespace, deployments, elsewhere }: IstioFacts,
  values: string | undefined,
  findings: Findings,
): object {
  const url = webhooks.find(({ clientConfig }) => clientConfig?.url !== undefined)?.clientConfig?.url;
  const deployment = istiodOf((url === undefined ? deployments : elsewhere) ?? [], revision);
  const wanted = `Deployment with labels app=istiod and istio.io/rev=${revision}, so the environment of istiod is unknown`;
  if (deployment === undefined) {
    findings.refusals.push(
      url === undefined
        ? `namespace ${namespace} has no ${wanted}; name the namespace of istiod with -i`
        : `MutatingWebhookConfiguration ${name} calls ${url}, and --istiod names no file with a ${wanted}; write it to a file, ${commandLine`kubectl get deployments -l app=istiod -o yaml > istiod.yaml`} in the cluster of istiod, and add ${commandLine`--istiod istiod.yaml`}`,
    );
    return {};
  }
  const { settings, given, version, problems } = environmentOf(deployment);
  findings.refusals.push(...problems);
  const ofValues = istiodSettings(parsed(values));
  const usual = { platform: 'Kubernetes', compliancePolicy: '', nativeSidecars: 'Auto' } as const;
  const fields: Record<string, string> = {};
  for (const key of Object.keys(usual) as (keyof typeof usual)[]) {
    const [wanted, inValues] = [settings[key], ofValues[key]];
    const variable = {
      platform: 'PLATFORM',
      compliancePolicy: 'COMPLIANCE_POLICY',
      nativeSidecars: 'ENABLE_NATIVE_SIDECARS',
    }[key];
    const value = given.get(variable);
    const assumed = version === undefined ? ' (version unknown)' : ` (Istio ${version})`;
    const text = value === undefined ? `unset${key === 'nativeSidecars' ? assumed : ''}` : JSON.stringify(value);
    if ((inValues ?? usual[key]) === wanted) {
      const goesTo = inValues === undefined ? 'the default' : `read from the values: ${settingPaths[key].join('.')}`;
      findings.goes(`variable ${variable}`, text, goesTo);
    } else {
      fields[key] = wanted;
      findings.goes(`variable ${variable}`, text, `spec.injection.${key}: ${wanted || '""'}`);
    }
  }
  if (settings.platform === 'OpenShift')
    findings.goes('ranges of namespaces', 'OpenShift', 'operator.openShift: true of our chart');
  return fields;
}

function parsed(values = '{}'): unknown {
  try {
    return JSON.parse(valuesJson(values, 'values'));
  } catch (error) {
    // The load of the configuration reports the error.
    if (error instanceof ConfigurationError) return {};
    throw error;
  }
}

/** Refuses an InjectorConfig that breaks a rule, and templates that our engine cannot render. */
function refuseUnusable(object: KubernetesObject, texts: IstioTexts, findings: Findings): void {
  const { name = '' } = object.metadata;
  try {
    const config = parseInjectorConfig(object, { unknownFields: 'refuse' });
    for (const { message } of validateInjectorConfig(config))
      findings.refusals.push(`InjectorConfig ${name}: ${message}`);
    if (findings.refusals.length > 0) return;
    const { templateNames } = loadInjector(configurationFiles(config, texts));
    findings.goes('templates', templateNames.join(', '), 'all compile');
    for (const [template, text] of parseTemplateConfig(texts.config).templates) {
      for (const call of functionCalls(text, ['{{', '}}']).filter((each) => each.name === 'env'))
        findings.refusals.push(
          `template ${template} of revision ${name} reads the environment of istiod (env, line ${call.line}, column ${call.column}), which our injector does not have; write the value to the values, and read it from there`,
        );
    }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    findings.refusals.push(`revision ${name} cannot be adopted: ${error.message}; correct this in Istio's ConfigMaps`);
  }
}

function planTag(incumbent: Incumbent, tag: string, target: Incumbent | undefined): PlannedObject {
  const findings = new Findings(`tag ${tag}`);
  const selection = ordered(incumbent, tagWebhookConfiguration(tag), findings);
  const { revision } = incumbent;
  findings.goes('revision', revision, 'spec.revision');
  if (target === undefined)
    findings.refusals.push(
      `tag ${tag} points to revision ${revision}, which has no active webhook; point the tag to another revision: ${commandLine`istioctl tag set ${tag} --revision REVISION --overwrite`}`,
    );
  else if (!isSameCall(incumbent, target))
    findings.refusals.push(
      `MutatingWebhookConfiguration ${incumbent.name} of tag ${tag} does not call as ${target.name} of revision ${revision} does, but a RevisionTag does; set the tag again: ${commandLine`istioctl tag set ${tag} --revision ${revision} --overwrite`}`,
    );
  const other = target && selectionOf(target);
  const [own, ofTarget] = [selection, other].map((each) => {
    return typeof each === 'object' ? each.excludedNamespaces.join(', ') : '';
  });
  if (selection !== undefined && target !== undefined && own !== ofTarget)
    findings.refusals.push(
      `MutatingWebhookConfiguration ${incumbent.name} excludes namespaces (${own || 'none'}) that ${target.name} does not, or the reverse (${ofTarget || 'none'}), but a RevisionTag excludes those of its InjectorConfig; make them equal`,
    );
  const spec = { revision, ...(selection?.enableNamespacesByDefault === true && { enableNamespacesByDefault: true }) };
  const object = { apiVersion, kind: revisionTagKind, metadata: { name: tag }, spec };
  for (const { message } of validateRevisionTag(parseRevisionTag(object)))
    findings.refusals.push(`RevisionTag ${tag}: ${message}`);
  return findings.refusals.length > 0 ? { findings } : { object, findings };
}

/** Compares the calls of two incumbents, except for the caBundle, which istiod writes itself. */
function isSameCall(one: Incumbent, other: Incumbent): boolean {
  const text = (incumbent: Incumbent): string => {
    const call = callOf(incumbent);
    if (typeof call === 'string') return call;
    const { clientConfig, ...others } = call;
    return JSON.stringify([clientConfig?.service, clientConfig?.url, others]);
  };
  return text(one) === text(other);
}

import type { StructField } from '../kubernetes/go-types.ts';
import { isJsonObject } from '../patch/json-value.ts';
import type { Place } from './place.ts';
import { syntaxes } from './syntax.ts';

/**
 * The rules for single fields, by struct of the pod schema. The words after a field: `required`: it
 * must be set. `always`: its zero value is a value. `A|B`: an enumeration. `1..9`: bounds. Others
 * are kinds of texts. A rule for a list holds for its items. Where versions of the API server
 * differ, a rule allows what one of them allows.
 */
const table = `
ObjectMeta: labels labels; annotations annotations; finalizers qualifiedName
PodSpec: containers required; ephemeralContainers forbidden; restartPolicy Always|OnFailure|Never; nodeSelector labels
PodSpec: dnsPolicy ClusterFirstWithHostNet|ClusterFirst|Default|None; preemptionPolicy PreemptLowerPriority|Never
PodSpec: hostname dnsLabel; subdomain dnsLabel; nodeName dnsSubdomain; serviceAccountName dnsSubdomain
PodSpec: priorityClassName dnsSubdomain; runtimeClassName dnsSubdomain; activeDeadlineSeconds 1..2147483647
PodOS: name required linux|windows
PodSchedulingGate: name always qualifiedName
PodReadinessGate: conditionType always qualifiedName
PodSecurityContext,SecurityContext: runAsUser 0..2147483647; runAsGroup 0..2147483647; procMount Default|Unmasked
PodSecurityContext: fsGroup 0..2147483647; supplementalGroups 0..2147483647; fsGroupChangePolicy OnRootMismatch|Always
SeccompProfile,AppArmorProfile: type required Localhost|RuntimeDefault|Unconfined
Container: name required dnsLabel; image required trimmed; imagePullPolicy Always|IfNotPresent|Never
Container: terminationMessagePolicy File|FallbackToLogsOnError; restartPolicy Always|OnFailure|Never
ContainerRestartRule: action always Restart|RestartAllContainers; exitCodes required
ContainerResizePolicy: resourceName required cpu|memory; restartPolicy required NotRequired|RestartContainer
ContainerPort: name portName; containerPort required 1..65535; hostPort 1..65535; protocol TCP|UDP|SCTP
EnvVar: name required environmentName
EnvFromSource: prefix environmentName
ConfigMapEnvSource,SecretEnvSource: name required namePrefix
ConfigMapKeySelector,SecretKeySelector: name always dnsSubdomain; key required dataKey
ObjectFieldSelector: fieldPath required
ResourceFieldSelector: resource required resourceField
VolumeMount: name required; mountPath required; subPath relativePath; subPathExpr relativePath
VolumeMount: mountPropagation None|HostToContainer|Bidirectional
VolumeDevice: name required; devicePath required
Probe: initialDelaySeconds 0..; timeoutSeconds 0..; periodSeconds 0..; successThreshold 0..; failureThreshold 0..
Probe: terminationGracePeriodSeconds 1..
ExecAction: command required
HTTPGetAction: port always 1..65535 portName; scheme HTTP|HTTPS
HTTPHeader: name always headerName
TCPSocketAction,GRPCAction: port always 1..65535 portName
Volume: name required dnsLabel
HostPathVolumeSource: path required noBacksteps
HostPathVolumeSource: type |Directory|DirectoryOrCreate|File|FileOrCreate|Socket|CharDevice|BlockDevice
SecretVolumeSource: secretName required
ConfigMapVolumeSource,SecretProjection,ConfigMapProjection: name required
SecretVolumeSource,ConfigMapVolumeSource,DownwardAPIVolumeSource,ProjectedVolumeSource: defaultMode 0..511
KeyToPath: key required
KeyToPath,DownwardAPIVolumeFile: path required volumePath; mode 0..511
ServiceAccountTokenProjection: path required volumePath; expirationSeconds 600..4294967296
PersistentVolumeClaimVolumeSource: claimName required
NFSVolumeSource: server required; path required
CSIVolumeSource: driver required
EphemeralVolumeSource: volumeClaimTemplate required
HostAlias: ip always ipAddress; hostnames dnsSubdomain
PodDNSConfig: nameservers ipAddress; searches searchPath
PodDNSConfigOption: name required
Toleration: key qualifiedName; operator Equal|Exists|Lt|Gt; effect NoSchedule|PreferNoSchedule|NoExecute
TopologySpreadConstraint: maxSkew always 1..; topologyKey required; minDomains 1..
TopologySpreadConstraint: whenUnsatisfiable always DoNotSchedule|ScheduleAnyway
LabelSelector: matchLabels labels
LabelSelectorRequirement: key always qualifiedName; operator always In|NotIn|Exists|DoesNotExist
NodeSelectorRequirement: key always qualifiedName; operator always In|NotIn|Exists|DoesNotExist|Gt|Lt
PodAffinityTerm: topologyKey required qualifiedName
`;

type Test = (value: unknown, place: Place) => void;

function textTest(syntax: (text: string) => string | undefined): Test {
  return (value, place) => {
    const detail = typeof value === 'string' ? syntax(value) : undefined;
    if (detail !== undefined) place.invalid(value, detail);
  };
}

const isLabel = textTest(syntaxes.labelValue);
const isKey = textTest(syntaxes.qualifiedName);
const isCaselessKey = textTest((text) => syntaxes.qualifiedName(text.toLowerCase()));
const otherTests: Readonly<Record<string, Test>> = {
  labels: (value, place) => {
    for (const entry of Object.entries(isJsonObject(value) ? value : {})) {
      isKey(entry[0], place);
      isLabel(entry[1], place);
    }
  },
  annotations: (value, place) => {
    for (const key of Object.keys(isJsonObject(value) ? value : {})) isCaselessKey(key, place);
  },
  forbidden: (_, place) => {
    place.forbidden('cannot be set on create');
  },
};

function testOf(word: string): Test {
  const [, low, high] = /^(\d+)\.\.(\d*)$/.exec(word) ?? [];
  const [least, most] = [Number(low), high === '' ? Infinity : Number(high)];
  const bounds = most === Infinity ? `at least ${least}` : `between ${least} and ${most}`;
  if (low !== undefined)
    return (value, place) => {
      if (typeof value === 'number' && (value < least || value > most)) place.invalid(value, `must be ${bounds}`);
    };
  const values = word.split('|');
  if (values.length === 1) return otherTests[word] ?? textTest(syntaxes[word as keyof typeof syntaxes]);
  return (value, place) => {
    if (typeof value === 'string' && !values.includes(value))
      place.report('Unsupported value', value, `supported values: "${values.join('", "')}"`);
  };
}

/** The words and tests by `Struct.field`. */
const rules = new Map<string, { readonly words: readonly string[]; readonly tests: readonly Test[] }>();
for (const line of table.trim().split('\n')) {
  const [structs = '', fields = ''] = line.split(': ');
  for (const [name = '', ...words] of fields.split('; ').map((field) => field.split(' '))) {
    const tests = words.filter((word) => word !== 'required' && word !== 'always').map(testOf);
    for (const struct of structs.split(',')) rules.set(`${struct}.${name}`, { words, tests });
  }
}

/** Checks a member of a struct by its rule. */
export function checkField(struct: string, { name, pointer, type }: StructField, value: unknown, place: Place): void {
  const rule = rules.get(`${struct}.${name}`);
  if (rule === undefined) return;
  const isAbsent = value === undefined || value === null || (!pointer && isZero(value));
  if (isAbsent && rule.words.includes('required')) place.report('Required value');
  if (isAbsent && !rule.words.includes('always')) return;
  const checked = isAbsent ? (type.kind === 'string' ? '' : 0) : value;
  const isList = Array.isArray(checked) && type.kind === 'list' && type.element.kind !== 'struct';
  for (const [index, item] of (isList ? (checked as unknown[]) : [checked]).entries())
    for (const test of rule.tests) test(item, isList ? place.item(index) : place);
}

/** Reports whether a value is Go's zero value, so that a field without pointer counts as absent. */
export function isZero(value: unknown): boolean {
  const isEmptyList = Array.isArray(value) && value.length === 0;
  return value === undefined || value === null || value === '' || value === 0 || isEmptyList;
}

import { listOf } from '../kubernetes/admission-pod.ts';
import { amountIn } from '../kubernetes/container-sum.ts';
import { objectAt } from '../objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { isZero } from './field-rules.ts';
import type { Place } from './place.ts';
import { checkAmounts, checkPodResources } from './resource-checks.ts';
import { syntaxes } from './syntax.ts';

/** What the checks of a part need to know about the whole pod. */
export interface WholePod {
  readonly spec: JsonObject;
  /** The names of the volumes without mistakes; volumes are checked before containers. */
  readonly volumes: Set<unknown>;
  /** The names in `spec.resourceClaims`. */
  readonly claims: ReadonlySet<unknown>;
}

/** Checks the fields of a struct that depend on each other. */
type Check = (value: JsonObject, place: Place, pod: WholePod) => void;

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const isSet = (value: unknown): boolean => value !== undefined && value !== null;
const given = (value: JsonObject, names = Object.keys(value)): string[] =>
  names.filter((name) => isJsonObject(value[name]));

/** The checks by struct of the pod schema (k8s.io/kubernetes/pkg/apis/core/validation). */
export const checks: Readonly<Record<string, Check>> = {
  PodSpec: (spec, place) => {
    const [names, running] = [new Set<unknown>(), new Set<string>()];
    for (const list of ['containers', 'initContainers']) {
      for (const [index, { name, ports }] of listOf(spec[list]).entries()) {
        const at = place.at(list).item(index, name);
        if (!isZero(name) && names.has(name)) at.at('name').report('Duplicate value', name);
        names.add(name);
        checkNodePorts(ports, at.at('ports'), list === 'containers' ? running : new Set(), spec.hostNetwork === true);
      }
    }
    if (!isZero(spec.nodeName) && listOf(spec.schedulingGates).length > 0)
      place.at('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
    if (spec.dnsPolicy === 'None' && isZero(objectAt(spec, ['dnsConfig']).nameservers))
      place.at('dnsConfig').report('Required value', undefined, 'must name a DNS server when `dnsPolicy` is None');
    checkPodResources(spec, place);
  },

  Container: (container, place, { spec, volumes }) => {
    const { restartPolicy, restartPolicyRules, resizePolicy, ports } = container;
    const isPlainInit = place.path.startsWith('spec.initContainers') && restartPolicy !== 'Always';
    for (const name of isPlainInit ? given(container, ['lifecycle', ...probes]) : [])
      place.at(name).forbidden('may not be set for init containers without restartPolicy=Always');
    for (const name of given(container, probes)) {
      const { successThreshold, terminationGracePeriodSeconds: period } = objectAt(container, [name]);
      if (name === 'readinessProbe' && isSet(period))
        place.at(name, 'terminationGracePeriodSeconds').invalid(period, 'must not be set for readinessProbes');
      if (name !== 'readinessProbe' && Number(successThreshold) > 1)
        place.at(name, 'successThreshold').invalid(successThreshold, 'must be 1');
    }
    if (!isZero(restartPolicyRules) && !isSet(restartPolicy))
      place.at('restartPolicy').report('Required value', undefined, 'must be set with restartPolicyRules');
    if (
      spec.restartPolicy === 'Never' &&
      listOf(resizePolicy).some((each) => each.restartPolicy === 'RestartContainer')
    )
      place.at('resizePolicy').invalid('RestartContainer', "must be 'NotRequired' when the pod is never restarted");
    const names = new Set<unknown>();
    for (const [index, { name }] of listOf(ports).entries()) {
      if (typeof name !== 'string' || syntaxes.portName(name) !== undefined) continue;
      if (names.has(name)) place.at('ports').item(index).at('name').report('Duplicate value', name);
      names.add(name);
    }
    checkMounts(container, place, volumes);
  },

  EnvVar: ({ value, valueFrom }, place) => {
    if (!isJsonObject(valueFrom)) return;
    const problem = isZero(value)
      ? 'must specify exactly one source'
      : 'may not be specified when `value` is not empty';
    if (given(valueFrom).length !== 1 || !isZero(value)) place.at('valueFrom').invalid('', problem);
  },

  EnvFromSource: (source, place) => {
    if (given(source).length !== 1) place.invalid('', 'must specify one of: `configMapRef` or `secretRef`');
  },

  ObjectFieldSelector: ({ apiVersion, fieldPath }, place) => {
    if (typeof fieldPath !== 'string' || fieldPath === '') return;
    const start = fieldPath.endsWith("']") ? fieldPath.indexOf("['") : -1;
    const path = start > 0 ? fieldPath.slice(0, start) : fieldPath;
    const known = start > 0 ? fieldsWithKeys : place.path.includes('.valueFrom.') ? fieldsOfVariables : fieldsOfFiles;
    const key = start > 0 ? fieldPath.slice(start + 2, -2) : 'none';
    const detail = syntaxes.qualifiedName(path === 'metadata.annotations' ? key.toLowerCase() : key);
    if (!(isZero(apiVersion) || apiVersion === 'v1') || !known.includes(path))
      place.at('fieldPath').invalid(fieldPath, 'is not a field that can be read here');
    else if (detail !== undefined) place.invalid(key, detail);
  },

  Volume: (volume, place, { volumes }) => {
    if (volumes.has(volume.name)) place.at('name').report('Duplicate value', volume.name);
    const unordered = Object.keys(volume).filter((name) => !volumeSources.includes(name));
    const [, ...others] = given(volume, [...volumeSources, ...unordered]);
    for (const other of others) place.at(other).forbidden('may not specify more than 1 volume type');
  },

  EmptyDirVolumeSource: (source, place) => {
    if (amountIn(source, 'sizeLimit') < 0) place.at('sizeLimit').forbidden('must not be negative');
  },

  ProjectedVolumeSource: ({ sources }, place) => {
    const used = new Set<unknown>();
    for (const [index, source] of listOf(sources).entries()) {
      if (given(source).length > 1)
        place.at('sources').item(index).forbidden('may not specify more than 1 volume type per source');
      const items = ['secret', 'configMap', 'downwardAPI'].flatMap((name) => listOf(objectAt(source, [name]).items));
      for (const { path } of items) {
        if (!isZero(path) && used.has(path)) place.invalid(path, 'conflicting duplicate paths');
        used.add(path);
      }
    }
  },

  DownwardAPIVolumeFile: ({ fieldRef, resourceFieldRef: reference }, place) => {
    const count = given({ fieldRef, reference }).length;
    if (count === 0) place.report('Required value', undefined, 'one of fieldRef and resourceFieldRef is required');
    if (count === 2) place.invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    if (isJsonObject(reference) && isZero(reference.containerName))
      place.at('resourceFieldRef', 'containerName').report('Required value');
  },

  Probe: (probe, place) => {
    checkHandlers(probe, place, ['exec', 'httpGet', 'tcpSocket', 'grpc']);
  },

  LifecycleHandler: (hook, place, { spec }) => {
    checkHandlers(hook, place, ['exec', 'httpGet', 'tcpSocket', 'sleep']);
    const { seconds } = objectAt(hook, ['sleep']);
    const most = Number(spec.terminationGracePeriodSeconds ?? 30);
    if (Number(seconds) < 0 || Number(seconds) > most)
      place.at('sleep').invalid(seconds, `must be between 0 and terminationGracePeriodSeconds (${most})`);
  },

  ResourceRequirements: (resources, place, { claims }) => {
    if (place.path === 'spec.resources') return;
    checkAmounts(resources, place, false);
    for (const [index, { name }] of listOf(resources.claims).entries())
      if (!claims.has(name)) place.at('claims').item(index).report('Not found', name, 'must be in spec.resourceClaims');
  },

  SecurityContext: (context, place) => {
    const { add } = objectAt(context, ['capabilities']);
    const isAdmin = Array.isArray(add) && add.includes('CAP_SYS_ADMIN');
    if (context.allowPrivilegeEscalation === false && (context.privileged === true || isAdmin))
      place.invalid(context, 'cannot forbid `allowPrivilegeEscalation` with `privileged` or CAP_SYS_ADMIN');
  },

  SeccompProfile: checkProfile,
  AppArmorProfile: checkProfile,

  Toleration: ({ key, operator = '', value = '', effect = '', tolerationSeconds }, place) => {
    const at = place.at('operator');
    if (isZero(key) && operator !== 'Exists') at.invalid(operator, 'must be Exists when `key` is empty');
    if (isSet(tolerationSeconds) && effect !== 'NoExecute')
      place.at('effect').invalid(effect, "must be 'NoExecute' when `tolerationSeconds` is set");
    if (operator === 'Exists' && !isZero(value)) at.invalid(value, "must be empty when `operator` is 'Exists'");
    const detail = operator === '' || operator === 'Equal' ? syntaxes.labelValue(String(value)) : undefined;
    if (detail !== undefined) at.invalid(value, detail);
  },

  TopologySpreadConstraint: ({ minDomains, whenUnsatisfiable }, place) => {
    if (isSet(minDomains) && whenUnsatisfiable !== 'DoNotSchedule')
      place.at('minDomains').invalid(minDomains, 'can only be used with whenUnsatisfiable=DoNotSchedule');
  },
};

/** The fields that the downward API offers: those with keys, and those for files and variables. */
const fieldsWithKeys = ['metadata.labels', 'metadata.annotations'];
const fieldsOfFiles = ['metadata.name', 'metadata.namespace', 'metadata.uid', ...fieldsWithKeys];
const fieldsOfVariables = [
  ...['metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.host', 'spec.serviceAccountName'],
  ...['status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
];
/** The usual sources of volumes, in the order in which the API server counts them. */
const volumeSources = ['emptyDir', 'hostPath', 'secret', 'nfs', 'persistentVolumeClaim', 'downwardAPI', 'configMap'];

/** Checks that ports of the node differ. In the node's network, they are the containers' ports. */
function checkNodePorts(ports: unknown, place: Place, used: Set<string>, isInNodeNetwork: boolean): void {
  for (const [index, { containerPort, hostPort: own, hostIP = '', protocol }] of listOf(ports).entries()) {
    const hostPort = isZero(own) && isInNodeNetwork ? containerPort : own;
    if (isZero(hostPort)) continue;
    if (isInNodeNetwork && hostPort !== containerPort && place.path.startsWith('spec.containers'))
      place.item(index).at('hostPort').invalid(hostPort, 'must match `containerPort` with hostNetwork');
    const name = [isZero(protocol) ? 'TCP' : protocol, hostIP, hostPort].join('/');
    if (used.has(name)) place.item(index).at('hostPort').report('Duplicate value', name);
    used.add(name);
  }
}

function checkMounts(container: JsonObject, place: Place, volumes: ReadonlySet<unknown>): void {
  const paths = new Set<unknown>();
  const isPrivileged = objectAt(container, ['securityContext']).privileged === true;
  for (const list of ['volumeMounts', 'volumeDevices']) {
    for (const [index, mount] of listOf(container[list]).entries()) {
      const { name, mountPath, subPath, subPathExpr, mountPropagation } = mount;
      const at = place.at(list).item(index);
      if (!isZero(name) && !volumes.has(name)) at.at('name').report('Not found', name);
      if (!isZero(mountPath) && paths.has(mountPath)) at.at('mountPath').invalid(mountPath, 'must be unique');
      paths.add(mountPath);
      if (!isZero(subPath) && !isZero(subPathExpr))
        at.at('subPathExpr').invalid(subPathExpr, 'subPathExpr and subPath are mutually exclusive');
      if (mountPropagation === 'Bidirectional' && !isPrivileged)
        at.at('mountPropagation').forbidden('Bidirectional is available only to privileged containers');
    }
  }
}

function checkHandlers(value: JsonObject, place: Place, names: string[]): void {
  const [first, ...others] = given(value, names);
  if (first === undefined) place.report('Required value', undefined, 'must specify a handler type');
  for (const other of others) place.at(other).forbidden('may not specify more than 1 handler type');
}

function checkProfile({ type, localhostProfile: name }: JsonObject, place: Place): void {
  const at = place.at('localhostProfile');
  if (type === 'Localhost' && !isSet(name)) at.report('Required value');
  if ((type === 'RuntimeDefault' || type === 'Unconfined') && isSet(name))
    at.invalid(name, 'can only be set when the type is Localhost');
}

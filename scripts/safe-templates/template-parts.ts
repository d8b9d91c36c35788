import type { TemplateSlots } from './template-slots.ts';

/** Returns some lines of a template. */
export type Part = (slots: TemplateSlots) => string;

/** The variables that templates write outside of loops over annotations or labels. */
const variables = ['TEAM', 'LEVEL', 'HOME_DIR', 'LD_PRELOAD', 'A'] as const;

/** Returns an argument, or a flag and its operand. */
function argument(slots: TemplateSlots): string[] {
  return slots.pick<() => string[]>([
    () => [slots.scalar('"start"')],
    () => [slots.scalar('"8080"')],
    () => [slots.scalar('--verbose')],
    () => [`--level=${slots.scalar('info')}`],
    () => [`"--level=${slots.scalar('info')}"`],
    () => [`--port=${slots.scalar('80', 'number')}`],
    () => [`"--exec=${slots.scalar('id')}"`],
    () => [`"--init-file=${slots.scalar('x')}"`],
    () => [`${slots.key('--level')}=x`],
    () => ['--port', slots.scalar('80', 'number')],
    () => ['--level', slots.scalar('info')],
    () => ['"-c"'],
    () => ['-ec'],
    () => ['sh'],
  ])();
}

function inline(slots: TemplateSlots): string {
  return argument(slots).join(', ');
}

function argumentsOf(slots: TemplateSlots): string {
  const count = 1 + Number(slots.chance(0.6)) + Number(slots.chance(0.4));
  const items = Array.from({ length: count }, () => argument(slots));
  if (slots.chance(0.3)) return ` [${items.flat().join(', ')}]\n`;
  return `\n${items.map((some) => slots.block(some.map((one) => `    - ${one}\n`).join(''))).join('')}`;
}

/** The parts of a container with values that an author may change. */
const values: readonly Part[] = [
  (slots) =>
    `env:\n${slots.block(`    - name: ${slots.key(slots.pick(variables))}\n      value: ${slots.scalar('"none"')}\n`)}    - {name: ZONE, value: ${slots.scalar('z')} }\n`,
  (slots) => `env:\n    - name: ${slots.pick(variables)}\n      value: ${slots.scalar('"none"')}\n`,
  (slots) =>
    `env:\n    - name: BLOCK\n      value: |\n        {{ ${slots.chance(0.5) ? 'printf "%s" ' : ''}(index $.ObjectMeta.Annotations "example.com/a")${slots.chance(0.5) ? ' | indent 8' : ''} }}\n`,
  (slots) => `env:\n    - name: FIRST\n      value: one\n${slots.walk('    - name: KEY\n      value: VALUE')}`,
  (slots) =>
    `env:\n${slots.block(`    - {name: SECRET, valueFrom: {secretKeyRef: {name: ${slots.scalar('s')}, key: k } } }\n`)}`,
  (slots) => `args:${argumentsOf(slots)}`,
  (slots) => `args: ["--level=${slots.scalar('info')}", ${slots.scalar('"8080"')}]\n`,
  (slots) => `args:\n    - "run"\n${slots.block('    - --verbose\n')}    - ${argument(slots)[0]!}\n`,
  (slots) =>
    `resources: {requests: {cpu: ${slots.scalar('100m')}, memory: 1Gi }, limits: {cpu: ${slots.scalar('"1"')} } }\n`,
  (slots) => slots.block(`resources:\n      limits:\n        ${slots.key('cpu')}: ${slots.scalar('"1"')}\n`),
  (slots) =>
    `ports: [{containerPort: ${slots.scalar('8080', 'number')}, name: ${slots.scalar('http')}, protocol: TCP }]\n`,
  (slots) =>
    slots.block(
      `readinessProbe: {httpGet: {path: ${slots.scalar('/ready')}, port: ${slots.scalar('80', 'number')} }, periodSeconds: ${slots.scalar('5', 'number')} }\n`,
    ),
  (slots) => `livenessProbe:\n      tcpSocket:\n        port: ${slots.scalar('80', 'number')}\n`,
];

/** The parts of a container that decide what runs, with which privileges and access. */
const fixed: readonly Part[] = [
  (slots) => `command:${argumentsOf(slots)}`,
  (slots) =>
    `command: [${slots.pick(['sh, -c', '/bin/sh', 'sh, -ec', 'busybox, sh, -c', 'tini, --, sh, -c', 'python, -c', '/usr/bin/env, bash, -c', 'node, -e', 'proxy', 'server, --'])}]\n    args: [${slots.scalar('"id"')}, ${inline(slots)}]\n`,
  (slots) =>
    `args: [${slots.pick(['sh, -c', '-c', '-ec', 'bash, -c', '-e'])}, ${slots.chance(0.5) ? inline(slots) : slots.scalar('"id"')}]\n`,
  (slots) => `imagePullPolicy: ${slots.scalar('Always')}\n`,
  (slots) => `envFrom: [{secretRef: {name: ${slots.scalar('"s"')} } }]\n`,
  (slots) => slots.block(`envFrom:\n    - configMapRef: {name: c}\n`),
  (slots) => `securityContext:\n      privileged: ${slots.scalar('false', 'bool')}\n`,
  (slots) =>
    `securityContext:\n      runAsUser: ${slots.scalar('1000', 'number')}\n      runAsNonRoot: ${slots.scalar('true', 'bool')}\n`,
  (slots) =>
    `securityContext:\n      readOnlyRootFilesystem: true\n${slots.block('      allowPrivilegeEscalation: true\n')}`,
  (slots) => `securityContext: {capabilities: {add: [${slots.scalar('NET_ADMIN')}], drop: [ALL] } }\n`,
  (slots) => slots.block(`securityContext: {seccompProfile: {type: ${slots.scalar('RuntimeDefault')} } }\n`),
  (slots) => `securityContext: ${slots.chance(0.5) ? slots.structure(6) : '{privileged: false}'}\n`,
  (slots) =>
    `volumeMounts:\n${slots.block(`    - {name: ${slots.scalar('data')}, mountPath: ${slots.scalar('"/data"')}, readOnly: ${slots.scalar('true', 'bool')} }\n`)}`,
  (slots) => `lifecycle: {postStart: {exec: {command: [${slots.scalar('start')}] } } }\n`,
  (slots) => `workingDir: ${slots.scalar('/srv')}\n`,
  (slots) => `terminationMessagePath: "/dev/${slots.scalar('log')}"\n    tty: ${slots.scalar('false', 'bool')}\n`,
  (slots) => `livenessProbe: {exec: {command: [check, ${slots.scalar('x')}] } }\n`,
  (slots) => `readinessProbe: {httpGet: {port: 80, path: /${slots.scalar('r')}, host: ${slots.scalar('"h"')} } }\n`,
  (slots) => `startupProbe:\n      ${slots.key('tcpSocket')}: {port: 1, host: "${slots.scalar('h')}" }\n`,
  (slots) => `ports: [{containerPort: 80, hostPort: ${slots.scalar('80', 'number')} }]\n`,
  (slots) => `${slots.key('stdin')}: ${slots.scalar('true', 'bool')}\n`,
];

/** The parts of a pod other than containers. */
const podParts: readonly Part[] = [
  (slots) => `hostNetwork: ${slots.scalar('false', 'bool')}\n`,
  (slots) => slots.block('  hostPID: true\n').trimStart(),
  (slots) => `serviceAccountName: ${slots.scalar('sidecar')}\n`,
  (slots) => `automountServiceAccountToken: ${slots.scalar('false', 'bool')}\n`,
  (slots) =>
    `volumes:\n${slots.block(`  - name: ${slots.scalar('shared')}\n    hostPath: {path: "/data/${slots.scalar('shared')}" }\n`)}`,
  (slots) =>
    `volumes:\n  - {name: v, secret: {secretName: ${slots.scalar('s')} } }\n${slots.chance(0.3) ? slots.walk('  - {name: KEY, emptyDir: {} }') : ''}`,
  (slots) => `hostAliases: [{ip: ${slots.scalar('"1.2.3.4"')}, hostnames: [${slots.scalar('h')}] }]\n`,
  (slots) =>
    `dnsConfig: {nameservers: [${slots.scalar('"1.1.1.1"')}], searches: [a, ${slots.scalar('b')}] }\n  dnsPolicy: ${slots.scalar('None')}\n`,
  (slots) => `imagePullSecrets:\n${slots.block(`  - name: ${slots.scalar('pull')}\n`)}`,
  (slots) => `tolerations: [{key: ${slots.scalar('k')}, operator: Exists }]\n`,
  (slots) => `nodeSelector: { ${slots.key('zone')}: ${slots.scalar('a')} }\n`,
  (slots) =>
    slots
      .block(`  ${slots.pick(['serviceAccountName', 'securityContext', 'terminationGracePeriodSeconds'])}: null\n`)
      .replace(/^ +/, ''),
  (slots) => `priorityClassName: ${slots.scalar('low')}\n`,
  (slots) =>
    `securityContext: {fsGroup: ${slots.scalar('1337', 'number')}, runAsNonRoot: ${slots.scalar('true', 'bool')} }\n`,
  (slots) => `securityContext:\n    sysctls:\n    - {name: ${slots.scalar('net.x')}, value: ${slots.scalar('"1"')} }\n`,
  (slots) =>
    `shareProcessNamespace: ${slots.scalar('false', 'bool')}\n  terminationGracePeriodSeconds: ${slots.scalar('30', 'number')}\n`,
  (slots) => `schedulerName: ${slots.scalar('s')}\n  nodeName: ${slots.scalar('n')}\n`,
  (slots) => slots.structure(2).replace(/^\{\{ /, '{{- '),
];

function container(slots: TemplateSlots, name: string, most: number, valueShare: number): string {
  const parts = new Map<string, string>();
  for (let count = 1 + Math.floor(most * 0.99); count > 0; count -= 1) {
    const part = slots.pick(slots.chance(valueShare) ? values : fixed)(slots);
    // Write each field once, because the YAML parser refuses duplicates.
    const field = /^\s*(?:\{\{[^]*?\}\}\s*)?([A-Za-z]+):/.exec(part)?.[1] ?? part;
    if (!parts.has(field) && !(field === 'command' && parts.has('args'))) parts.set(field, part);
    if (field === 'command' && part.includes('args:')) parts.set('args', '');
  }
  const lines = [...parts.values()].filter((part) => part !== '').map((part) => indented(part, '    '));
  return slots.block(
    `  - name: ${name}\n    image: ${slots.chance(0.15) ? slots.scalar('"sidecar:1"') : '"sidecar:1"'}\n${lines.join('')}`,
  );
}

/** Indents the first line of a part. An action that opens a block contains its own line break. */
function indented(part: string, indent: string): string {
  return part.startsWith('{{-') ? part.replace(/^(\{\{-[^\n]*\n)(?! )/, `$1${indent}`) : `${indent}${part}`;
}

/** Returns a random template. */
export function podTemplate(slots: TemplateSlots, prelude: string): string {
  const valueShare = slots.pick([0, 0.5, 1, 1, 1]);
  const lines: string[] = [];
  if (slots.chance(0.25)) {
    lines.push(
      `metadata:\n  ${slots.pick(['labels', 'annotations'])}:\n    example.com/made: ${slots.scalar('"none"')}\n`,
    );
  } else if (slots.chance(0.06)) {
    lines.push(`metadata:\n  annotations:\n${slots.walk('    KEY: VALUE')}`);
  }
  lines.push('spec:\n');
  if (slots.chance(0.15))
    lines.push(`  initContainers:\n${container(slots, slots.pick(['prepare', 'setup']), 1, valueShare)}`);
  const name = slots.pick(['sidecar', 'sidecar', 'sidecar', 'web', 'istio-proxy']);
  const named = slots.chance(0.04) ? slots.scalar(name) : name;
  lines.push(`  containers:\n${container(slots, named, slots.pick([1, 1, 2]), valueShare)}`);
  if (slots.chance(0.1)) lines.push(container(slots, 'second', 0, valueShare));
  if (slots.chance(0.02)) {
    const [one, other] = ['third', 'fourth'].map((some) => `\n  - {name: ${some}, image: "x:1" }`);
    lines.push(`{{- if ${slots.condition()} }}${one}${other}{{- else }}${other}${one}{{- end }}\n`);
  }
  if (slots.chance(valueShare === 1 ? 0.05 : 0.4)) lines.push(indented(slots.pick(podParts)(slots), '  '));
  return [...slots.definitions, prelude, ...lines].join('');
}

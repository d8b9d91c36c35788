import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';
import type { TemplateWords } from './own-words.ts';

const valueOfPort: ReadonlySet<string> = new Set(['name', 'containerPort', 'protocol']);
const probes: ReadonlySet<string> = new Set(['livenessProbe', 'readinessProbe', 'startupProbe']);
const authorsMetadata: ReadonlySet<string> = new Set(['annotations', 'labels']);

/**
 * Returns the first path where an accepted pod differs from a reference, except for values that
 * docs/annotation-safety.md leaves to authors. Shares no code with src/inject/safety.
 * @param reference the pod without the author's annotations and labels, or with other texts
 */
export function forbiddenDifference(
  accepted: JsonObject,
  reference: JsonObject,
  words: TemplateWords,
): string | undefined {
  return firstDifference(accepted, reference, '', (key, left, right) => {
    if (key === '.metadata') return members(left, right, key, (name) => authorsMetadata.has(name));
    if (key !== '.spec') return undefined;
    return members(left, right, key, (name, one, other, path) =>
      name === 'containers' || name === 'initContainers' ? containers(one, other, path, words) : false,
    );
  });
}

/** Returns true if a field may differ, false if not, or a path or `same` after a comparison. */
type Rule = (name: string, left: unknown, right: unknown, path: string) => boolean | string | { readonly same: true };
const same = { same: true } as const;

function firstDifference(
  left: JsonObject,
  right: JsonObject,
  path: string,
  decide: (key: string, left: JsonObject, right: JsonObject) => string | { readonly same: true } | undefined,
): string | undefined {
  return found(
    members(left, right, path, (name, one, other, at) =>
      name === 'metadata' || name === 'spec' ? (decide(at, objectOf(one), objectOf(other)) ?? same) : false,
    ),
  );
}

function found(result: string | { readonly same: true }): string | undefined {
  return typeof result === 'string' ? result : undefined;
}

function members(left: JsonObject, right: JsonObject, path: string, rule: Rule): string | { readonly same: true } {
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const [one, other, at] = [left[name], right[name], `${path}.${name}`];
    const decided = rule(name, one, other, at);
    if (typeof decided === 'string') return decided;
    if (decided === false) {
      const different = strictDifference(one, other, at);
      if (different !== undefined) return different;
    }
  }
  return same;
}

/** Returns the path of any difference. A null field equals an absent field, as in a merge. */
function strictDifference(left: unknown, right: unknown, path: string): string | undefined {
  if (left === right || ((left ?? null) === null && (right ?? null) === null)) return undefined;
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      const different = strictDifference(left[index], right[index], `${path}[${index}]`);
      if (different !== undefined) return different;
    }
    return left.length === right.length ? undefined : path;
  }
  if (isJsonObject(left) && isJsonObject(right)) return found(members(left, right, path, () => false));
  return path;
}

function containers(left: unknown, right: unknown, path: string, words: TemplateWords) {
  const [one, other] = [listOf(left), listOf(right)];
  if (one.map(nameOf).join('\0') !== other.map(nameOf).join('\0')) return path;
  for (const [index, container] of one.entries()) {
    const result = members(container, other[index]!, `${path}[${nameOf(container)}]`, (name, mine, theirs, at) => {
      if (name === 'args')
        return argumentsDiffer(textsOf(mine), textsOf(theirs), textsOf(container.command), words) ? at : true;
      if (name === 'env') return environment(listOf(mine), listOf(theirs), at, words);
      if (name === 'ports') return strictDifference(fixedPorts(mine), fixedPorts(theirs), at) ?? true;
      if (name === 'resources') return resources(objectOf(mine), objectOf(theirs), at, words);
      if (probes.has(name)) return probesDiffer(mine, theirs, at) ?? true;
      return false;
    });
    if (typeof result === 'string') return result;
  }
  return same;
}

/** Allows variables with a value to appear or vanish, if the template has the name. */
function environment(left: readonly JsonObject[], right: readonly JsonObject[], path: string, words: TemplateWords) {
  const sources = (list: readonly JsonObject[]): JsonObject[] =>
    list.filter(({ valueFrom }) => isJsonObject(valueFrom));
  const different = strictDifference(sources(left), sources(right), `${path}(valueFrom)`);
  if (different !== undefined) return different;
  const [names, others] = [left.map(nameOf), right.map(nameOf)];
  const strange = names.find((name) => !others.includes(name) && !words.has(name));
  if (strange !== undefined) return `${path}[${strange}](name)`;
  const stay = (list: readonly string[], from: readonly string[]): string =>
    list.filter((name) => from.includes(name) && isOnce(name, list) && isOnce(name, from)).join('\0');
  return stay(names, others) === stay(others, names) ? same : `${path}(order)`;
}

function isOnce(name: string, list: readonly string[]): boolean {
  return list.indexOf(name) === list.lastIndexOf(name);
}

function resources(left: JsonObject, right: JsonObject, path: string, words: TemplateWords) {
  return members(left, right, path, (name, one, other, at) => {
    if (name !== 'limits' && name !== 'requests') return false;
    const strange = Object.keys(objectOf(one)).find((key) => !Object.hasOwn(objectOf(other), key) && !words.has(key));
    return strange === undefined ? true : `${at}.${strange}(name)`;
  });
}

/** Returns the fields of ports that an author may not change, without empty ports. */
function fixedPorts(ports: unknown): JsonObject[] {
  return listOf(ports)
    .map((port) => Object.fromEntries(Object.entries(port).filter(([name]) => !valueOfPort.has(name))))
    .filter((port) => Object.keys(port).length > 0);
}

/** The path prefix of a probe that the engine redirects to the proxy's agent, as Istio does. */
const appHealth = '/app-health/';

/**
 * Compares the fields of a probe that an author may not change. If annotation
 * `sidecar.istio.io/rewriteAppHTTPProbers` redirects a probe to the agent, its host has no effect.
 */
function probesDiffer(left: unknown, right: unknown, path: string): string | undefined {
  const isRewritten = [left, right].some((probe) =>
    String(objectOf(objectOf(probe).httpGet).path).startsWith(appHealth),
  );
  const [one, other] = [fixedProbe(left), fixedProbe(right)];
  return isRewritten ? strictDifference(one.exec, other.exec, path) : strictDifference(one, other, path);
}

function fixedProbe(probe: unknown): JsonObject {
  const { exec, httpGet, tcpSocket } = objectOf(probe);
  return { exec, httpHost: objectOf(httpGet).host, tcpHost: objectOf(tcpSocket).host };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function nameOf({ name }: JsonObject): string {
  return String(name);
}

/** Returns the first path of a field or element that the other pod lacks. Ignores values. */
export function addedStructure(left: unknown, right: unknown, path = ''): string | undefined {
  if (Array.isArray(left)) {
    const other: unknown[] = Array.isArray(right) ? right : [];
    if (left.length > other.length) return path;
    for (const [index, item] of left.entries()) {
      const added = addedStructure(item, other[index], `${path}[${index}]`);
      if (added !== undefined) return added;
    }
  } else if (isJsonObject(left)) {
    const other = objectOf(right);
    for (const [name, item] of Object.entries(left)) {
      // The engine records changes in annotations and labels, which authors may write anyway.
      if (path === '.metadata' && authorsMetadata.has(name)) continue;
      if (item !== null && (other[name] ?? null) === null) return `${path}.${name}`;
      const added = addedStructure(item, other[name], `${path}.${name}`);
      if (added !== undefined) return added;
    }
  }
  return undefined;
}

/** Names of flags whose value is code. */
const codeFlag =
  /(?:^|[-_.])(?:exec|eval|command|cmd|script|run|split-string|rcfile|init-file|code|program|shell|expression)(?:$|[-_.])/;
const assignment = /^(--[A-Za-z0-9][\w.-]*)=/;
const plainFlag = /^--[A-Za-z0-9][\w.-]*$/;
const operandFlag = /^-[^-=][^=]*$|^-+$/;
const plainWord = /^(?:[\w./][\w.:,/@+-]*)?$/;
/** A text that counts as a number. The empty text counts too. */
const numbers = /^(?:[0-9]+(?:[-+._,:/]*[0-9]*)*)?$/;
const longestNumber = 200;
/** The interpreters in our templates. Plain words may be code for an interpreter. */
const interpreters: ReadonlySet<string> = new Set(['sh', 'bash', 'busybox', 'tini', 'python', 'env', 'node', 'perl']);

const aNumber = '\0number';

/**
 * Reports whether arguments differ in more than the parts that an author may decide: flags of the
 * template, the values of these flags, and numbers.
 * @param accepted the arguments of the accepted pod
 * @param reference the arguments without the author's texts, or with other texts
 * @param command the command of the container
 */
function argumentsDiffer(
  accepted: readonly string[],
  reference: readonly string[],
  command: readonly string[],
  words: TemplateWords,
): boolean {
  const [left, right] = [accepted, reference].map((args) => fixedArguments(args, command, words).join('\0\0'));
  return left !== right;
}

/** Returns the arguments that an author may not change. */
function fixedArguments(args: readonly string[], command: readonly string[], words: TemplateWords): string[] {
  const programs = command.length > 0 ? command : args.slice(0, 1);
  const interpreted = programs.some((program) => interpreters.has(program.slice(program.lastIndexOf('/') + 1)));
  const fixed: string[] = [];
  let before = command.at(-1) ?? '';
  for (let index = 0; index < args.length; index += 1) {
    const text = args[index]!;
    const [whole, name] = assignment.exec(text) ?? [];
    const isOperand = operandFlag.test(before);
    before = text;
    // The template contains `--flag=` or `--flag`: an action may produce the `=`.
    const isOwn = name !== undefined && (words.hasFlag(whole!) || words.has(name));
    if (isOwn && !isOperand && !codeFlag.test(name.slice(2))) continue;
    if (!isOperand && plainFlag.test(text) && words.has(text) && !codeFlag.test(text.slice(2))) {
      const operand = args[index + 1];
      if (operand === undefined || interpreted || !plainWord.test(operand)) continue;
      index += 1;
      before = operand;
      continue;
    }
    fixed.push(text.length < longestNumber && numbers.test(text) ? aNumber : text);
  }
  return fixed;
}

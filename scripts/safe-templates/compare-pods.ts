import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';
import type { TemplateWords } from './own-words.ts';

const valueOfPort: ReadonlySet<string> = new Set(['name', 'containerPort', 'protocol']);
const probes: ReadonlySet<string> = new Set(['livenessProbe', 'readinessProbe', 'startupProbe']);
const authorsMetadata: ReadonlySet<string> = new Set(['annotations', 'labels']);

/**
 * The first place where a pod that was accepted differs from a reference in more than the values that docs/annotation-safety.md leaves to an author; `undefined` when it does not.
 * This is the rule written a second time, and shares nothing with src/inject/safety.
 * @param reference what is injected without the author's annotations and labels, or with other texts
 */
export function forbiddenDifference(
  accepted: JsonObject,
  reference: JsonObject,
  words: TemplateWords,
): string | undefined {
  return firstDifference(accepted, reference, '', (key, left, right) => {
    if (key === '.metadata') return members(left, right, key, (name) => authorsMetadata.has(name));
    if (key !== '.spec') return undefined;
    return members(left, right, key, (name, one, other, place) =>
      name === 'containers' || name === 'initContainers' ? containers(one, other, place, words) : false,
    );
  });
}

/** Looks at a member first: `true` when it may differ, a place or none when that is decided, `false` when it must be the same. */
type Rule = (name: string, left: unknown, right: unknown, place: string) => boolean | string | { readonly same: true };
const same = { same: true } as const;

function firstDifference(
  left: JsonObject,
  right: JsonObject,
  place: string,
  decide: (key: string, left: JsonObject, right: JsonObject) => string | { readonly same: true } | undefined,
): string | undefined {
  return found(
    members(left, right, place, (name, one, other, at) =>
      name === 'metadata' || name === 'spec' ? (decide(at, objectOf(one), objectOf(other)) ?? same) : false,
    ),
  );
}

function found(result: string | { readonly same: true }): string | undefined {
  return typeof result === 'string' ? result : undefined;
}

function members(left: JsonObject, right: JsonObject, place: string, rule: Rule): string | { readonly same: true } {
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const [one, other, at] = [left[name], right[name], `${place}.${name}`];
    const decided = rule(name, one, other, at);
    if (typeof decided === 'string') return decided;
    if (decided === false) {
      const different = strictDifference(one, other, at);
      if (different !== undefined) return different;
    }
  }
  return same;
}

/** Any difference at all, but that null is absent: both are after a merge. */
function strictDifference(left: unknown, right: unknown, place: string): string | undefined {
  if (left === right || ((left ?? null) === null && (right ?? null) === null)) return undefined;
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      const different = strictDifference(left[index], right[index], `${place}[${index}]`);
      if (different !== undefined) return different;
    }
    return left.length === right.length ? undefined : place;
  }
  if (isJsonObject(left) && isJsonObject(right)) return found(members(left, right, place, () => false));
  return place;
}

function containers(left: unknown, right: unknown, place: string, words: TemplateWords) {
  const [one, other] = [listOf(left), listOf(right)];
  if (one.map(nameOf).join('\0') !== other.map(nameOf).join('\0')) return place;
  for (const [index, container] of one.entries()) {
    const result = members(container, other[index]!, `${place}[${nameOf(container)}]`, (name, mine, theirs, at) => {
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

/** Entries with a value may come and go, under a name of the template's own; others may not change, nor may the order of those that stay. */
function environment(left: readonly JsonObject[], right: readonly JsonObject[], place: string, words: TemplateWords) {
  const sources = (list: readonly JsonObject[]): JsonObject[] =>
    list.filter(({ valueFrom }) => isJsonObject(valueFrom));
  const different = strictDifference(sources(left), sources(right), `${place}(valueFrom)`);
  if (different !== undefined) return different;
  const [names, others] = [left.map(nameOf), right.map(nameOf)];
  const strange = names.find((name) => !others.includes(name) && !words.has(name));
  if (strange !== undefined) return `${place}[${strange}](name)`;
  const stay = (list: readonly string[], from: readonly string[]): string =>
    list.filter((name) => from.includes(name) && isOnce(name, list) && isOnce(name, from)).join('\0');
  return stay(names, others) === stay(others, names) ? same : `${place}(order)`;
}

function isOnce(name: string, list: readonly string[]): boolean {
  return list.indexOf(name) === list.lastIndexOf(name);
}

function resources(left: JsonObject, right: JsonObject, place: string, words: TemplateWords) {
  return members(left, right, place, (name, one, other, at) => {
    if (name !== 'limits' && name !== 'requests') return false;
    const strange = Object.keys(objectOf(one)).find((key) => !Object.hasOwn(objectOf(other), key) && !words.has(key));
    return strange === undefined ? true : `${at}.${strange}(name)`;
  });
}

/** What an author may not change of ports; ports of which nothing is left may come and go. */
function fixedPorts(ports: unknown): JsonObject[] {
  return listOf(ports)
    .map((port) => Object.fromEntries(Object.entries(port).filter(([name]) => !valueOfPort.has(name))))
    .filter((port) => Object.keys(port).length > 0);
}

/** The path of a probe that the engine leads through the proxy's agent, as Istio's injector does. */
const appHealth = '/app-health/';

/**
 * What an author may not change of a probe. Whether the engine leads it through the agent is a choice that Istio leaves to an annotation
 * (`sidecar.istio.io/rewriteAppHTTPProbers`): the agent asks the pod's own container then, whatever host the probe had.
 */
function probesDiffer(left: unknown, right: unknown, place: string): string | undefined {
  const isRewritten = [left, right].some((probe) =>
    String(objectOf(objectOf(probe).httpGet).path).startsWith(appHealth),
  );
  const [one, other] = [fixedProbe(left), fixedProbe(right)];
  return isRewritten ? strictDifference(one.exec, other.exec, place) : strictDifference(one, other, place);
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

/** The first place where a pod has a member or an element that the other does not have, whatever the leaves say. */
export function addedStructure(left: unknown, right: unknown, place = ''): string | undefined {
  if (Array.isArray(left)) {
    const other: unknown[] = Array.isArray(right) ? right : [];
    if (left.length > other.length) return place;
    for (const [index, item] of left.entries()) {
      const added = addedStructure(item, other[index], `${place}[${index}]`);
      if (added !== undefined) return added;
    }
  } else if (isJsonObject(left)) {
    const other = objectOf(right);
    for (const [name, item] of Object.entries(left)) {
      // The engine notes there what it did; authors write them anyway.
      if (place === '.metadata' && authorsMetadata.has(name)) continue;
      if (item !== null && (other[name] ?? null) === null) return `${place}.${name}`;
      const added = addedStructure(item, other[name], `${place}.${name}`);
      if (added !== undefined) return added;
    }
  }
  return undefined;
}

/** How many elements all lists of a pod have. */
export function elementsOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((total: number, item) => total + 1 + elementsOf(item), 0);
  return isJsonObject(value) ? elementsOf(Object.values(value)) - Object.keys(value).length : 0;
}

/** Names of flags whose value is code. */
const codeFlag =
  /(?:^|[-_.])(?:exec|eval|command|cmd|script|run|split-string|rcfile|init-file|code|program|shell|expression)(?:$|[-_.])/;
const assignment = /^(--[A-Za-z0-9][\w.-]*)=/;
const plainFlag = /^--[A-Za-z0-9][\w.-]*$/;
const operandFlag = /^-[^-=][^=]*$|^-+$/;
const plainWord = /^(?:[\w./][\w.:,/@+-]*)?$/;
/** Nothing counts as no number. */
const numbers = /^(?:[0-9]+(?:[-+._,:/]*[0-9]*)*)?$/;
const longestNumber = 200;
/** What the templates here start: another one would have to be known to take no plain words. */
const interpreters: ReadonlySet<string> = new Set(['sh', 'bash', 'busybox', 'tini', 'python', 'env', 'node', 'perl']);

const aNumber = '\0number';

/**
 * Whether arguments differ in more than what an author may decide: the value of a flag of the template's own, whether such a flag is there, and numbers.
 * @param accepted the arguments of the pod that was accepted
 * @param reference the same without the author's texts, or with others
 * @param command of the container
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

/** The arguments without those that may come and go. */
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
    // `--flag=` or `--flag` stands in the template: what joins the two may be an action.
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

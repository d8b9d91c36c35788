import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { commandLine } from '../api/command-line.ts';
import { operatorLeases } from './testdata/operator-leases.ts';
import { RevisionCluster } from './testdata/revision-cluster.ts';
import { runCommand, type Seen } from './testdata/recording-terminal.ts';
import { paused, restarting, strategy } from './testdata/rollout-tag.ts';
import { temporaryFolder } from './testdata/temporary-folder.ts';

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const shown = `web|'|"|$(touch x)|; touch x|\`id\`| -A|\\|#|!|&& b|: |   a b`.split('|');
const hidden =
  '\n|\n\nno problems found|\r|\t|\u001B[2J|\0|\u007F|\u0085|\u009B1m|\u00AD|\u200B|\u202E|\u2028|\u2029|\uFEFF';
const part = fc.oneof(
  fc.constantFrom(...shown, ...hidden.split('|'), '\u{E0001}', '\u{1D173}'),
  fc.string({ unit: 'binary', maxLength: 2 }),
);
const texts = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `~${parts.join('')}`);
const choices = fc.array(fc.boolean(), { minLength: 1 });
/** Returns a text of the same meaning to the program that cannot do harm. */
const tamed = (text: string): string => text.replaceAll(unprintable, '~');

/** Fields that decide what the program reads. */
const fixed = /^(?:apiVersion|namespace|uid|renewTime|resourceVersion|lastTransitionTime|.*At)$/;

/** Appends a text to the strings of a value, as `bits` say by turns. */
function infecting(text: string, bits: readonly boolean[]): <T>(value: T, field?: string) => T {
  let next = 0;
  const infected = (value: unknown, field = ''): unknown => {
    if (typeof value === 'string')
      return fixed.test(field) || bits[next++ % bits.length] === true ? value : value + text;
    if (Array.isArray(value)) return value.map((each) => infected(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, infected(each, key)]));
  };
  return infected as <T>(value: T) => T;
}

const surroundings = {
  screen: { columns: 1_000_000, rows: 1000 },
  onOut: (_: string, interrupt: () => void) => {
    interrupt();
  },
};

/** Returns the arguments that `kubectl` and `injector` get from a POSIX shell, for each call. */
function wordsOf(commands: readonly string[]): string[][] {
  const print = String.raw`{ printf '%s\001' "$@"; printf '\002'; }`;
  const script = [`kubectl() ${print}`, `injector() ${print}`, ...commands].join('\n');
  const out = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: { PATH: '' } });
  const calls = out.split('\u0002').slice(0, -1);
  return calls.map((call) => call.split('\u0001').slice(0, -1));
}

/** Asserts what holds for the output of a call; `tame` is the output for harmless texts. */
function isHarmless(argv: readonly string[], seen: Seen, tame: Seen): void {
  const isDocument = /^(?:inject|uninject|template|install)$/.test(argv[0] ?? '');
  for (const stream of ['out', 'errors'] as const) {
    const text = isDocument ? seen[stream].replaceAll('\t', '') : seen[stream];
    assert.deepEqual(text.match(unprintable)?.filter((each) => each !== '\n') ?? [], [], text);
    if (isDocument || argv.includes('yaml')) continue;
    assert.equal(text.split('\n').length, tame[stream].split('\n').length, `${text}\n${tame[stream]}`);
  }
}

describe('a suggested command', () => {
  it('gives a shell exactly the words of the template and the values', () => {
    const value = fc.array(fc.constantFrom(...shown, '-', '*', '~', '=', 'ä\u3000'), { maxLength: 4 });
    const property = fc.property(fc.array(value, { minLength: 3, maxLength: 3 }), (values) => {
      const [name = '', text = '', last = ''] = values.map((each) => each.join(''));
      const line = commandLine`kubectl label pod/${name} --field=${text} ${last} -n shop`;
      const words = ['label', `pod/${name}`, `--field=${text}`, last, '-n', 'shop'];
      assert.deepEqual(wordsOf([line]), last.startsWith('-') ? [] : [words], line);
    });
    fc.assert(property, { numRuns: 60 });
  });
});

describe('the output of all commands', () => {
  const { path, write } = temporaryFolder();
  const cluster = new RevisionCluster();
  const objects: [plural: string, object: KubernetesObject][] = [];
  before(async () => {
    await cluster.start();
    cluster.addRevision('1-24');
    const entry = `1-25.${cluster.addRevision('1-25')}`;
    cluster.addTag('prod', '1-24', { strategy: { ...strategy, restart: {} } });
    cluster.memory.edit('revisiontags', 'prod', undefined, (tag) => {
      tag.status = { ...(tag.status as object), rollout: paused, restarts: restarting };
    });
    cluster.addNamespace('shop', { 'istio.io/rev': 'prod' });
    cluster.addNamespace('lost', { 'istio.io/rev': 'gone' });
    for (const name of ['a', 'b', 'c']) cluster.addPod('shop', name, name === 'b' ? undefined : `1-25.0000000${name}`);
    for (const name of ['d', 'e']) cluster.addPod('lost', name, entry, { labels: { 'istio.io/rev': '1-25' } });
    for (const name of ['a-7d9-0', 'c-7d9-2'])
      cluster.memory.edit('pods', name, 'shop', ({ metadata }) => {
        for (const owner of metadata.ownerReferences ?? []) Object.assign(owner, { kind: 'StatefulSet' });
      });
    const maker = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { namespace: 'shop', name: 'a' } };
    const message = 'admission webhook "rev.namespace.sidecar-injector.io" denied the request: no';
    const involvedObject = { ...maker, ...maker.metadata };
    cluster.memory.put('replicasets', { ...maker, spec: { replicas: 1 }, status: {} });
    cluster.memory.put('events', { ...maker, kind: 'Event', reason: 'FailedCreate', involvedObject, message });
    const kinds = 'injectorconfigs revisiontags namespaces pods events configmaps mutatingwebhookconfigurations';
    for (const kind of kinds.split(' ')) for (const object of cluster.memory.list(kind)) objects.push([kind, object]);
  });
  after(() => cluster.stop());

  const calls = `analyze; analyze -o json; analyze -o yaml; status; status -o json; status -o yaml; revisions;
    revisions -o json; revisions -o yaml; tag list; tag list -o json; tag watch prod; tag watch prod -o json;
    tag promote prod --timeout 0; tag pause prod --timeout 0; tag undo prod --yes --timeout 0; tag remove prod; tag set prod -r 1-25 --overwrite --timeout 0 -y;
    tag set new -r 1-25 --timeout 0; certs status; certs status -o json; certs export-ca 1-24; certs rotate 1-24;
    check pod/a-7d9-0 -n shop; check pod/b-7d9-1 namespace/lost -n shop --steps; check pod/d-7d9-3 -n lost -o json;
    check pod/a-7d9-0 -n shop --dry-run; diff --to 1-25 --tag prod; diff --to 1-25 -o json; diff --to 1-25 -o html;
    disable --all --dry-run; enable --all --dry-run; release --all --dry-run; uninstall -n injection;
    install --dry-run; __complete tag watch`.split(/;\s+/);

  async function runAll(text: string, bits: readonly boolean[]): Promise<Map<string, Seen>> {
    const infected = infecting(text, bits);
    // The commands before have changed the tags, and so their generations.
    for (const tag of ['new', 'prod'])
      if (cluster.memory.get('revisiontags', tag) !== undefined) cluster.memory.remove('revisiontags', tag);
    const leases = operatorLeases().map((lease) => ['leases', lease] as const);
    for (const [plural, object] of [...objects, ...leases]) {
      const { metadata, ...rest } = infected(object);
      // Authors write no objects of ours; invalid ones would hide most of the output.
      const isOurs = bits.length % 4 > 0 && !/^(?:pods|events|namespaces)$/.test(plural);
      const own = isOurs ? { ...object, ...('status' in rest && { status: rest.status }) } : rest;
      const { name = '' } = object.metadata;
      cluster.memory.put(plural, {
        ...own,
        kind: object.kind,
        metadata: { ...(isOurs ? object.metadata : metadata), name },
      });
    }
    const seen = new Map<string, Seen>();
    for (const call of calls) seen.set(call, await cluster.injector(call.split(' '), undefined, surroundings));
    return seen;
  }

  it('is harmless for hostile texts in a cluster', async () => {
    const property = fc.asyncProperty(texts, choices, async (text, bits) => {
      const expected = await runAll(tamed(text), bits);
      const seen = await runAll(text, bits);
      for (const call of calls) isHarmless(call.split(' '), seen.get(call)!, expected.get(call)!);
      const [json = '', yaml = ''] = ['json', 'yaml'].map((format) => seen.get(`analyze -o ${format}`)?.out);
      const findings = (json === '' ? [] : JSON.parse(json)) as Record<
        'namespace' | 'kind' | 'name' | 'command',
        string
      >[];
      assert.deepEqual(json === '' ? [] : parse(yaml), findings);
      const restarts = findings.filter(({ command }) => command.startsWith('kubectl rollout'));
      const words = restarts.map(({ kind, name, namespace }) => {
        return ['rollout', 'restart', `${kind.toLowerCase()}/${name}`, '-n', namespace];
      });
      assert.deepEqual(wordsOf(restarts.map(({ command }) => command)), words);
      const others = findings.filter(({ command }) => /^(?:kubectl|injector|#) /.test(command));
      wordsOf(others.map(({ command }) => command));
    });
    await fc.assert(property, { numRuns: 10, endOnFailure: true });
  });

  it('is harmless for errors of the YAML parser, which repeat texts', () => {
    const file = write('tag.yaml', 'a: !!int \u202E2J\n');
    const argv = [...process.execArgv, 'src/cli/main.ts', 'check', '-f', file];
    const { stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    assert.match(stderr, /cannot decode "\\u\{202e\}2J" as tag/);
    assert.deepEqual(stderr.replaceAll('\n', '').match(unprintable), null);
  });

  /** Runs commands with files whose names and contents have a text, and with it as an argument. */
  async function runFiles(text: string, bits: readonly boolean[]): Promise<[string[], Seen][]> {
    const infected = infecting(text.toWellFormed(), bits);
    const name = text.replaceAll(/[/\0]/g, '~').toWellFormed();
    const comment = `# ${text.replaceAll(/[\s\p{Cc}\ufffe\uffff]/gu, '').toWellFormed()}\n`;
    // YAML accepts control characters and line separators as escapes only, and no half surrogates.
    const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    const jsonOf = (content: object): string =>
      JSON.stringify(infected(content)).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\ufffe\uffff]/gu, escape);
    const file = (prefix: string, content: object): string =>
      write(`${prefix}${name}`, `${comment}${jsonOf(content)}\n`);
    const pod = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } };
    const metadata = { name: 'web', namespace: 'shop', annotations: { note: 'x' } };
    const injection = { templates: { sidecar: 'metadata:\n  labels: {{ .none.x }}' }, values: { a: 'b' } };
    const config = {
      apiVersion: 'sidecar-injector.io/v1alpha1',
      kind: 'InjectorConfig',
      metadata,
      spec: { injection },
    };
    const words: Readonly<Record<string, string>> = {
      APP: file('app', { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { template: pod } }),
      OWN: file('own', config),
      BAD: write(`bad${name}`, `a: ${text.replaceAll('\n', '')}: b: {\n# sidecar-injector.io/\n`),
      HELLO: 'examples/hello.yaml',
      NONE: path(`none${name}`),
      OPTION: `--${text}`,
      TEXT: text,
    };
    const argvs = `inject -f APP --config HELLO; inject -f BAD --config OWN; uninject -f APP; annotations --config OWN;
      check -f APP OWN; check -f APP HELLO -o json; check -f BAD; check TEXT; lint OWN BAD; lint OWN BAD -o json;
      lint OWN -o sarif; lint NONE; lint HELLO --ignore TEXT; diff -f OWN --from-file HELLO --manifests APP;
      diff -f HELLO --from-file OWN --manifests APP -o html; template --file BAD; template --batch APP;
      certs patch-ca-bundle --ca APP; install -o yaml -f APP; install -o yaml --set TEXT; tag list -o TEXT; TEXT;
      tag generate TEXT --revision 1; crd OPTION; version TEXT; tag list --kubeconfig BAD`.split(/;\s+/);
    const seen: [string[], Seen][] = [];
    for (const line of argvs) {
      const argv = line.split(' ').map((word) => words[word] ?? word);
      seen.push([argv, await runCommand(argv, '', undefined, surroundings)]);
    }
    return seen;
  }

  it('is harmless for hostile files and arguments', async () => {
    const property = fc.asyncProperty(fc.oneof(texts, fc.constant('~\uD800')), choices, async (text, bits) => {
      const expected = await runFiles(tamed(text), bits);
      for (const [index, [argv, seen]] of (await runFiles(text, bits)).entries())
        isHarmless(argv, seen, expected[index]![1]);
    });
    await fc.assert(property, { numRuns: 20, endOnFailure: true });
  });
});

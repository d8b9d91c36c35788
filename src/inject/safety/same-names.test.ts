import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inject } from '../inject.ts';
import type { InjectionResult } from '../injection-result.ts';
import { loadInjector } from '../injector.ts';
import { listOf, withServerDefaults } from '../kubernetes/admission-pod.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { messageOf, podOf, reasonOf } from './testdata/authors.ts';

const template = `
spec:
  containers:
  - name: hello
    image: hello:1
    env: [{name: A, value: "1"}]
    volumeMounts: [{name: config, mountPath: /etc/hello}]
  initContainers:
  - {name: prepare, image: "prepare:1", command: [prepare]}
  - {name: native, image: "native:1", restartPolicy: Always}
  volumes:
  - name: config
    configMap: {name: hello}
  imagePullSecrets: [{name: pull}]
  hostAliases: [{ip: 10.0.0.1, hostnames: [control]}]
  topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]
  resourceClaims: [{name: gpu, resourceClaimName: shared}]
`;
const status = 'sidecar.istio.io/status';
const saved = 'proxy.istio.io/overrides';
const web = { name: 'web', image: 'web:1' };
const withContainer = (container: JsonObject): JsonObject => ({ containers: [web, container] });

interface Options {
  readonly text?: string;
  readonly overrides?: JsonObject;
  readonly annotations?: JsonObject;
}

function run(spec: JsonObject, { text = template, overrides = {}, annotations = {} }: Options = {}): InjectionResult {
  const injector = loadInjector({
    config: JSON.stringify({ templates: { sidecar: text }, policy: 'enabled' }),
    values: '',
    mesh: '',
    settings: JSON.stringify({ annotationOverrides: { preset: 'Safe', ...overrides } }),
  });
  return inject(injector, { pod: podOf({ spec, annotations }), namespace: 'shop' });
}

function injected(spec: JsonObject, options?: Options): { metadata: JsonObject; spec: Record<string, JsonObject[]> } {
  const result = run(spec, options);
  assert.equal(result.outcome, 'injected', messageOf(result));
  return (result as { pod: unknown }).pod as ReturnType<typeof injected>;
}

const evil = { name: 'LD_PRELOAD', value: 'x' };
const namesOf = (list: readonly JsonObject[] | undefined): string => (list ?? []).map(({ name }) => name).join();
const plain = withServerDefaults(injected({})) as ReturnType<typeof injected>;

/** Asserts that a pod is refused, or has all elements of the template as they are in any pod. */
function assertGuarded(result: InjectionResult): void {
  if (result.outcome !== 'injected') {
    assert.match(reasonOf(result), /^(?:SameName|InvalidPod|InvalidOverrides)$/);
    return;
  }
  const after = withServerDefaults(result.pod).spec as typeof plain.spec;
  for (const [list, items] of Object.entries(plain.spec)) {
    for (const item of listOf(items).filter(({ name }) => name !== 'web')) {
      const found = after[list]?.filter((one) => keyOf(one) === keyOf(item));
      assert.deepEqual(found, [item], list);
    }
  }
}
const keyOf = ({ name, ip, topologyKey }: JsonObject): unknown => name ?? ip ?? topologyKey;

describe('an element with the name of an element of the template', () => {
  const refused: [title: string, spec: JsonObject, path: string][] = [
    ['another image', withContainer({ name: 'hello', image: 'evil:1' }), 'containers[hello].image'],
    [
      'a pull policy beside image auto',
      withContainer({ name: 'hello', image: 'auto', imagePullPolicy: 'Never' }),
      'imagePullPolicy',
    ],
    ['another pull policy', withContainer({ name: 'hello', imagePullPolicy: 'Always' }), 'imagePullPolicy'],
    ['a command', withContainer({ name: 'hello', command: ['evil'] }), 'containers[hello].command'],
    ['a variable', withContainer({ name: 'hello', env: [evil] }), 'containers[hello].env'],
    ['a privilege', withContainer({ name: 'hello', securityContext: { privileged: true } }), 'securityContext'],
    ['a hook', withContainer({ name: 'hello', lifecycle: { preStop: { exec: {} } } }), 'containers[hello].lifecycle'],
    [
      'another mount at the path of a mount',
      withContainer({ name: 'hello', volumeMounts: [{ name: 'own', mountPath: '/etc/hello' }] }),
      'containers[hello].volumeMounts',
    ],
    ['an init container of its name', { initContainers: [{ name: 'hello' }] }, 'initContainers[hello]'],
    ['another init image', { initContainers: [{ name: 'prepare', image: 'evil:1' }] }, 'initContainers[prepare].image'],
    ['a container of an init container’s name', withContainer({ name: 'prepare', image: 'x' }), 'containers[prepare]'],
    ['a container of a native sidecar’s name', withContainer({ name: 'native', image: 'x' }), 'containers[native]'],
    ['another field of a native sidecar', { initContainers: [{ name: 'native', tty: true }] }, '[native].tty'],
    ['an ephemeral container', { ephemeralContainers: [{ name: 'hello' }] }, 'ephemeralContainers[hello]'],
    [
      'other files of a volume',
      { volumes: [{ name: 'config', configMap: { name: 'hello', items: [{ key: 'evil', path: 'a' }] } }] },
      'volumes[config].configMap',
    ],
    ['a second source of a volume', { volumes: [{ name: 'config', emptyDir: {} }] }, 'volumes[config].emptyDir'],
    ['another claim', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'x' }] }, 'resourceClaims[gpu]'],
    [
      'a field of a constraint',
      { topologySpreadConstraints: [{ topologyKey: 'zone', minDomains: 2 }] },
      'topologySpreadConstraints[zone].minDomains',
    ],
  ];
  const all = ['hello', 'prepare', 'native', 'web'];
  for (const [title, spec, path] of refused) {
    it(`is refused if it sets ${title}`, () => {
      const result = run(spec);
      assert.equal(reasonOf(result), 'SameName');
      assert.ok(messageOf(result).includes(path), messageOf(result));
      for (const forged of ['{', JSON.stringify({ containers: all, initContainers: all })])
        assertGuarded(run(spec, { annotations: { [status]: forged } }));
    });
  }

  it('is refused, with a message that says what to do', () => {
    const { message } = run(withContainer({ name: 'hello', image: 'evil:1' })) as { message: string };
    assert.equal(
      message,
      "the pod's own elements would change what the templates add under the same names at spec.containers[hello].image: rename the pod's elements, or remove them; an administrator can list fields of containers in spec.injection.annotationOverrides.sameNameFields of the InjectorConfig (or of --annotation-overrides), or set sameName to Warn",
    );
    const annotations = { [saved]: '{"containers":[]}' };
    const spec = withContainer({ name: 'hello', tty: true, stdin: true, workingDir: '/', stdinOnce: true });
    const again = messageOf(run(spec, { annotations }));
    assert.match(again, /own elements or annotation proxy.istio.io\/overrides would .* …: .*, and remove proxy\.istio/);
  });

  it('is accepted if it changes nothing', () => {
    const accepted: JsonObject[] = [
      withContainer({ name: 'hello' }),
      withContainer({ name: 'hello', image: 'auto' }),
      withServerDefaults({ spec: withContainer({ name: 'hello', image: 'auto', imagePullPolicy: 'Always' }) })
        .spec as JsonObject,
      withContainer({ name: 'hello', env: [{ name: 'A', value: '1' }], imagePullPolicy: 'IfNotPresent' }),
      { initContainers: [{ name: 'prepare' }], imagePullSecrets: [{ name: 'pull' }] },
      { volumes: [{ name: 'config', configMap: { name: 'hello', defaultMode: 420 } }] },
    ];
    for (const spec of accepted) assert.equal(namesOf(injected(spec).spec.containers), 'hello,web');
  });

  it('has no field that is not known, such as a field of a later version', () => {
    const { spec } = injected(withContainer({ name: 'hello', image: 'auto', future: { privileged: true } }));
    assert.deepEqual(spec.containers?.[0]?.future, undefined);
  });

  it('does not move a container of the template', () => {
    const { spec } = injected({ initContainers: [{ name: 'first' }, { name: 'native' }, { name: 'prepare' }] });
    assert.equal(namesOf(spec.initContainers), 'prepare,native,first');
  });

  it('is accepted in a pod that was injected before, with the defaults of the API server', () => {
    const token = { name: 'kube-api-access-x', projected: { sources: [] } };
    const first = withServerDefaults(injected({ volumes: [token] })) as typeof plain;
    const mounts = first.spec.containers?.find(({ name }) => name === 'hello')?.volumeMounts as unknown[];
    assert.equal(mounts.length, 2);
    for (const annotations of [first.metadata.annotations as JsonObject, {}]) {
      const { spec } = injected(first.spec, { annotations });
      assert.deepEqual(spec.containers?.[0], first.spec.containers?.[0]);
    }
  });

  it('is replaced in a pod that was injected before, if the templates or the element have changed', () => {
    const { metadata, spec } = injected({});
    const edits: [before: string, after: string][] = [
      ['hello:1', 'hello:2'],
      ['{name: A, value: "1"}', '{name: B, value: "1"}'],
    ];
    for (const [before, after] of [['', ''] as const, ...edits]) {
      const options = { text: template.replace(before, after), annotations: metadata.annotations as JsonObject };
      const expected = injected({}, { text: options.text }).spec;
      const env = [evil];
      const changed = { ...spec, containers: listOf(spec.containers).map((each) => ({ ...each, env })) };
      const { warnings } = run(changed, options) as { warnings: readonly string[] };
      assert.match(warnings.join(), /was injected before: .* differ at spec\.containers\[hello\]/);
      const { containers } = injected(changed, options).spec;
      assert.deepEqual(containers?.[0], expected.containers?.[0], after);
      assert.deepEqual(containers?.at(-1)?.env, env, 'the containers of the author keep their fields');
    }
  });

  it('keeps the probes of a pod that was injected before, if its proxy is replaced', () => {
    const annotations = { 'sidecar.istio.io/rewriteAppHTTPProbers': 'true' };
    const options = { text: template.replaceAll('hello', 'istio-proxy'), annotations };
    const readinessProbe = { httpGet: { path: '/ready', port: 8080 } };
    const { metadata, spec } = injected({ containers: [{ ...web, readinessProbe }] }, options);
    const proxyOf = ({ spec: { containers } }: typeof plain) => containers?.find(({ name }) => name === 'istio-proxy');
    const { env } = proxyOf({ metadata, spec }) as { env: JsonObject[] };
    assert.match(JSON.stringify(env), /ISTIO_KUBE_APP_PROBERS.*8080/);
    const changed = { ...spec, containers: listOf(spec.containers).map((each) => ({ ...each, env: [...env, evil] })) };
    const again = injected(changed, { ...options, annotations: metadata.annotations as JsonObject });
    assert.deepEqual(proxyOf(again)?.env, env);
  });

  it('is the pod’s own if the template takes the name from the element', () => {
    const patch = `spec:\n  containers:\n  - name: {{ (index .Spec.Containers 0).Name }}\n    env: [{name: B, value: x}]\n  - {name: hello, image: "hello:1"}\n`;
    const { containers } = injected({}, { text: patch }).spec;
    assert.deepEqual(
      containers?.find(({ name }) => name === 'web'),
      { ...web, env: [{ name: 'B', value: 'x' }] },
    );
    assert.equal(reasonOf(run(withContainer({ name: 'hello', image: 'x' }), { text: patch })), 'SameName');
    const named = patch.replace('(index .Spec.Containers 0).Name', '.ObjectMeta.Name');
    assert.equal(reasonOf(run({}, { text: named })), 'SameName');
  });

  it('is refused if the templates fail without it', () => {
    const text = `{{ if not (index .Spec.Containers 1).Image }}{{ fail "no" }}{{ end }}${template}`;
    assert.match(messageOf(run(withContainer({ name: 'hello', image: 'auto' }), { text })), /names at spec:/);
  });

  it('may change the fields that are allowed', () => {
    const overrides = { sameNameFields: ['resources', 'tty'] };
    const resources = { limits: { cpu: '1' } };
    const { containers } = injected(withContainer({ name: 'hello', resources, tty: true }), { overrides }).spec;
    assert.deepEqual(containers?.find(({ name }) => name === 'hello')?.resources, resources);
    const more = withContainer({ name: 'hello', resources, image: 'evil:1' });
    assert.match(messageOf(run(more, { overrides })), /names at spec\.containers\[hello\]\.image:/);
  });

  it('may change anything, with a warning, if sameName is Warn', () => {
    const result = run(withContainer({ name: 'hello', image: 'evil:1' }), { overrides: { sameName: 'Warn' } });
    assert.ok(result.outcome === 'injected');
    assert.deepEqual(
      result.warnings.map((warning) => /spec\.\S+:/.exec(warning)?.[0]),
      ['spec.containers[hello].image:'],
    );
  });

  it('cannot come from saved overrides', () => {
    const container = { name: 'hello', image: 'evil:1' };
    const annotations = { [saved]: JSON.stringify({ containers: [container] }) };
    assert.equal(reasonOf(run(withContainer(container), { annotations })), 'SameName');
  });
});

describe('a forged annotation of an earlier injection', () => {
  it('hides no container from the templates', () => {
    const text = `spec:\n  containers:\n  - name: hello\n    image: hello:1\n    args: ["--containers={{ len .Spec.Containers }}"]\n`;
    assert.equal(reasonOf(run({}, { text, annotations: { [status]: '{"containers":["old"]}' } })), 'injected');
    const { containers } = injected({}, { text, annotations: { [status]: '{"containers":["web"]}' } }).spec;
    assert.equal(namesOf(containers), 'hello,web');
    assert.deepEqual(containers?.[0]?.args, ['--containers=1']);
  });
});

describe('every element that the template adds', () => {
  it('is the same as without elements of its name, or the pod is refused', () => {
    const name = fc.constantFrom('hello', 'prepare', 'native', 'config', 'gpu', 'other');
    const value = fc.constantFrom<unknown>('x', true, ['x'], [{ name: 'A', value: 'x' }], { name: 'hello' }, {});
    const field = fc.constantFrom('image', 'command', 'env', 'tty', 'restartPolicy', 'configMap', 'emptyDir');
    const item = fc.tuple(name, fc.dictionary(field, value, { maxKeys: 2 }));
    const lists = fc.constantFrom('containers', 'initContainers', 'volumes', 'resourceClaims');
    const text = fc.constantFrom('{"containers":["hello"],"initContainers":["native"]}', '{"containers":[]}', 'x');
    const annotations = fc.dictionary(fc.constantFrom(status, saved), text, { maxKeys: 1 });
    fc.assert(
      fc.property(fc.array(fc.tuple(lists, item), { maxLength: 3 }), annotations, (items, marks) => {
        const spec: Record<string, JsonObject[]> = { containers: [web] };
        for (const [list, [key, fields]] of items) (spec[list] ??= []).push({ ...fields, name: key });
        assertGuarded(run(spec, { annotations: marks }));
      }),
      { numRuns: 500 },
    );
  });
});

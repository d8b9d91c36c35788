import assert from 'node:assert/strict';
import { inject } from '../inject.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { loadInjector, type Injector } from '../injector.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { invalidPods } from './dry-run.ts';
import { refuseUnusable, rehearse, unknownPodFields } from './rehearse.ts';
import { typicalPod, typicalPods } from './typical-pods.ts';

interface Options {
  readonly template?: string;
  readonly values?: object;
  readonly policy?: string;
  readonly legacy?: boolean;
  readonly delimiters?: readonly [string, string];
  readonly preset?: 'Safe' | 'Istio';
}

function injectorWith({
  template = '',
  values = {},
  policy = 'enabled',
  legacy = false,
  ...options
}: Options): Injector {
  const { delimiters = ['{{', '}}'], preset = 'Istio' } = options;
  const texts = legacy ? { template } : { defaultTemplates: ['sidecar'], templates: { sidecar: template } };
  return loadInjector({
    config: JSON.stringify({ policy, ...texts }),
    values: JSON.stringify(values),
    mesh: '',
    settings: JSON.stringify({
      revision: 'default',
      delimiters,
      nativeSidecars: 'Disabled',
      keys: istioKeys,
      pathEnvironment: {},
      annotationOverrides: { preset, allow: [] },
    }),
  });
}

const containers = (...lines: string[]): string =>
  ['spec:', '  containers:', '  - name: sidecar', ...lines.map((line) => `    ${line}`)].join('\n');
/** Returns a container whose image comes from an expression. */
const image = (expression: string): string => containers(`image: {{ ${expression} }}`);
const rehearsalOf = (options: Options) => rehearse(injectorWith(options), () => 0);

describe('rehearse', () => {
  const withImage = { values: { image: 'a' } };
  const withY = { values: { y: {} } };
  const failsForOne = /fail for 1 of 11 pods .* such as a minimal pod: .*inject:4:/s;
  const noField = /inject:4:29: .*<\.DeploymentMeta\.Nmae>: can't evaluate field Nmae/;
  const wrongPort = /ContainerPort\.spec\.containers\.ports\.containerPort of type int32/;
  const notFound = /the API server refuses .*spec\.containers\[\d\]\.volumeMounts\[0\]\.name: Not found: "x"/;
  const duplicateForOne =
    /1 of 11 typical pods, such as a pod with init containers, are unusable: .*name: Duplicate value: "init"/;
  const fails: [title: string, template: string, message: RegExp, options?: Options][] = [
    [
      'wrong indentation',
      'spec:\n containers:\n  - name: a\n   image: b',
      /yaml: line 4: did not find expected '-' indicator/,
    ],
    ['a field that a struct does not have', image('.DeploymentMeta.Nmae'), noField],
    ['a member of a string', image('.Values.image.tag'), /inject:4:21: .*<\.Values\.image\.tag>/, withImage],
    ['wrong delimiters', containers('image: [[ .Values.image ]]'), /cannot unmarshal array/],
    ['a list', '- a', /invalid JSON document/],
    ['a scalar', 'hello', /invalid JSON document/],
    ['tabs as indentation', 'spec:\n\tcontainers: []', /yaml: line 2/],
    ['a port that is a string', containers('ports: [{containerPort: "80"}]'), wrongPort],
    ['a number instead of a string', containers('image: 5'), /cannot unmarshal number/],
    ['a map instead of containers', 'spec: {containers: {name: a}}', /cannot unmarshal/],
    ['an index of a missing value', image('index .Values.image 0'), /error calling index/],
    ['a map that is indexed too deeply', image('index .Values "a" "b"'), /index of nil pointer/],
    ['a function with the wrong type of argument', image('first .Values.image'), /error calling first/],
    ['a call of fail', '{{ fail "never" }}', /never/],
    ['a named template that does not exist', '{{ template "other" . }}', /"other" not defined/],
    ['an invalid quantity', containers('resources: {limits: {cpu: 1x}}'), /quantities/],
    ['HTML', '<html>\n<a>\n', /invalid JSON document/],
    ['a map instead of env', containers('env: {A: b}'), /cannot unmarshal object/],
    ['wrong indentation in a 1.x template', 'containers:\n- name: a\n image: b', /yaml: line/, { legacy: true }],
    ['an error under preset Safe', '{{ .Nmae }}', /can't evaluate field Nmae/, { preset: 'Safe' }],
    ['a policy that injects pods only on request', '{{ .Nmae }}', /Nmae/, { policy: 'disabled' }],
    ['a mount without a volume', containers('image: a', 'volumeMounts: [{name: x, mountPath: /x}]'), notFound],
    ['a misspelt image', containers('imagee: b'), /image: Required value; .* dropped: spec\.containers\[0\]\.imagee;/],
    ['an image without value', image('.Values.imgae'), /containers\[\d\]\.image of the injected pod .*"<no value>"/],
    [
      'a name without value',
      containers('image: a', 'env: [{name: {{ .Values.x }}}]'),
      /env\[0\]\.name of .*"<no value>"/,
    ],
  ];
  for (const [title, template, message, more] of fails) {
    it(`reports that all pods fail: ${title}`, () => {
      const options = { template, ...more };
      const { failure, warnings } = rehearsalOf(options);
      assert.match([failure?.message, ...warnings].join('; '), message);
      const injector = { ...injectorWith(options), rehearsal: { failure, warnings } } as Injector;
      const refuse = (): void => {
        refuseUnusable(injector);
      };
      assert.throws(refuse, { name: 'ConfigurationError', field: 'config.templates', message });
    });
  }

  const warns: [title: string, template: string, warnings: RegExp[], options?: Options][] = [
    ['containers without spec', 'containers:\n- name: a\n  image: b', [/dropped: containers;/, /add nothing/]],
    ['a misspelt field', containers('image: a', 'imagee: b'), [/dropped: spec\.containers\[0\]\.imagee;/]],
    ['a misplaced field', containers('image: b', 'resources: {env: []}'), [/containers\[0\]\.resources\.env;/]],
    [
      'a missing part',
      containers('image: a', 'args: [a, "-x={{ .Values.y.z }}"]'),
      [/spec\.containers\[0\]\.args\[1\]/],
      withY,
    ],
    ['empty output', '', [/add nothing/]],
    ['output that is only a comment', '# a: b\n', [/add nothing/]],
    ['only zero values', 'spec: {containers: [], hostNetwork: false}', [/add nothing/]],
    ['a 1.x template with content below spec', 'spec: {containers: [{name: a}]}', [/add nothing/], { legacy: true }],
    ['a failure for some pods', image('(index .ObjectMeta.OwnerReferences 0).Name'), [failsForOne]],
    ['a name that some pods have', 'spec: {containers: [{name: init, image: a}]}', [duplicateForOne]],
  ];
  for (const [title, template, expected, options] of warns) {
    it(`warns of ${title}`, () => {
      const { failure, warnings: found, unusable } = rehearsalOf({ template, ...options });
      const warnings = [...found, ...invalidPods(undefined, unusable)];
      assert.equal(failure, undefined);
      assert.equal(warnings.length, expected.length, warnings.join('\n'));
      for (const [index, pattern] of expected.entries()) assert.match(warnings[index] ?? '', pattern);
    });
  }

  const legacy = 'containers: [{name: a, image: b}]\npodRedirectAnnot: {a: b}\nrewriteAppHTTPProbe: true';
  const fine: [title: string, template: string, options?: Options][] = [
    ['a container', image('.Values.image'), withImage],
    ['labels alone', 'metadata: {labels: {a: b}}'],
    ['directives of strategic merge', 'spec:\n  securityContext:\n    $patch: replace\n    runAsUser: 1'],
    ['names in another case, which Go accepts', containers('IMAGE: a')],
    ['a 1.x template', legacy, { legacy: true }],
    ['a container under preset Safe', containers('image: a'), { preset: 'Safe' }],
    ['a policy that injects pods only on request', containers('image: a'), { policy: 'disabled' }],
  ];
  for (const [title, template, options] of fine) {
    it(`has no warning for ${title}`, () => {
      const { injected, ...found } = rehearsalOf({ template, ...options });
      assert.deepEqual([found, injected?.length], [{ warnings: [] }, 11]);
    });
  }

  it('only warns if the templates fail for all pods of the cluster, and accepts injected pods', () => {
    const insists = `{{ if eq .ObjectMeta.Namespace "shop" }}{{ fail (repeat 2000 "no") }}{{ end }}${containers('image: a')}`;
    const injector = injectorWith({ template: insists });
    const sample = ['a', 'b', 'c', 'd'].map((name) => {
      const pod = { metadata: { name, namespace: 'shop' }, spec: { containers: [{ name: 'a' }] } };
      return { kind: `Deployment shop/${name}`, namespace: 'shop', pod };
    });
    assert.deepEqual(rehearse(injector, () => 0).warnings, []);
    const { failure, warnings } = rehearse(injector, () => 0, sample);
    assert.equal(failure, undefined);
    const warning = /fail for 4 of 4 pods .* such as Deployment shop\/a, Deployment shop\/b, Deployment shop\/c: .*no/s;
    assert.match(warnings.join(), warning);
    assert.ok(warnings.join().length < 1500, 'the warning is too long');
    const fine = injectorWith({ template: containers('image: a') });
    for (const { kind, pod } of typicalPods('i')) {
      const injected = inject(fine, { pod, namespace: 'default' });
      assert.ok(injected.outcome === 'injected');
      const again = { kind, namespace: 'default', pod: injected.pod, original: injected.pod };
      const sample = [{ kind, pod: injected.pod }];
      assert.deepEqual(
        rehearse(fine, () => 0, sample),
        { warnings: [], injected: [again] },
      );
    }
  });

  it('stops after the time limit', () => {
    let time = 0;
    const { failure } = rehearse(injectorWith({ template: '{{ .Nmae }}' }), () => (time += 400));
    assert.match(failure?.message ?? '', /Nmae/);
    assert.equal(time, 3 * 400);
  });
});

describe('typicalPod', () => {
  it('returns pods of all kinds, with known fields only', () => {
    const kinds = typicalPods('inject').length;
    const pods = Array.from({ length: 3 * kinds }, (_, index) => typicalPod('inject', index));
    for (const { kind, pod } of pods) {
      assert.deepEqual(unknownPodFields(pod, 5), [], kind);
      normalisePod(pod);
    }
    assert.equal(new Set(pods.map(({ kind }) => kind)).size, kinds);
    assert.equal(new Set(pods.map(({ pod }) => JSON.stringify(pod))).size, pods.length);
  });
});

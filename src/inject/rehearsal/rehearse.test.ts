import assert from 'node:assert/strict';
import { inject } from '../inject.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { loadInjector, type Injector } from '../injector.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { refuseHopeless, rehearse } from './rehearse.ts';
import { typicalPod, typicalPodKinds } from './typical-pods.ts';
import { unknownFields } from './rehearse.ts';

interface Given {
  readonly template?: string;
  readonly values?: object;
  readonly policy?: string;
  readonly legacy?: boolean;
  readonly delimiters?: readonly [string, string];
  readonly preset?: 'Safe' | 'Istio';
}

function injectorWith({ template = '', values = {}, policy = 'enabled', legacy = false, ...given }: Given): Injector {
  const { delimiters = ['{{', '}}'], preset = 'Istio' } = given;
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
/** One whose image is what an expression makes. */
const image = (expression: string): string => containers(`image: {{ ${expression} }}`);
const tried = (given: Given) => rehearse(injectorWith(given), () => 0);

describe('rehearse', () => {
  const withImage = { values: { image: 'a' } };
  const withY = { values: { y: {} } };
  const failsForOne = /fail for 1 of 11 pods .* such as a minimal pod: .*inject:4:/s;
  const noField = /inject:4:29: .*<\.DeploymentMeta\.Nmae>: can't evaluate field Nmae/;
  const wrongPort = /ContainerPort\.spec\.containers\.ports\.containerPort of type int32/;
  const fails: [title: string, template: string, message: RegExp, given?: Given][] = [
    ['wrong indentation', 'spec:\n containers:\n  - name: a\n   image: b', /yaml: line 4: bad indentation/],
    ['a field that a struct does not have', image('.DeploymentMeta.Nmae'), noField],
    ['a member of a text', image('.Values.image.tag'), /inject:4:21: .*<\.Values\.image\.tag>/, withImage],
    ['other delimiters than the configuration has', containers('image: [[ .Values.image ]]'), /cannot unmarshal array/],
    ['a list', '- a', /invalid JSON document/],
    ['a word', 'hello', /invalid JSON document/],
    ['tabs', 'spec:\n\tcontainers: []', /yaml: line 2/],
    ['a port that is a text', containers('ports: [{containerPort: "80"}]'), wrongPort],
    ['a number where a text belongs', containers('image: 5'), /cannot unmarshal number/],
    ['containers that are a map', 'spec: {containers: {name: a}}', /cannot unmarshal/],
    ['a variable without its value', image('index .Values.image 0'), /error calling index/],
    ['a map that is indexed too deeply', image('index .Values "a" "b"'), /index of nil pointer/],
    ['a function of the wrong kind of value', image('first .Values.image'), /error calling first/],
    ['fail', '{{ fail "never" }}', /never/],
    ['a named template that is not there', '{{ template "other" . }}', /"other" not defined/],
    ['a quantity that is none', containers('resources: {limits: {cpu: 1x}}'), /quantities/],
    ['a text of another program', '<html>\n<a>\n', /invalid JSON document/],
    ['an environment of a map', containers('env: {A: b}'), /cannot unmarshal object/],
    ['1.x: wrong indentation', 'containers:\n- name: a\n image: b', /yaml: line/, { legacy: true }],
    ['preset Safe as well', '{{ .Nmae }}', /can't evaluate field Nmae/, { preset: 'Safe' }],
    ['a policy that injects nobody without a wish', '{{ .Nmae }}', /Nmae/, { policy: 'disabled' }],
  ];
  for (const [title, template, message, more] of fails) {
    it(`says why no pod can be injected: ${title}`, () => {
      const given = { template, ...more };
      const { failure, warnings } = tried(given);
      assert.match(failure?.message ?? 'none', message);
      assert.deepEqual(warnings, []);
      const injector = { ...injectorWith(given), rehearsal: { failure, warnings } } as Injector;
      const refuse = (): void => {
        refuseHopeless(injector);
      };
      assert.throws(refuse, { name: 'ConfigurationError', field: 'config.templates', message });
    });
  }

  const warns: [title: string, template: string, warnings: RegExp[], given?: Given][] = [
    ['containers without spec', 'containers:\n- name: a\n  image: b', [/dropped: containers;/, /add nothing/]],
    ['a misspelt field', containers('imagee: b'), [/dropped: spec\.containers\[0\]\.imagee;/]],
    ['a field too deep', containers('image: b', 'resources: {env: []}'), [/containers\[0\]\.resources\.env;/]],
    ['a value that is not there', image('.Values.imgae'), [/"<no value>" into spec\.containers\[0\]\.image:/]],
    ['part of a text', containers('args: [a, "-x={{ .Values.y.z }}"]'), [/spec\.containers\[0\]\.args\[1\]/], withY],
    ['nothing', '', [/add nothing/]],
    ['a comment', '# a: b\n', [/add nothing/]],
    ['zeros', 'spec: {containers: [], hostNetwork: false}', [/add nothing/]],
    ['1.x: members in spec', 'spec: {containers: [{name: a}]}', [/add nothing/], { legacy: true }],
    ['a failure for some', image('(index .ObjectMeta.OwnerReferences 0).Name'), [failsForOne]],
  ];
  for (const [title, template, expected, given] of warns) {
    it(`warns of ${title}`, () => {
      const { failure, warnings } = tried({ template, ...given });
      assert.equal(failure, undefined);
      assert.equal(warnings.length, expected.length, warnings.join('\n'));
      for (const [index, pattern] of expected.entries()) assert.match(warnings[index] ?? '', pattern);
    });
  }

  const legacy = 'containers: [{name: a, image: b}]\npodRedirectAnnot: {a: b}\nrewriteAppHTTPProbe: true';
  const fine: [title: string, template: string, given?: Given][] = [
    ['a container', image('.Values.image'), withImage],
    ['labels alone', 'metadata: {labels: {a: b}}'],
    ['directives of strategic merge', 'spec:\n  securityContext:\n    $patch: replace\n    runAsUser: 1'],
    ['names in another case, as Go reads them', containers('IMAGE: a')],
    ['1.x', legacy, { legacy: true }],
    ['preset Safe', containers('image: a'), { preset: 'Safe' }],
    ['no default templates', containers('image: a'), { policy: 'disabled' }],
  ];
  for (const [title, template, given] of fine) {
    it(`has nothing to say of ${title}`, () => {
      assert.deepEqual(tried({ template, ...given }), { warnings: [] });
    });
  }

  it('tries pods of the cluster by themselves, injected ones too: what fails for all of them is a doubt, and names them', () => {
    const insists = `{{ if eq .ObjectMeta.Namespace "shop" }}{{ fail (repeat 2000 "no") }}{{ end }}${containers('image: a')}`;
    const injector = injectorWith({ template: insists });
    const sample = ['a', 'b', 'c', 'd'].map((name) => {
      const pod = { metadata: { name, namespace: 'shop' }, spec: { containers: [{ name: 'a' }] } };
      return { kind: `Deployment shop/${name}`, namespace: 'shop', pod };
    });
    assert.deepEqual(rehearse(injector, () => 0).warnings, []);
    const { failure, warnings } = rehearse(injector, () => 0, sample);
    assert.equal(failure, undefined);
    const said = /fail for 4 of 4 pods .* such as Deployment shop\/a, Deployment shop\/b, Deployment shop\/c: .*no/s;
    assert.match(warnings.join(), said);
    assert.ok(warnings.join().length < 1500, 'whatever an author wrote');
    const fine = injectorWith({ template: containers('image: a') });
    for (const { kind, pod } of Array.from({ length: typicalPodKinds }, (_, index) => typicalPod('i', index))) {
      const injected = inject(fine, { pod, namespace: 'default' });
      assert.ok(injected.outcome === 'injected');
      assert.deepEqual(
        rehearse(fine, () => 0, [{ kind, pod: injected.pod }]),
        { warnings: [] },
      );
    }
  });

  it('ends when it has worked enough', () => {
    let time = 0;
    const { failure } = rehearse(injectorWith({ template: '{{ .Nmae }}' }), () => (time += 400));
    assert.match(failure?.message ?? '', /Nmae/);
    assert.equal(time, 3 * 400);
  });
});

describe('typicalPod', () => {
  it('is a pod that Go reads without a loss, of each kind another one', () => {
    const pods = Array.from({ length: 3 * typicalPodKinds }, (_, index) => typicalPod('inject', index));
    for (const { kind, pod } of pods) {
      assert.deepEqual(unknownFields(pod, 5), [], kind);
      normalisePod(pod);
    }
    assert.equal(new Set(pods.map(({ kind }) => kind)).size, typicalPodKinds);
    assert.equal(new Set(pods.map(({ pod }) => JSON.stringify(pod))).size, pods.length);
  });
});

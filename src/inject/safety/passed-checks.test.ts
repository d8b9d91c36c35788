import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { inject } from '../inject.ts';
import type { InjectionResult } from '../injection-result.ts';
import { InjectionFailure } from '../injection-failure.ts';
import { loadInjector, type Injector } from '../injector.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { AuthorInput } from './author-inputs.ts';
import { PassedChecks, type RenderTexts } from './passed-checks.ts';
import { given, podOf, sidecar, variable, written, type Author } from './testdata/authors.ts';

const input = (value: string): AuthorInput => ({
  kind: 'label',
  name: 'app',
  value,
  harmless: true,
  steers: true,
  parsed: false,
});
const without = (): undefined => undefined;
const refusal = new InjectionFailure('UnsafeAnnotation', 'no');

describe('PassedChecks', () => {
  const content = { spec: {} };
  const shop = [input('shop')];

  interface Checked {
    readonly contents?: readonly JsonObject[];
    readonly inputs?: readonly AuthorInput[];
    readonly render?: RenderTexts;
  }

  /** Checks one pod; whether what was rendered for comparison had to be looked at. */
  function looksAt(
    checks: PassedChecks,
    { contents = [content], inputs = shop, render = () => ['a'] }: Checked,
  ): boolean {
    let looked = false;
    checks.checkOnce(contents, inputs, render, (recorded) => {
      looked = true;
      try {
        recorded(inputs, without);
      } catch (error) {
        if (error !== refusal) throw error;
      }
    });
    return looked;
  }

  it('looks once at what comes out again', () => {
    const checks = new PassedChecks();
    assert.deepEqual(
      [1, 2, 3].map(() => looksAt(checks, {})),
      [true, false, false],
    );
  });

  const differing: [title: string, pod: Checked][] = [
    ['what was rendered for the pod, though it be equal', { contents: [{ spec: {} }] }],
    ['what another template rendered for it', { contents: [content, {}] }],
    ['an input', { inputs: [input('cart')] }],
    ['what is known of an input', { inputs: [{ ...input('shop'), steers: false }] }],
    ['what is rendered for comparison', { render: () => ['b'] }],
    ['how much that is', { render: () => ['a', 'b'] }],
    [
      'that it can be rendered at all',
      {
        render: () => {
          throw refusal;
        },
      },
    ],
  ];
  for (const [title, pod] of differing) {
    it(`looks again when it differs in ${title}, and remembers that too`, () => {
      const checks = new PassedChecks();
      looksAt(checks, {});
      assert.deepEqual([looksAt(checks, pod), looksAt(checks, pod)], [true, false]);
    });
  }

  it('remembers no check that was not passed', () => {
    const checks = new PassedChecks();
    let times = 0;
    const fail = (): void => {
      checks.checkOnce(
        [content],
        shop,
        () => ['a'],
        () => {
          times++;
          throw refusal;
        },
      );
    };
    assert.throws(fail, refusal);
    assert.throws(fail, refusal);
    assert.equal(times, 2);
  });

  it('passes on a defect, while it remembers and while it compares', () => {
    const checks = new PassedChecks();
    const defect: RenderTexts = () => {
      throw new TypeError('defect');
    };
    assert.throws(() => looksAt(checks, { render: defect }), TypeError);
    looksAt(checks, {});
    assert.throws(() => looksAt(checks, { render: defect }), TypeError);
  });

  it('remembers some for a content, and nothing long', () => {
    const checks = new PassedChecks();
    const pods = ['a', 'b', 'c', 'd', 'e'].map((value) => ({ inputs: [input(value)] }));
    for (const pod of pods) looksAt(checks, pod);
    assert.deepEqual(
      pods.toReversed().map((pod) => looksAt(checks, pod)),
      [false, false, false, false, true],
    );
    const [long, text] = ['x'.repeat(70_000), 'x'.repeat(60_000)];
    for (const pod of [{ inputs: [input(long)] }, { render: () => [text, text, text] }]) {
      looksAt(checks, pod);
      assert.equal(looksAt(checks, pod), true);
    }
  });

  it('holds nothing that templates after the first have rendered', async () => {
    const checks = new PassedChecks();
    const other = (): WeakRef<JsonObject> => {
      const rendered = { spec: {} };
      looksAt(checks, { contents: [content, rendered] });
      return new WeakRef(rendered);
    };
    const held = other();
    await collectGarbage();
    assert.equal(held.deref(), undefined);
  });
});

/** What a WeakRef was made of or asked for stays until the job ends. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 4; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}

describe('pods after one another', () => {
  const injectorOf = (template: string): Injector =>
    loadInjector({
      config: JSON.stringify({ templates: { sidecar: template }, policy: 'enabled', defaultTemplates: ['sidecar'] }),
      values: '',
      mesh: '',
      settings: JSON.stringify({ annotationOverrides: { preset: 'Safe', allow: [] } }),
    });
  const injected = (injector: Injector, author: Author): InjectionResult =>
    inject(injector, { pod: podOf(author), namespace: 'shop' });
  const privileged = sidecar(
    `securityContext: {privileged: {{ if or (eq (default "" ${given}) "x") .Spec.HostPID }}true{{ else }}false{{ end }}}`,
  );
  const asked = written('x');
  const entitled: Author = { ...asked, spec: { containers: [{ name: 'web', image: 'web:1' }], hostPID: true } };

  it('are refused what was rendered for another that did not owe it to its annotation', () => {
    const injector = injectorOf(privileged);
    const outcomes = [entitled, entitled, asked, entitled, asked].map((author) => injected(injector, author));
    assert.deepEqual(
      outcomes.map((result) => ('reason' in result ? result.reason : result.outcome)),
      ['injected', 'injected', 'UnsafeAnnotation', 'injected', 'UnsafeAnnotation'],
    );
  });

  it('get what each would get alone', () => {
    const templates = [
      privileged,
      sidecar(`env: [{name: TEAM, value: {{ default "none" ${given} | quote }}}]`),
      sidecar(`image: {{ default "proxy" ${given} }}`),
      sidecar(`{{ if not ${given} }}{{ fail "no team" }}{{ end }}args: [{{ ${given} | quote }}]`),
      `{{ if ${given} }}${sidecar('')}{{ end }}`,
    ];
    const texts = ['x', 'y', 'a: b', '"', 'x', 'a\n- b', 'null', 'proxy', 'a: b'];
    const authors = texts.flatMap((text) => [written(text), { ...entitled, ...written(text) }, {}, written(text)]);
    for (const template of templates) {
      const shared = injectorOf(template);
      for (const author of authors)
        assert.deepEqual(injected(shared, author), injected(injectorOf(template), author), template);
    }
  });

  const keeping: [title: string, template: string][] = [
    ['compared with other letters', variable(`{{ ${given} | b64enc }}`)],
    [
      'that insist on the annotation',
      `{{ if not ${given} }}{{ fail "no team" }}{{ end }}${variable(`{{ ${given} | quote }}`)}`,
    ],
  ];
  for (const [title, template] of keeping) {
    it(`are let go, of templates ${title}`, async () => {
      const injector = injectorOf(template);
      const come = (): WeakRef<object> => {
        const env = [{ name: 'A', value: 'a' }];
        const pod = podOf({ ...written('a b'), spec: { containers: [{ name: 'web', image: 'web:1', env }] } });
        assert.equal(inject(injector, { pod, namespace: 'shop' }).outcome, 'injected');
        return new WeakRef(env);
      };
      const seen = come();
      await collectGarbage();
      assert.equal(seen.deref(), undefined);
      assert.ok(injector.guard !== undefined);
    });
  }
});

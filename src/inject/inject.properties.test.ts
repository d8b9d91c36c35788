import assert from 'node:assert/strict';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { inject } from './inject.ts';
import { kubeInject } from './kube-inject.ts';
import type { InjectionResult } from './injection-result.ts';
import { loadInjector, type Injector } from './injector.ts';
import { applyJsonPatch } from './patch/testdata/apply-json-patch.ts';
import type { JsonObject } from './patch/json-value.ts';
import { legacyFiles, logFiles, proxyFiles } from './testdata/configurations.ts';
import { parseYaml } from './yaml/parse-yaml.ts';

const injectors = {
  // Omit the cluster name: otherwise, a second injection by Istio moves an environment variable.
  proxy: loadInjector({ ...proxyFiles, values: '{"sidecarInjectorWebhook": {"rewriteAppHTTPProbe": true}}' }),
  log: loadInjector(logFiles),
  legacy: loadInjector(legacyFiles),
};
const families = fc.constantFrom<(keyof typeof injectors)[]>('proxy', 'log', 'legacy');

const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,6}[a-z0-9])?$/);
const port = fc.integer({ min: 1, max: 14000 });
const handler = fc.oneof(
  fc.record({
    httpGet: fc.record({ path: fc.constantFrom('/', '/ready'), port: fc.oneof(port, fc.constant('http')) }),
  }),
  fc.record({ tcpSocket: fc.record({ port }) }),
  fc.record({ exec: fc.record({ command: fc.constant(['true']) }) }),
);
const container = fc.record(
  {
    name: fc.oneof(name, fc.constantFrom('istio-proxy', 'istio-init', 'log-collector')),
    image: fc.constantFrom('auto', 'app:1', ''),
    ports: fc.array(fc.record({ name: fc.constant('http'), containerPort: port }), { maxLength: 1 }),
    readinessProbe: handler,
    livenessProbe: handler,
    lifecycle: fc.record({ preStop: handler }),
    env: fc.array(fc.record({ name: fc.constantFrom('A', 'B'), value: fc.string() }), { maxLength: 2 }),
    resources: fc.constantFrom({}, { requests: { cpu: '1500m', memory: '0.5Gi' } }),
    securityContext: fc.record({ runAsUser: fc.integer({ min: 0, max: 5000 }) }),
    future: fc.constant({ field: 1 }),
  },
  { requiredKeys: ['name'] },
);
const containers = fc.uniqueArray(container, { maxLength: 4, selector: (item) => item.name });
const strings = fc.dictionary(
  fc.oneof(name, fc.constantFrom('__proto__', 'constructor', 'app')),
  fc.constantFrom('a', '', 'true'),
  { maxKeys: 3 },
);

/** Generates pods that an API server accepts, except that names may collide with injected names. */
const podArbitrary: fc.Arbitrary<JsonObject> = fc
  .record({
    metadata: fc.record(
      {
        name,
        generateName: name,
        labels: strings,
        annotations: strings,
        managedFields: fc.constant([{ manager: 'm' }]),
        namespace: fc.constant('shop'),
      },
      { requiredKeys: [] },
    ),
    spec: fc
      .record(
        {
          containers,
          initContainers: containers,
          volumes: fc.constantFrom([], [{ name: 'proxy-run', emptyDir: {} }]),
          futureSpec: fc.constant(1),
        },
        { requiredKeys: ['containers'] },
      )
      .filter(
        ({ containers: first, initContainers: second }) =>
          !(second ?? []).some((item) => first.some((other) => other.name === item.name)),
      ),
  })
  // Convert as JSON parsing does: plain objects, with __proto__ as an ordinary name.
  .map((pod) => JSON.parse(JSON.stringify(pod)) as JsonObject);

describe('inject, for any pod', () => {
  const namesOf = ({ spec }: JsonObject): string[] => {
    const { containers: regular, initContainers = [] } = spec as Record<string, { name: string }[]>;
    return [...(regular ?? []), ...initContainers].map((item) => item.name);
  };
  interface Case {
    readonly pod: JsonObject;
    readonly injector: Injector;
    /** Injects a pod, with the nodes of this test case. */
    readonly injected: (pod: JsonObject, injector?: Injector) => Extract<InjectionResult, { outcome: 'injected' }>;
  }
  const forAny = (numRuns: number, check: (testCase: Case) => void): void => {
    const nodes = fc.constantFrom([], [{ name: 'n', kubeletVersion: 'v1.34.0' }]);
    fc.assert(
      fc.property(podArbitrary, families, nodes, (pod, family, some) => {
        const injected: Case['injected'] = (one, injector = injectors[family]) => {
          const result = inject(injector, { pod: one, namespace: 'shop', nodes: some });
          assert.ok(result.outcome === 'injected', JSON.stringify(result));
          return result;
        };
        check({ pod, injector: injectors[family], injected });
      }),
      { numRuns },
    );
  };

  it('never changes the request, and returns a patch that produces the returned pod', () => {
    forAny(300, ({ pod, injected }) => {
      const before = structuredClone(pod);
      const result = injected(pod);
      assert.deepEqual(pod, before);
      assert.deepEqual(applyJsonPatch(pod, result.patch), result.pod);
    });
  });

  it('returns only operations that have an effect and do not overwrite another operation', () => {
    forAny(300, ({ pod, injected }) => {
      const result = injected(pod);
      const written: string[] = [];
      let document: unknown = pod;
      for (const operation of result.patch) {
        const next = applyJsonPatch(document, [operation]);
        assert.notDeepEqual(next, document, operation.path);
        assert.ok(!written.some((path) => operation.path === path || operation.path.startsWith(`${path}/`)));
        // After a removal from a list, the next item has the same path.
        if (operation.op !== 'remove') written.push(operation.path);
        document = next;
      }
      assert.deepEqual(document, result.pod);
    });
  });

  it('gives the same result as a newly loaded injector', () => {
    forAny(60, ({ pod, injector, injected }) => {
      assert.deepEqual(injected(structuredClone(pod)), injected(structuredClone(pod), loadInjector(injector.files)));
    });
  });

  it('gives the same result for the same request', () => {
    forAny(100, ({ pod, injected }) => {
      assert.equal(JSON.stringify(injected(structuredClone(pod))), JSON.stringify(injected(structuredClone(pod))));
    });
  });

  it('keeps the user’s containers, and adds each injected container once', () => {
    forAny(200, ({ pod, injected }) => {
      const { initContainers = [], containers: regular = [] } = pod.spec as Record<string, { name: string }[]>;
      // Exclude pods in which an injected name belongs to a container of the other kind.
      fc.pre(
        !regular.some((item) => item.name === 'istio-init') &&
          !initContainers.some((item) => /istio-proxy|log-collector/.test(item.name)),
      );
      const names = namesOf(injected(pod).pod);
      assert.equal(new Set(names).size, names.length);
      for (const own of namesOf(pod)) assert.ok(names.includes(own), own);
    });
  });

  it('is idempotent unless a user’s container has the name of an injected container', () => {
    forAny(200, ({ pod, injected }) => {
      fc.pre(!namesOf(pod).some((one) => /^istio-|^log-collector$/.test(one)));
      const first = injected(pod);
      const second = injected(first.pod);
      assert.deepEqual(second.pod, first.pod);
      assert.deepEqual(second.patch, []);
    });
  });

  it('returns a result for any input', () => {
    const assertResult = (injector: Injector, pod: JsonObject): void => {
      const { outcome } = inject(injector, { pod, namespace: 'shop' });
      assert.ok(['injected', 'skipped', 'failed'].includes(outcome));
    };
    const deeplyNested = (): JsonObject => {
      let value: JsonObject = {};
      for (let depth = 0; depth < 5000; depth += 1) value = { nodeAffinity: value };
      return { metadata: value, spec: { affinity: { nodeAffinity: value }, containers: [] } };
    };
    fc.assert(
      fc.property(
        fc.oneof(fc.object(), fc.record({ metadata: fc.anything(), spec: fc.anything() })),
        families,
        (pod, family) => {
          assertResult(injectors[family], pod);
        },
      ),
      { numRuns: 500 },
    );
    for (const injector of Object.values(injectors)) assertResult(injector, deeplyNested());
  });
});

describe('kubeInject, for any file', () => {
  it('does not change a file without workloads', () => {
    const object = fc.record({
      apiVersion: fc.constantFrom('v1', 'example.com/v1'),
      kind: fc.constantFrom('Secret', 'Thing'),
      metadata: fc.record({ name }),
      data: strings,
    });
    fc.assert(
      fc.property(fc.array(object, { minLength: 1, maxLength: 4 }), fc.boolean(), families, (objects, flow, family) => {
        const text = objects
          .map((item) => stringify(item, { version: '1.1', collectionStyle: flow ? 'flow' : 'any' }))
          .join('---\n');
        assert.deepEqual(kubeInject(injectors[family], text), { outcome: 'done', text, warnings: [] });
      }),
      { numRuns: 100 },
    );
  });

  it('returns the same pod for a file as for a single pod', () => {
    fc.assert(
      fc.property(podArbitrary, families, (pod, family) => {
        const object = { apiVersion: 'v1', kind: 'Pod', ...pod };
        const file = kubeInject(
          injectors[family],
          stringify(object, { version: '1.1', aliasDuplicateObjects: false }),
          { namespace: 'shop' },
        );
        const single = inject(injectors[family], { pod: object, namespace: 'shop' });
        assert.ok(file.outcome === 'done' && single.outcome === 'injected');
        assert.deepEqual(JSON.parse(JSON.stringify(parseYaml(file.text))), single.pod);
      }),
      { numRuns: 100 },
    );
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { injectorConfigOf } from '../cluster-view.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { isAccepted } from '../../certs/rotation/rotation-state.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { WebhookConfiguration } from '../../manifests/webhook-configuration.ts';
import type { OwnedObjects } from '../controller/owned-objects.ts';
import { eachTest } from '../testdata/operator-fixture.ts';
import { TagFixture } from '../tags/testdata/tag-fixture.ts';
import { caBundlesOf } from './published-webhook.ts';

/** Runs one pass at a time for each key, as the queue does; retries after a conflict (409). */
class Passes {
  readonly #running = new Map<string, Promise<unknown>>();

  add(key: string, pass: () => Promise<unknown>): Promise<unknown> {
    const run = (): Promise<unknown> =>
      pass().catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 409) throw error;
        return run();
      });
    const next = (this.#running.get(key) ?? Promise.resolve()).then(run);
    this.#running.set(key, next);
    return next;
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

const configs = ['a', 'b'];
const steps = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...configs).map((name) => ({ kind: 'pass', name }) as const) },
  { weight: 3, arbitrary: fc.constant({ kind: 'tag', name: 'prod' } as const) },
  { weight: 2, arbitrary: fc.constantFrom(...configs).map((name) => ({ kind: 'move', name }) as const) },
  { weight: 2, arbitrary: fc.constantFrom(...configs).map((name) => ({ kind: 'rotate', name }) as const) },
  { weight: 5, arbitrary: fc.constant({ kind: 'minute', name: '' } as const) },
);

describe('One writer of each webhook', () => {
  const fixture = eachTest(new TagFixture());

  it('is enforced by a type: other code cannot apply or remove a webhook configuration', () => {
    const second = (owned: OwnedObjects, webhook: WebhookConfiguration, signal: AbortSignal): unknown[] => [
      // @ts-expect-error -- a second writer
      owned.apply(webhook, signal),
      // @ts-expect-error -- a second writer
      owned.remove(webhook, signal),
    ];
    assert.equal(typeof second, 'function');
  });

  it('is enforced by a layer rule: the build rejects an import of the writer from another room', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'one-writer-'));
    const plant = (file: string, text: string): void => {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), text);
    };
    plant('src/operator/controller/object-writer.ts', 'export class ObjectWriter {}\n');
    for (const room of ['webhooks', 'restarts']) {
      plant(`src/operator/${room}/planted.ts`, "export { ObjectWriter } from '../controller/object-writer.ts';\n");
    }
    const { forbidden } = createRequire(import.meta.url)('../../../.dependency-cruiser.cjs') as {
      forbidden: { name: string }[];
    };
    const ruleSet = { forbidden: forbidden.filter(({ name }) => name === 'one-writer') };
    try {
      const { output } = await cruise(['src'], { baseDir: folder, ruleSet, validate: true } as never);
      const { violations } = (output as ICruiseResult).summary;
      const files = violations.map(({ from }) => from);
      assert.deepEqual(files, ['src/operator/restarts/planted.ts']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  /** Caches `isAccepted` by certificate and bundle, because most changes keep both. */
  const accepted = new Map<string, boolean>();

  function servedLeaf(config: string): string {
    const secret = fixture.cluster.get('secrets', `sidecar-injector-${config}-serving`, 'injection');
    return Buffer.from((secret?.data as Record<string, string> | undefined)?.['tls.crt'] ?? '', 'base64').toString();
  }

  /** Returns the webhooks that do not trust the served certificate, as `name: InjectorConfig`. */
  function untrusting(): string[] {
    const { cluster, clock } = fixture;
    return cluster.names('mutatingwebhookconfigurations').flatMap((name) => {
      const webhook = cluster.get('mutatingwebhookconfigurations', name)!;
      const config = injectorConfigOf(webhook) ?? '';
      const leaf = servedLeaf(config);
      const isTrusted = [...new Set(caBundlesOf(webhook))].every((bundle) => {
        const known = accepted.get(leaf + bundle) ?? isAccepted(parseBundle(leaf), parseBundle(bundle), clock.now());
        accepted.set(leaf + bundle, known);
        return known;
      });
      return isTrusted ? [] : [`${name}: ${config}`];
    });
  }

  it('keeps every webhook trusting the served certificate while passes and rotations interleave', async () => {
    for (const name of configs) await fixture.install(name);
    await fixture.tag('prod', 'a');
    const lost: string[] = [];
    const served = new Set<string>();
    fixture.cluster.changed = () => {
      lost.push(...untrusting());
      for (const name of configs) served.add(servedLeaf(name));
    };
    let nonce = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(steps, fc.nat(4)), { minLength: 40, maxLength: 100 }), async (sequence) => {
        const passes = new Passes();
        let turn = 0;
        fixture.cluster.slowness = () => (sequence[(turn += 1) % sequence.length]?.[1] ?? 0) * 2;
        for (const [{ kind, name }, gap] of sequence) {
          if (kind === 'pass') void passes.add(name, () => fixture.passNow(name));
          else if (kind === 'tag') void passes.add('tag', () => fixture.passTagNow(name));
          else if (kind === 'move') fixture.setRevision('prod', name);
          else if (kind === 'minute') await fixture.clock.advance(60_000);
          else {
            nonce += 1;
            fixture.cluster.edit('injectorconfigs', name, undefined, ({ metadata }) => {
              metadata.annotations = { 'sidecar-injector.io/rotate': `authority:${nonce}` };
            });
          }
          await new Promise((resolve) => setTimeout(resolve, gap));
        }
        await passes.ended();
        fixture.cluster.slowness = undefined;
        assert.deepEqual([...new Set(lost)], []);
      }),
      { numRuns: 6 },
    );
    assert.ok(served.size > 6, `${served.size} certificates were served`);
  });
});

import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { json } from '../../kube/testdata/fake-api-server.ts';
import { asSoonAs, runCommand, sees, type Seen } from '../testdata/recording-terminal.ts';
import { RevisionCluster, ready, refusal } from '../testdata/revision-cluster.ts';

describe('injector tag', () => {
  let cluster: RevisionCluster;
  let hashes: Record<string, string>;
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    hashes = { '1-24': cluster.addRevision('1-24'), '1-25': cluster.addRevision('1-25') };
    cluster.addTag('prod', '1-24');
    cluster.addNamespace('shop', { 'istio.io/rev': 'prod' });
    cluster.addNamespace('plain');
    cluster.addPod('shop', 'web', `1-24.${hashes['1-24']}`);
    cluster.addPod('shop', 'web', `1-24.${hashes['1-24']}`);
    cluster.addPod('plain', 'cart', `1-24.${hashes['1-24']}`, { labels: { 'istio.io/rev': 'prod' } });
    cluster.memory.writes.length = 0;
  });
  afterEach(() => cluster.stop());

  const tag = (argv: string, answer?: string): Promise<Seen> => cluster.injector(['tag', ...argv.split(' ')], answer);
  const specOf = (name: string): unknown => cluster.memory.get('revisiontags', name)?.spec;

  describe('set', () => {
    it('creates a tag', async () => {
      const { out, code } = await tag('set canary -r 1-25 --timeout 0');
      const label = 'to let a namespace follow the tag: kubectl label namespace NAME istio.io/rev=canary';
      assert.deepEqual([out, code], [`RevisionTag canary: created; points to revision 1-25\n${label}\n`, 0]);
      assert.deepEqual(specOf('canary'), { revision: '1-25' });
      assert.deepEqual(cluster.changes, ['POST revisiontags canary']);
    });

    it('moves a tag by one write, and lists its followers', async () => {
      const { out, code } = await tag('set prod --revision 1-25 --overwrite --timeout 0');
      assert.equal(code, 0);
      assert.match(out, /^RevisionTag prod: moved from revision 1-24 to revision 1-25\n/);
      const follow =
        /followed by 1 namespace \(shop\) with 2 pods by namespace label, and 1 pod by pod label \(plain\/cart-/;
      assert.match(out, follow);
      assert.deepEqual(cluster.changes, ['PATCH revisiontags prod']);
      assert.equal((specOf('prod') as { revision: string }).revision, '1-25');
    });

    it('retries when the operator writes the status at the same time', async () => {
      cluster.memory.faults.push(refusal('PATCH', 'revisiontags/prod', 409, 'modified', 2));
      assert.equal((await tag('set prod -r 1-25 --overwrite --timeout 0')).code, 0);
    });

    it('waits until new pods get the revision', async () => {
      const moved = tag('set prod -r 1-25 --overwrite --timeout 20');
      const isWritten = (): boolean => (specOf('prod') as { revision: string }).revision === '1-25';
      asSoonAs(isWritten, () => {
        cluster.memory.edit('revisiontags', 'prod', undefined, (object) => {
          const conditions = [ready('True', 'Published')];
          object.status = { observedGeneration: object.metadata.generation, stableRevision: '1-25', conditions };
        });
      });
      sees(await moved, 0, { out: /\nnew pods get the revision now\n/ });
    });

    it('reports why the tag is not published in time', async () => {
      sees(await tag('set prod -r 1-25 --overwrite --timeout 0.1'), 1, {
        errors: /prod: not published after 0\.1 s; pods get the previous revision: NotLookedAt: no operator/,
      });
    });

    it('does nothing if the tag already has the revision', async () => {
      const { out, code } = await tag('set prod -r 1-24');
      assert.deepEqual([out, code], ['RevisionTag prod: already points to revision 1-24\n', 0]);
      assert.deepEqual(cluster.changes, []);
    });

    it('asks before tag default takes over the webhook of InjectorConfig default', async () => {
      cluster.addRevision('default');
      const set = 'set default -r 1-25 --timeout 0';
      const why = 'the tag takes over the webhook of InjectorConfig default: .* get revision 1-25 instead';
      sees(await tag(set), 2, { errors: new RegExp(`${why}.*\n.*use -y or --yes to agree; nothing was changed`) });
      sees(await tag(set, 'n'), 1, { errors: /Continue|nothing was changed/ });
      assert.deepEqual(cluster.changes, []);
      sees(await tag(`${set} --yes`), 0, { errors: new RegExp(why) });
      cluster.memory.remove('revisiontags', 'default');
      const { errors } = await tag('set default -r default --timeout 0');
      assert.equal(errors, '');
    });

    it('says before it waits that no operator runs', async () => {
      for (const name of ['injector-leader-default', 'injector-replica-web-1'])
        cluster.memory.remove('leases', name, 'injection');
      const { errors, code } = await tag('set prod -r 1-25 --overwrite --timeout 0');
      assert.match(`${code} ${errors}`, /^0 no operator is running, so .*\nthe tag moves when an operator runs/);
    });

    it('sets, keeps and removes the flag of tag default', async () => {
      const flag = (): unknown => (specOf('default') as Record<string, unknown>)['enableNamespacesByDefault'];
      await tag('set default -r 1-24 --auto-inject-namespaces --timeout 0');
      assert.equal(flag(), true);
      await tag('set default -r 1-25 --overwrite --timeout 0');
      assert.equal(flag(), true);
      await tag('set default -r 1-25 --overwrite --no-auto-inject-namespaces --timeout 0');
      assert.equal(flag(), false);
    });

    const blue = { operatorClass: 'blue' };
    const webhook = { selection: 'Custom', namespaceSelector: { matchLabels: { 'istio.io/rev': 'x' } } };
    const odd = (): unknown => cluster.addRevision('odd', { webhook });
    const refusals: [string, string, RegExp, number, (() => unknown)?][] = [
      ['a tag with the name of a revision', 'set 1-25 -r 1-24', /InjectorConfig 1-25 has the revision 1-25/, 1],
      [
        'an unknown revision',
        'set x -r 125',
        /125: no InjectorConfig has .*; existing names: 1-24, 1-25; did you mean 1-25\?/,
        2,
      ],
      ['a tag instead of a revision', 'set x -r prod', /this is a tag, not a revision; it points to revision 1-24/, 2],
      ['a tag that exists', 'set prod -r 1-25', /prod exists and points to revision 1-24; use --over/, 1],
      ['a revision that is not ready', 'set x -r 1-25', /1-25 is not ready: NotReachable: refused/, 1, unready('1-25')],
      ['a paused revision', 'set x -r 1-25', /1-25 is paused/, 1, spec('1-25', { paused: true })],
      ['an invalid name', 'set X_ -r 1-25', /metadata\.name must be a DNS-1123 label/, 2],
      ['an invalid revision', 'set x -r 1_25', /spec\.revision/, 2],
      ["default's flag for another tag", 'set x -r 1-25 --auto-inject-namespaces', /only on tag default/, 2],
      ['a call without a revision', 'set x', /required option '-r, --revision/, 2],
      ['an unready revision for a tag in use', 'set prod -r 1-25 --overwrite', /not ready/, 1, unready('1-25')],
      ['custom selectors for a tag in use', 'set prod -r odd --overwrite', /odd has custom selectors/, 1, odd],
      ['a new class', 'set prod -r 1-25 --overwrite', /operator class default, .* to blue/, 1, spec('1-25', blue)],
    ];
    for (const [title, argv, message, status, prepare] of refusals) {
      it(`refuses ${title}, and changes nothing`, async () => {
        prepare?.();
        cluster.memory.writes.length = 0;
        const { errors, out, code } = await tag(argv, 'y');
        assert.match(errors, message);
        assert.deepEqual([out, code], ['', status]);
        assert.deepEqual(cluster.changes, []);
      });
    }

    describe('with an InjectorConfig whose custom selectors overlap', () => {
      beforeEach(() => {
        odd();
        cluster.memory.writes.length = 0;
      });

      it('asks for confirmation', async () => {
        const { errors, questions, code } = await tag('set x -r 1-25 --timeout 0', 'y');
        assert.match(errors, /InjectorConfig odd would select the same pods: the tag would publish nothing/);
        assert.deepEqual([questions, code], [['Continue? [y/N] '], 0]);
        assert.deepEqual(cluster.changes, ['POST revisiontags x']);
      });

      it('does not ask with -y, and refuses the InjectorConfig as a target', async () => {
        const { questions, code } = await tag('set x -r 1-25 --timeout 0 -y');
        assert.deepEqual([questions, code], [[], 0]);
        assert.match((await tag('set y -r odd')).errors, /odd has custom selectors \(selection: Custom\)/);
      });

      for (const [answer, status] of [
        ['n', 1],
        [undefined, 2],
      ] as const) {
        it(`changes nothing when the answer is ${answer ?? 'missing'}`, async () => {
          const { errors, out, code } = await tag('set x -r 1-25', answer);
          assert.deepEqual([out, code], ['', status]);
          if (answer === undefined) assert.match(errors, /cannot ask .* without a terminal: use -y or --yes to agree/);
          assert.deepEqual(cluster.changes, []);
        });
      }
    });

    it("asks for confirmation if Istio's injector overlaps, unless takeover is set", async () => {
      const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
      const namespaceSelector = { matchExpressions: [{ key: 'istio.io/rev', operator: 'In', values: ['mesh'] }] };
      cluster.memory.put('mutatingwebhookconfigurations', {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'istio-revision-tag-mesh' },
        webhooks: [{ name: 'rev.namespace.sidecar-injector.istio.io', rules, namespaceSelector }],
      });
      cluster.memory.writes.length = 0;
      sees(await tag('set mesh -r 1-25', 'n'), 1, {
        errors: /istio-revision-tag-mesh .* selects the same pods .*\(ForeignOverlap\)/,
      });
      assert.deepEqual(cluster.changes, []);
      cluster.addRevision('taking', { webhook: { takeover: true } });
      assert.deepEqual((await tag('set mesh -r taking --timeout 0')).questions, []);
    });

    it('refuses a revision of another family', async () => {
      const keys = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
      cluster.addRevision('logs', { webhook: { keys } });
      assert.match((await tag('set prod -r logs --overwrite')).errors, /logs uses other labels/);
      // Names are unique only within a family.
      assert.equal((await tag('set 1-25 -r logs --timeout 0')).code, 0);
    });

    it('changes nothing when the write is refused', async () => {
      const before = cluster.memory.get('revisiontags', 'prod');
      cluster.memory.faults.push(refusal('PATCH', 'revisiontags', 422));
      const { errors, out, code } = await tag('set prod -r 1-25 --overwrite');
      assert.deepEqual([errors, out, code], ['error: no', '', 1]);
      assert.deepEqual(cluster.memory.get('revisiontags', 'prod'), before);
      assert.deepEqual(cluster.changes, []);
    });

    it('does not overwrite a change of another client', async () => {
      cluster.memory.faults.push({
        matches: (method, path) => {
          if (method === 'GET' && path.endsWith('/pods')) {
            cluster.memory.edit('revisiontags', 'prod', undefined, (object) => {
              object.spec = { revision: '1-26' };
            });
          }
          return false;
        },
        answer: () => undefined,
      });
      sees(await tag('set prod -r 1-25 --overwrite'), 1, {
        errors: /prod: another client has just changed the tag, so nothing was written/,
      });
      assert.deepEqual(specOf('prod'), { revision: '1-26' });
    });

    it('reports missing rights before any change', async () => {
      cluster.memory.faults.push({
        matches: (_, path, body) => path.includes('selfsubjectaccessreviews') && body.includes('"pods"'),
        answer: (response) => {
          json(response, 201, { status: { allowed: false } });
        },
      });
      sees(await tag('set x -r 1-25'), 1, { errors: /lacks the right to list pods; nothing was changed/ });
      assert.deepEqual(cluster.changes, []);
    });
  });

  describe('generate', () => {
    it('prints the manifest of set without a cluster', async () => {
      const { out, code } = await runCommand(['tag', 'generate', 'prod', '-r', '1-25', '--overwrite', '-y']);
      assert.equal(code, 0);
      const manifest = (name: string, spec: object) => {
        return { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'RevisionTag', metadata: { name }, spec };
      };
      assert.deepEqual(parse(out), manifest('prod', { revision: '1-25' }));
      const flags = ['-r', '1-25', '--auto-inject-namespaces', '-o', 'json'];
      const whole = await runCommand(['tag', 'generate', 'default', ...flags]);
      const spec = { revision: '1-25', enableNamespacesByDefault: true };
      assert.deepEqual(JSON.parse(whole.out), manifest('default', spec));
    });

    it('refuses an invalid tag', async () => {
      const { errors, out, code } = await runCommand(['tag', 'generate', '1-25', '-r', '1-25']);
      assert.match(errors, /must not be the tag's own name/);
      assert.deepEqual([out, code], ['', 2]);
    });
  });

  describe('list', () => {
    it('shows the revisions and followers of tags', async () => {
      cluster.addTag('canary', '1-25');
      const { out, code } = await tag('list');
      assert.equal(code, 0);
      assert.deepEqual(
        out
          .split('\n')
          .slice(2)
          .map((line) => line.split(/ {3,}/)),
        [
          ['TAG', 'REVISION', 'NAMESPACES', 'PODS', 'READY'],
          ['canary', '1-25', '-', '0', 'True'],
          ['prod', '1-24', 'shop', '3', 'True'],
          [''],
        ],
      );
    });

    it('shows why a tag has not moved yet', async () => {
      cluster.memory.edit('revisiontags', 'prod', undefined, (object) => {
        object.spec = { revision: '1-25' };
        const conditions = [ready('False', 'RevisionNotReady', 'wait')];
        object.status = { ...(object.status as object), observedGeneration: 2, conditions };
      });
      const { out } = await tag('list');
      assert.match(out, /prod {3}1-24 \(spec: 1-25\) +shop +3 +False \(RevisionNotReady\)/);
      const [report] = JSON.parse((await tag('list -o json')).out) as Record<string, unknown>[];
      assert.deepEqual(report, {
        tag: 'prod',
        revision: '1-25',
        stableRevision: '1-24',
        injectorConfig: '1-24',
        namespaces: ['shop'],
        pods: { current: 3, stale: 0, missing: 0 },
        ready: false,
        reason: 'RevisionNotReady',
        message: 'wait',
      });
      assert.deepEqual(parse((await tag('list -o yaml')).out), [report]);
    });

    it('reports that there is no tag', async () => {
      cluster.memory.remove('revisiontags', 'prod');
      const { errors, code } = await tag('list');
      assert.deepEqual([errors, code], ['there is no RevisionTag', 0]);
    });
  });

  describe('remove', () => {
    it('removes a tag without followers without confirmation', async () => {
      cluster.addTag('canary', '1-25');
      cluster.memory.writes.length = 0;
      const { out, code, questions } = await tag('remove canary');
      assert.deepEqual([out, code, questions], ['RevisionTag canary: removed\n', 0, []]);
      assert.deepEqual(cluster.changes, ['DELETE revisiontags canary']);
    });

    it('needs no confirmation if only the status reports usage', async () => {
      cluster.addTag('canary', '1-25');
      cluster.memory.edit('revisiontags', 'canary', undefined, (object) => {
        object.status = { ...(object.status as object), namespaces: { count: 1, names: ['shop'] } };
      });
      cluster.memory.writes.length = 0;
      const { code, questions } = await tag('remove canary');
      assert.deepEqual([code, questions], [0, []]);
      assert.deepEqual(cluster.changes, ['PATCH revisiontags canary', 'DELETE revisiontags canary']);
    });

    it('asks for confirmation if the tag has followers, and lists them', async () => {
      const { errors, questions, code } = await tag('remove prod', 'y');
      const used =
        /prod is followed by 1 namespace \(shop\) with 2 pods by namespace label, and 1 pod .*\(plain\/cart-.*start without/;
      assert.match(errors, used);
      assert.deepEqual([questions, code], [['Continue? [y/N] '], 0]);
      // The validating webhook refuses to delete a used tag without the annotation.
      assert.deepEqual(cluster.changes, ['PATCH revisiontags prod', 'DELETE revisiontags prod']);
    });

    it('asks for confirmation if only pods follow the tag', async () => {
      cluster.memory.remove('namespaces', 'shop');
      const { errors, questions } = await tag('remove prod', 'n');
      assert.match(errors, /^tag prod is followed by 1 pod by pod label/);
      assert.equal(questions.length, 1);
    });

    it('names the InjectorConfig that the followers of tag default get', async () => {
      cluster.addRevision('default');
      cluster.addTag('default', '1-25');
      cluster.addNamespace('old', { 'istio-injection': 'enabled' });
      sees(await tag('remove default -y'), 0, {
        errors: /1 namespace \(old\) with 0 pods by namespace label: their new pods get InjectorConfig default instead/,
      });
    });

    for (const [title, answer, message, status] of [
      ['no', 'n', /nothing was changed$/, 1],
      ['empty', '', /nothing was changed$/, 1],
      ['another word', 'oui', /nothing was changed$/, 1],
      [
        'missing',
        undefined,
        /cannot ask for confirmation without a terminal: use -y or --yes to agree; nothing was changed/,
        2,
      ],
    ] as const) {
      it(`changes nothing when the answer is ${title}`, async () => {
        const { errors, out, code } = await tag('remove prod', answer);
        assert.match(errors, message);
        assert.deepEqual([out, code], ['', status]);
        assert.deepEqual(cluster.changes, []);
      });
    }

    it('changes nothing when the API server refuses', async () => {
      const before = cluster.memory.get('revisiontags', 'prod');
      cluster.memory.faults.push(refusal('DELETE', 'revisiontags', 403));
      sees(await tag('remove prod -y'), 1, { errors: /error: no$/ });
      const after = cluster.memory.get('revisiontags', 'prod');
      assert.deepEqual(after?.metadata.annotations, before?.metadata.annotations);
    });

    for (const verb of ['remove', 'undo', 'watch', 'promote', 'abort', 'pause', 'resume', 'retry']) {
      it(`${verb} lists the existing tags for an unknown tag`, async () => {
        sees(await tag(`${verb} x`), 2, { errors: /there is no tag x; existing names: prod/ });
      });
    }
  });

  function unready(name: string): () => void {
    return () => {
      cluster.memory.edit('injectorconfigs', name, undefined, (object) => {
        object.status = { observedGeneration: 1, conditions: [ready('False', 'NotReachable', 'refused')] };
      });
    };
  }

  function spec(name: string, change: object): () => void {
    return () => {
      cluster.memory.edit('injectorconfigs', name, undefined, (object) => {
        object.spec = { ...(object.spec as object), ...change };
      });
    };
  }
});

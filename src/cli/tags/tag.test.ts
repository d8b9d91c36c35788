import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { json } from '../../kube/testdata/fake-api-server.ts';
import { asSoonAs, sees } from '../testdata/recording-terminal.ts';
import { RevisionCluster, ready, refusal } from '../testdata/revision-cluster.ts';
import { runCommand, type Seen } from '../testdata/recording-terminal.ts';

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
    it('creates a tag, for namespaces to follow', async () => {
      const { out, code } = await tag('set canary -r 1-25 --timeout 0');
      const label = 'namespaces follow it by their label: kubectl label namespace NAME istio.io/rev=canary';
      assert.deepEqual([out, code], [`RevisionTag canary: created, leads to revision 1-25\n${label}\n`, 0]);
      assert.deepEqual(specOf('canary'), { revision: '1-25' });
      assert.deepEqual(cluster.changes, ['POST revisiontags canary']);
    });

    it('moves a tag by one write, and says what follows it', async () => {
      const { out, code } = await tag('set prod --revision 1-25 --overwrite --timeout 0');
      assert.equal(code, 0);
      assert.match(out, /^RevisionTag prod: moved from revision 1-24, leads to revision 1-25\n/);
      const follow = /followed by 1 namespace \(shop\) with 2 pods, and 1 pod by labels of their own \(plain\/cart-/;
      assert.match(out, follow);
      assert.deepEqual(cluster.changes, ['PATCH revisiontags prod']);
      assert.equal((specOf('prod') as { revision: string }).revision, '1-25');
    });

    it('moves it although the operator writes its status at the same moment', async () => {
      cluster.memory.faults.push(refusal('PATCH', 'revisiontags/prod', 409, 'modified', 2));
      assert.equal((await tag('set prod -r 1-25 --overwrite --timeout 0')).code, 0);
    });

    it('waits until new pods get it', async () => {
      const moved = tag('set prod -r 1-25 --overwrite --timeout 20');
      const isWritten = (): boolean => (specOf('prod') as { revision: string }).revision === '1-25';
      asSoonAs(isWritten, () => {
        cluster.memory.edit('revisiontags', 'prod', undefined, (object) => {
          const conditions = [ready('True', 'Published')];
          object.status = { observedGeneration: object.metadata.generation, stableRevision: '1-25', conditions };
        });
      });
      sees(await moved, 0, { out: /\nnew pods get it now\n/ });
    });

    it('says why it is not in force in time, and that pods get what they got', async () => {
      sees(await tag('set prod -r 1-25 --overwrite --timeout 0.1'), 1, {
        errors: /prod: not in force after 0\.1 s, pods get what they got before: NotLookedAt: no operator/,
      });
    });

    it('does nothing when it leads there already', async () => {
      const { out, code } = await tag('set prod -r 1-24');
      assert.deepEqual([out, code], ['RevisionTag prod: leads to revision 1-24 already\n', 0]);
      assert.deepEqual(cluster.changes, []);
    });

    it('sets the flag of tag default, keeps it, and takes it back', async () => {
      const flag = (): unknown => (specOf('default') as Record<string, unknown>)['enableNamespacesByDefault'];
      await tag('set default -r 1-24 --auto-inject-namespaces --timeout 0');
      assert.equal(flag(), true);
      await tag('set default -r 1-25 --overwrite --timeout 0');
      assert.equal(flag(), true);
      await tag('set default -r 1-25 --overwrite --no-auto-inject-namespaces --timeout 0');
      assert.equal(flag(), false);
    });

    const blue = { operatorClass: 'blue' };
    const refusals: [string, string, RegExp, number, (() => void)?][] = [
      ['a tag with the name of a revision', 'set 1-25 -r 1-24', /InjectorConfig 1-25 has the revision 1-25/, 1],
      [
        'an unknown revision',
        'set x -r 125',
        /125: no InjectorConfig has .*; there are: 1-24, 1-25; 1-25 was probably meant/,
        1,
      ],
      ['a tag for a revision', 'set x -r prod', /this is a tag, not a revision; it leads to revision 1-24/, 1],
      ['a tag that exists', 'set prod -r 1-25', /prod exists and leads to revision 1-24; --overwrite moves it/, 1],
      ['a revision that is not ready', 'set x -r 1-25', /1-25 is not ready: NotReachable: refused/, 1, unready('1-25')],
      ['a paused revision', 'set x -r 1-25', /1-25 is paused/, 1, spec('1-25', { paused: true })],
      ['a name that is none', 'set X_ -r 1-25', /metadata\.name must be a DNS-1123 label/, 2],
      ['a revision that is none', 'set x -r 1_25', /spec\.revision/, 2],
      ["default's flag elsewhere", 'set x -r 1-25 --auto-inject-namespaces', /only on tag default/, 2],
      ['a call without a revision', 'set x', /required option '-r, --revision/, 2],
      ['an unready revision for a tag in use', 'set prod -r 1-25 --overwrite', /not ready/, 1, unready('1-25')],
      ['another class', 'set prod -r 1-25 --overwrite', /operator class default, .* by blue/, 1, spec('1-25', blue)],
    ];
    for (const [what, argv, message, status, prepare] of refusals) {
      it(`refuses ${what}, and leaves everything as it was`, async () => {
        prepare?.();
        cluster.memory.writes.length = 0;
        const { errors, out, code } = await tag(argv, 'y');
        assert.match(errors, message);
        assert.deepEqual([out, code], ['', status]);
        assert.deepEqual(cluster.changes, []);
      });
    }

    describe('where an InjectorConfig has selectors of its own that would take the same pods', () => {
      beforeEach(() => {
        const namespaceSelector = { matchLabels: { 'istio.io/rev': 'x' } };
        cluster.addRevision('odd', { webhook: { selection: 'Custom', namespaceSelector } });
        cluster.memory.writes.length = 0;
      });

      it('asks first', async () => {
        const { errors, questions, code } = await tag('set x -r 1-25 --timeout 0', 'y');
        assert.match(errors, /the tag and InjectorConfig odd would take the same pods: the tag would publish nothing/);
        assert.deepEqual([questions, code], [['Go on? [y/N] '], 0]);
        assert.deepEqual(cluster.changes, ['POST revisiontags x']);
      });

      it('does not ask when told, and never leads there', async () => {
        const { questions, code } = await tag('set x -r 1-25 --timeout 0 -y');
        assert.deepEqual([questions, code], [[], 0]);
        assert.match((await tag('set y -r odd')).errors, /odd has selectors of its own \(selection: Custom\)/);
      });

      for (const [answer, status] of [
        ['n', 1],
        [undefined, 2],
      ] as const) {
        it(`leaves everything as it was when the answer is ${answer ?? 'not given'}`, async () => {
          const { out, code } = await tag('set x -r 1-25', answer);
          assert.deepEqual([out, code], ['', status]);
          assert.deepEqual(cluster.changes, []);
        });
      }
    });

    it("asks first where Istio's own injector takes the same pods, unless the InjectorConfig takes over", async () => {
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
        errors: /istio-revision-tag-mesh .* takes the same pods .*\(ForeignOverlap\)/,
      });
      assert.deepEqual(cluster.changes, []);
      cluster.addRevision('taking', { webhook: { takeover: true } });
      assert.deepEqual((await tag('set mesh -r taking --timeout 0')).questions, []);
    });

    it('does not lead to another family', async () => {
      const keys = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
      cluster.addRevision('logs', { webhook: { keys } });
      assert.match((await tag('set prod -r logs --overwrite')).errors, /logs goes by other labels/);
      // A name is taken within a family only.
      assert.equal((await tag('set 1-25 -r logs --timeout 0')).code, 0);
    });

    it('leaves everything as it was when the write is refused', async () => {
      const before = cluster.memory.get('revisiontags', 'prod');
      cluster.memory.faults.push(refusal('PATCH', 'revisiontags', 422));
      const { errors, out, code } = await tag('set prod -r 1-25 --overwrite');
      assert.deepEqual([errors, out, code], ['error: no', '', 1]);
      assert.deepEqual(cluster.memory.get('revisiontags', 'prod'), before);
      assert.deepEqual(cluster.changes, []);
    });

    it('does not overwrite what somebody else has changed meanwhile', async () => {
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
        errors: /prod: somebody else has changed it meanwhile; nothing was changed/,
      });
      assert.deepEqual(specOf('prod'), { revision: '1-26' });
    });

    it('names the rights that are missing before it touches anything', async () => {
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
    it('prints what set would apply, and needs no cluster', async () => {
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

    it('refuses what no cluster would take', async () => {
      const { errors, out, code } = await runCommand(['tag', 'generate', '1-25', '-r', '1-25']);
      assert.match(errors, /must not be the tag's own name/);
      assert.deepEqual([out, code], ['', 2]);
    });
  });

  describe('list', () => {
    it('shows where tags lead and what follows them', async () => {
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

    it('shows a tag that has not moved yet, and why', async () => {
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

    it('says that there is none', async () => {
      cluster.memory.remove('revisiontags', 'prod');
      const { errors, code } = await tag('list');
      assert.deepEqual([errors, code], ['there is no RevisionTag', 0]);
    });
  });

  describe('remove', () => {
    it('removes one that nothing follows, without a question', async () => {
      cluster.addTag('canary', '1-25');
      cluster.memory.writes.length = 0;
      const { out, code, questions } = await tag('remove canary');
      assert.deepEqual([out, code, questions], ['RevisionTag canary: removed\n', 0, []]);
      assert.deepEqual(cluster.changes, ['DELETE revisiontags canary']);
    });

    it('removes one that its status still calls used, without a question', async () => {
      cluster.addTag('canary', '1-25');
      cluster.memory.edit('revisiontags', 'canary', undefined, (object) => {
        object.status = { ...(object.status as object), namespaces: { count: 1, names: ['shop'] } };
      });
      cluster.memory.writes.length = 0;
      const { code, questions } = await tag('remove canary');
      assert.deepEqual([code, questions], [0, []]);
      assert.deepEqual(cluster.changes, ['PATCH revisiontags canary', 'DELETE revisiontags canary']);
    });

    it('asks while it is in use, naming namespaces and pods', async () => {
      const { errors, questions, code } = await tag('remove prod', 'y');
      const used = /prod is followed by 1 namespace \(shop\) with 2 pods, and 1 pod .*\(plain\/cart-.*start without/;
      assert.match(errors, used);
      assert.deepEqual([questions, code], [['Go on? [y/N] '], 0]);
      // The validating webhook refuses what is in use unless told.
      assert.deepEqual(cluster.changes, ['PATCH revisiontags prod', 'DELETE revisiontags prod']);
    });

    it('asks for pods alone, too', async () => {
      cluster.memory.remove('namespaces', 'shop');
      const { errors, questions } = await tag('remove prod', 'n');
      assert.match(errors, /^tag prod is followed by 1 pod by labels of their own/);
      assert.equal(questions.length, 1);
    });

    it('says who inherits what follows tag default', async () => {
      cluster.addRevision('default');
      cluster.addTag('default', '1-25');
      cluster.addNamespace('old', { 'istio-injection': 'enabled' });
      sees(await tag('remove default -y'), 0, {
        errors: /1 namespace \(old\) with 0 pods: their new pods get InjectorConfig default instead/,
      });
    });

    for (const [what, answer, message, status] of [
      ['no', 'n', /nothing was changed$/, 1],
      ['nothing', '', /nothing was changed$/, 1],
      ['in another language', 'oui', /nothing was changed$/, 1],
      ['by nobody', undefined, /nobody is at the terminal to be asked: -y says yes; nothing was changed/, 2],
    ] as const) {
      it(`leaves everything as it was when the answer is ${what}`, async () => {
        const { errors, out, code } = await tag('remove prod', answer);
        assert.match(errors, message);
        assert.deepEqual([out, code], ['', status]);
        assert.deepEqual(cluster.changes, []);
      });
    }

    it('leaves everything as it was when the API server refuses', async () => {
      const before = cluster.memory.get('revisiontags', 'prod');
      cluster.memory.faults.push(refusal('DELETE', 'revisiontags', 403));
      sees(await tag('remove prod -y'), 1, { errors: /error: no$/ });
      const after = cluster.memory.get('revisiontags', 'prod');
      assert.deepEqual(after?.metadata.annotations, before?.metadata.annotations ?? {});
    });

    it('names the tags there are', async () => {
      assert.match((await tag('remove x')).errors, /there is no tag x; there are: prod/);
    });
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

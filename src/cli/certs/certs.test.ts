import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { parse } from 'yaml';
import { formatRotateRequest, parseRotateRequest, rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { parsePair, verifyServingPair } from '../../certs/verify-chain.ts';
import type { CertificateReport } from './certificate-report.ts';
import { failure, FakeApiServer, json, type FakeRequest } from '../../kube/testdata/fake-api-server.ts';
import { operatorLeases } from '../testdata/operator-leases.ts';
import { runCommand, sees } from '../testdata/recording-terminal.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

describe('injector certs', () => {
  const { path, write } = temporaryFolder();
  const read = (directory: string, name: string): string => readFileSync(path(directory, name), 'utf8');
  const create = (...flags: string[]) =>
    runCommand(['certs', 'create', '--service', 's', '--namespace', 'n', ...flags]);

  describe('create', () => {
    it('creates a pair that the API server accepts, with a key that only its owner can read', async () => {
      sees(await create('--out', path('one'), '--host', '192.0.2.1', '--duration', '2h'), 0, {
        errors: /for s\.n\.svc, valid until /,
      });
      const [certificatePem, privateKeyPem, caPem] = [
        read('one', 'tls.crt'),
        read('one', 'tls.key'),
        read('one', 'ca.crt'),
      ];
      const pair = { certificatePem, privateKeyPem, caPem };
      assert.deepEqual(verifyServingPair(parsePair(pair), { now: new Date(), names: ['s.n.svc', '192.0.2.1'] }), []);
      assert.equal(statSync(path('one', 'tls.key')).mode & 0o777, 0o600);
    });

    it('overwrites files only with --force, and keeps the previous authorities', async () => {
      const before = read('one', 'tls.crt');
      const refused = await create('--out', path('one'));
      assert.equal(refused.code, 2);
      assert.match(refused.errors, /ca\.crt.* would be overwritten; .*--force/);
      assert.equal(read('one', 'tls.crt'), before);
      const old = parseBundle(read('one', 'ca.crt'));
      const flags = ['--force', '--previous', path('one', 'ca.crt')];
      assert.equal((await create('--out', path('one'), ...flags)).code, 0);
      const trusted = parseBundle(read('one', 'ca.crt')).map(({ fingerprint }) => fingerprint);
      assert.equal(trusted.length, 2);
      assert.equal(trusted[1], old[0]?.fingerprint);
    });

    it('follows no link, and takes a link without a target for a file', async () => {
      mkdirSync(path('links'));
      for (const name of ['tls.key', 'tls.key.new']) symlinkSync('../elsewhere', path('links', name));
      assert.match((await create('--out', path('links'))).errors, /tls\.key would be overwritten/);
      assert.equal((await create('--out', path('links'), '--force')).code, 0);
      assert.match(read('links', 'tls.key'), /PRIVATE KEY/);
      assert.ok(!existsSync(path('elsewhere')));
      assert.deepEqual(readdirSync(path('links')), ['ca.crt', 'tls.crt', 'tls.key', 'tls.key.new']);
    });

    it('prints a Secret, and writes no file', async () => {
      const files = ['ca.crt', 'tls.crt', 'tls.key'];
      const present = files.filter((file) => existsSync(file));
      const secret = parse((await create('--secret', 'x')).out) as Record<string, unknown>;
      const { apiVersion, kind, metadata, type } = secret;
      assert.deepEqual(
        { apiVersion, kind, metadata, type },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'x', namespace: 'n' },
          type: 'kubernetes.io/tls',
        },
      );
      const data = secret['data'] as Record<string, string>;
      assert.deepEqual(Object.keys(data), files);
      for (const text of Object.values(data)) assert.match(Buffer.from(text, 'base64').toString(), /^-----BEGIN /);
      assert.deepEqual(
        files.filter((file) => existsSync(file)),
        present,
      );
    });

    const rows: [string, string[], RegExp][] = [
      ['an invalid duration', ['--duration', 'soon'], /It must be a duration such as 8760h/],
      ['a duration that is too long', ['--duration', '999999h'], /from a minute to 100 years/],
      ['an invalid host', ['--host', 'https://x'], /neither a DNS name nor an IP address/],
      ['an unknown key size', ['--key-size', '1024'], /Allowed choices are 2048/],
      ['an invalid previous authority', ['--previous', '/dev/null'], /--previous: the file contains no PEM cert/],
    ];
    for (const [name, flags, message] of rows) {
      it(`refuses ${name}`, async () => {
        const { code, errors } = await create('--out', path('never'), ...flags);
        assert.notEqual(code, 0);
        assert.match(errors, message);
        assert.throws(() => statSync(path('never')));
      });
    }
  });

  describe('patch-ca-bundle', () => {
    it('writes the authority that create has written', async () => {
      const text = 'kind: MutatingWebhookConfiguration\nwebhooks:\n- clientConfig: {caBundle: X, url: https://x}\n';
      const ca = path('one', 'ca.crt');
      const { out, errors } = await runCommand(['certs', 'patch-ca-bundle', '--ca', ca], text);
      assert.equal(out, text.replace('X', Buffer.from(read('one', 'ca.crt')).toString('base64')));
      assert.equal(errors, 'wrote caBundle into 1 webhook');
      const dash = await runCommand(['certs', 'patch-ca-bundle', '--ca', '-'], text);
      assert.match(dash.errors, /standard input contains the webhooks/);
    });
  });

  describe('with a cluster', () => {
    let server: FakeApiServer;
    let objects: Record<string, unknown>;
    let patches: FakeRequest[];
    before(async () => {
      server = new FakeApiServer((request, response) => {
        const found = objects[request.path];
        if (request.method === 'PATCH') patches.push(request);
        if (found === undefined) failure(response, 404, 'NotFound', `${request.path} not found`);
        else if (found === 403) failure(response, 403, 'Forbidden', 'you may not');
        else json(response, 200, found);
      });
      await server.start();
      write('kubeconfig', server.kubeConfig().exportConfig());
    });
    after(() => server.stop());
    beforeEach(() => {
      patches = [];
      objects = {
        [configs]: { items: [config()], metadata: {} },
        [`${configs}/a`]: config(),
        [webhooks]: { items: [webhook()], metadata: {} },
        [secret]: { data: { 'tls.crt': base64('tls.crt') } },
        [leases]: { items: [], metadata: {} },
        [allLeases]: { items: operatorLeases(new Date(), 'n'), metadata: {} },
      };
    });
    const configs = '/apis/sidecar-injector.io/v1alpha1/injectorconfigs';
    const webhooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
    const secret = '/api/v1/namespaces/n/secrets/sidecar-injector-a-serving';
    const leases = '/apis/coordination.k8s.io/v1/namespaces/n/leases';
    const allLeases = '/apis/coordination.k8s.io/v1/leases';
    const base64 = (name: string): string => Buffer.from(read('one', name)).toString('base64');
    const config = (certificate: object = { phase: 'Stable' }) => ({
      metadata: { name: 'a' },
      status: { certificate, conditions: [{ type: 'CertificateReady', status: 'True' }] },
    });
    const service = { name: 's', namespace: 'n' };
    const webhook = () => ({
      metadata: { name: 'sidecar-injector-a' },
      webhooks: [{ name: 'x.sidecar-injector.io', clientConfig: { caBundle: base64('ca.crt'), service } }],
    });
    const call = (...argv: string[]) => runCommand(['certs', ...argv, '--kubeconfig', path('kubeconfig')]);

    it('status prints a table, and exits with 0 if there is no problem', async () => {
      const { out, errors, code } = await call('status');
      assert.deepEqual([errors, code], ['', 0]);
      assert.match(
        out,
        /^NAME {3}PHASE +CERTIFICATE .*\na {6}Stable .*\n {2}trusted: sidecar-injector-a=[0-9a-f]{8}\+[0-9a-f]{8}\n$/,
      );
    });

    it('status prints JSON and YAML, and exits with 1 on problems', async () => {
      objects[leases] = { items: [lease('live', new Date().toISOString()), lease('gone', '2020-01-01T00:00:00Z')] };
      const json = await call('status', 'a', '-o', 'json');
      const [report] = JSON.parse(json.out) as CertificateReport[];
      assert.deepEqual(report?.replicas, { live: 'cdcdcdcd' });
      assert.match(String(report.problems), /^replica live serves cdcdcdcd, not /);
      assert.equal(json.code, 1);
      assert.deepEqual(parse((await call('status', '-o', 'yaml')).out), JSON.parse(json.out));
    });

    it('status reports a missing leader, and exits with 1', async () => {
      objects[allLeases] = { items: [], metadata: {} };
      const { errors, code } = await call('status');
      const missing =
        'a: no operator is running, so no webhook selects pods, and they start without a sidecar; run `injector install`';
      assert.deepEqual([errors, code], [missing, 1]);
    });

    for (const [where, now, problem] of [
      ['next to a live installation', () => operatorLeases(new Date(), 'n'), /^$/],
      ['without a live installation', () => [], /^a: no replica is live: [^\n]*$/],
    ] as const) {
      it(`status ignores the Leases of an earlier installation ${where}`, async () => {
        const before = operatorLeases(new Date(), 'before').map((lease) => ({ ...lease, spec: {} }));
        objects[allLeases] = { items: [...before, ...now()], metadata: {} };
        assert.match((await call('status')).errors, problem);
      });
    }

    it('status reads the namespace with the newest Lease', async () => {
      const died = operatorLeases(new Date(Date.now() - 5000), 'before');
      objects[allLeases] = { items: [...died, ...operatorLeases(new Date(), 'n')], metadata: {} };
      assert.match((await call('status')).errors, /^$/);
    });

    it('status refuses a namespace that does not exist', async () => {
      objects['/api/v1/namespaces'] = { items: [{ metadata: { name: 'n' } }], metadata: {} };
      sees(await call('status', '-n', 'nn'), 2, {
        errors: /--namespace: there is no namespace nn; .*did you mean n\?/,
      });
      objects['/api/v1/namespaces'] = 403;
      sees(await call('status', '-n', 'n'), 0, { errors: /^$/ });
    });

    it('status reports the objects that the user may not read', async () => {
      objects[secret] = 403;
      objects[leases] = 403;
      assert.match((await call('status')).errors, /a: the serving Secret was not read: you may not/);
      objects[webhooks] = { items: [], metadata: {} };
      objects[allLeases] = 403;
      assert.match((await call('status')).errors, /namespace of the operator is unknown.*--namespace/);
      objects[configs] = { items: [], metadata: {} };
      assert.match((await call('status')).errors, /there is no InjectorConfig/);
    });

    it('export-ca prints the trusted authorities', async () => {
      assert.equal((await call('export-ca', 'a')).out, read('one', 'ca.crt'));
      objects[webhooks] = { items: [], metadata: {} };
      assert.match((await call('export-ca', 'a')).errors, /has no webhook with a caBundle; see `injector certs/);
    });

    it('with an empty caBundle, status and export-ca exit with 1, and export-ca prints nothing', async () => {
      const emptied = webhook();
      for (const each of emptied.webhooks) each.clientConfig.caBundle = '';
      objects[webhooks] = { items: [emptied], metadata: {} };
      sees(await call('status', 'a'), 1, { errors: /sidecar-injector-a: the API server refuses the certificate/ });
      const { out, errors, code } = await call('export-ca', 'a');
      assert.deepEqual([out, code], ['', 1]);
      assert.match(errors, /see `injector certs status`/);
    });

    it('reports an unknown InjectorConfig, and refuses --force without --ca', async () => {
      for (const command of ['export-ca', 'rotate', 'status']) {
        sees(await call(command, 'b'), 2, { errors: /InjectorConfig b does not exist; existing names: a/ });
      }
      assert.match((await call('rotate', 'a', '--force')).errors, /--force: use it only with --ca/);
      assert.equal(patches.length, 0);
    });

    const targets: [string[], string][] = [
      [[], 'leaf'],
      [['--ca'], 'authority'],
      [['--ca', '--force'], 'authority-force'],
    ];
    for (const [flags, target] of targets) {
      it(`requests target ${target} for rotate ${flags.join(' ')}`, async () => {
        const { code, errors } = await call('rotate', 'a', ...flags);
        assert.deepEqual([code, errors], [0, '']);
        const patch = JSON.parse(patches[0]?.body ?? '') as KubernetesObject;
        const value = patch.metadata.annotations?.[rotateAnnotation] ?? '';
        assert.equal(parseRotateRequest(value).target, target);
        assert.equal(formatRotateRequest(parseRotateRequest(value)), value);
      });
    }

    const others: [provider: string, source: object, advice: RegExp][] = [
      ['Secret', { secretRef: { name: 'own' } }, /replace tls\.crt and tls\.key in Secret n\/own$/],
      ['CertManager', { certificateRef: { name: 'c' } }, /to renew it: cmctl renew -n n c$/],
      ['CertificateSigningRequest', {}, /kubectl delete secret -n n injector-request-a$/],
    ];
    for (const [provider, source, errors] of others) {
      it(`rotate refuses provider ${provider} at once, and says what to do`, async () => {
        objects[configs] = { items: [{ ...config(), spec: { certificate: { provider, ...source } } }], metadata: {} };
        for (const flags of [[], ['--ca']]) sees(await call('rotate', 'a', ...flags), 1, { errors });
        assert.equal(patches.length, 0);
        sees(await call('rotate', 'a', '--ca', '--force'), 0, { out: /requested a new authority/ });
      });
    }

    it('rotate reports a missing operator', async () => {
      objects[allLeases] = { items: [], metadata: {} };
      assert.match(
        (await call('rotate', 'a')).errors,
        /^no operator is running.*; the request waits until an operator becomes the leader$/,
      );
    });

    it('rotate --wait follows the status until the rotation is complete', async () => {
      const whole = await call('rotate', 'a', '--wait', '--timeout', '0');
      assert.equal(whole.code, 1);
      const late = /^waiting for the operator, phase Stable\nerror: InjectorConfig a: no operator has answered/;
      assert.match(whole.errors, late);
      server.answerWith((request, response) => {
        if (request.method === 'PATCH') patches.push(request);
        const nonce = patches[1] === undefined ? '' : /:([0-9a-f-]{36})"/.exec(patches[1].body)?.[1];
        const state =
          request.path === `${configs}/a` ? config({ rotateRequest: { nonce, state: 'Done' } }) : objects[request.path];
        json(response, 200, state);
      });
      const done = await call('rotate', 'a', '--wait');
      assert.match(done.out, /InjectorConfig a: done\n$/);
      assert.equal(done.code, 0);
    });

    function lease(identity: string, renewTime: string): object {
      const serves = JSON.stringify({ a: { hashes: [], certificate: 'cd'.repeat(32) } });
      const annotations = { 'sidecar-injector.io/serves': serves };
      return { metadata: { name: `injector-replica-${identity}`, annotations }, spec: { renewTime } };
    }
  });
});

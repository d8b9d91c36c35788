import assert from 'node:assert/strict';
import type {
  DashboardDiff,
  DashboardQuestion,
  DashboardRevision,
  DashboardTag,
  LiveAnswer,
  OverviewReport,
} from '../../api/dashboard-reports.ts';
import { parseRolloutAction, rolloutActionAnnotation } from '../../api/revision-tag/rollout-action.ts';
import type { RevisionTag, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { recordingTerminal, sees } from '../testdata/recording-terminal.ts';
import { refusal, RevisionCluster } from '../testdata/revision-cluster.ts';
import { paused, rolledBack, rolloutTag } from '../testdata/rollout-tag.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';
import { dashboardCommand } from './dashboard.ts';

type Overview = LiveAnswer<OverviewReport>;

describe('injector dashboard', () => {
  const cluster = new RevisionCluster();
  const { path, write } = temporaryFolder();
  before(async () => {
    await cluster.start();
    for (const name of ['1-24', '1-25']) cluster.addRevision(name);
    cluster.addTag('prod', '1-24');
    cluster.addNamespace('shop', { 'istio.io/rev': 'prod' });
    cluster.addPod('shop', 'web');
  });
  after(() => cluster.stop());
  afterEach(() => cluster.memory.faults.splice(0));

  /** Runs the command, and interrupts it after `act`. */
  async function whileServed(act: (url: string, token: string) => Promise<void>, ...more: string[]): Promise<string> {
    write('index.html', '<p>page</p>');
    let acting: Promise<void> | undefined;
    const { terminal, seen } = recordingTerminal('', undefined, {
      onOut: (out, interrupt) => {
        const [, url = '', token = ''] = /(http:\S+)#token=(\S+)/.exec(out) ?? [];
        acting ??= act(url, token).finally(interrupt);
      },
    });
    const argv = ['--no-open', '--kubeconfig', cluster.kubeconfig, ...more];
    await dashboardCommand(terminal, path()).parseAsync(argv, { from: 'user' });
    await acting;
    sees(seen(), 0, { out: /^the dashboard is at http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43} \(the link works once/ });
    return seen().out.split('\n').slice(1).join('\n');
  }

  const ask = (url: string, bearer?: string, more: Record<string, string> = {}) =>
    fetch(url, { headers: { ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }), ...more } });

  async function sessionOf(url: string, token: string): Promise<string> {
    const { session } = (await (await ask(`${url}session`, token)).json()) as { session: string };
    return session;
  }

  const overviewAfter = async (url: string, session: string, version: number): Promise<Overview> =>
    (await (await ask(`${url}reports/overview?after=${version}`, session)).json()) as Overview;

  it('lets one browser in, with the token of its link, and refuses everybody else', () =>
    whileServed(async (url, token) => {
      const overview = `${url}reports/overview?after=0`;
      const statusOf = async (...sent: Parameters<typeof ask>): Promise<number> => (await ask(...sent)).status;
      for (const wrong of [undefined, '', 'x', token.slice(1), token.toLowerCase()])
        assert.equal(await statusOf(`${url}session`, wrong), 401, wrong);
      for (const wrong of [undefined, 'x', token]) assert.equal(await statusOf(overview, wrong), 401, wrong);
      assert.equal(await statusOf(`${url}session`, token, { origin: 'http://evil.example' }), 403);
      const session = await sessionOf(url, token);
      assert.equal(await statusOf(`${url}session`, token), 401);
      assert.equal(await statusOf(overview, session, { origin: 'null' }), 403);
      assert.equal(await statusOf(overview, token), 401);
      assert.equal(await statusOf(`${url}reports/constructor`, session), 404);
      const answer = await ask(overview, session);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none';.* connect-src 'self';/);
    }));

  it('reports what the commands report', () =>
    whileServed(async (url, token) => {
      const { report } = await overviewAfter(url, await sessionOf(url, token), 0);
      const read = async (...argv: string[]): Promise<unknown> =>
        JSON.parse((await cluster.injector([...argv, '-o', 'json'])).out);
      const [tag] = report?.tags ?? [];
      assert.ok(report !== undefined && tag !== undefined);
      assert.deepEqual(report.revisions, (await read('revisions')) as DashboardRevision[]);
      const [listed] = (await read('tag', 'list')) as DashboardTag[];
      assert.deepEqual({ ...tag, ...listed }, tag);
      assert.deepEqual(tag.pods, { current: 0, stale: 0, missing: 1 });
      assert.match(report.server, /^http:\/\/127\.0\.0\.1:\d+$/);
      assert.ok(report.replicas.some(({ isLive, isLeader }) => isLive && isLeader));
    }));

  it('refuses to look up what does not exist, and says why', () =>
    whileServed(async (url, token) => {
      const session = await sessionOf(url, token);
      for (const [path, why] of [
        ['check?workload=Deployment/none&namespace=shop', /none/],
        ['check?workload=Deployment/none&namespace=default', /there is no namespace default/],
        ['check', /./],
        ['diff', /./],
        ['nothing', /there is no data at \/nothing/],
        ['constructor', /there is no data at/],
      ] as const) {
        const answer = await ask(`${url}${path}`, session);
        assert.ok([404, 422].includes(answer.status), `${path}: ${answer.status}`);
        assert.match(JSON.stringify(await answer.json()), why);
      }
    }));

  it('answers a waiting page as soon as an object changes', () =>
    whileServed(async (url, token) => {
      const session = await sessionOf(url, token);
      const phases: unknown[] = [];
      let version = 0;
      for (const rollout of [undefined, paused, rolledBack]) {
        if (rollout !== undefined)
          cluster.memory.put('revisiontags', { ...rolloutTag(rollout, { status: { observedGeneration: 9 } }) });
        const { report, ...head } = await overviewAfter(url, session, version);
        assert.ok(head.version > version);
        version = head.version;
        const [tag] = report?.tags ?? [];
        phases.push([tag?.phase, tag?.steps.map(({ mark }) => mark).join(), tag?.advice?.includes('tag retry prod')]);
      }
      assert.deepEqual(phases, [
        ['Ready', '', undefined],
        ['Paused', 'done,current,coming,coming', undefined],
        ['RolledBack', 'rolledBack,coming,coming,coming', true],
      ]);
    }));

  it('keeps the last report when the API server refuses or does not answer', () =>
    whileServed(async (url, token) => {
      const session = await sessionOf(url, token);
      const first = await overviewAfter(url, session, 0);
      cluster.memory.faults.push(refusal('GET', 'leases', 500, 'etcd is away'));
      const { report, failure, at } = await overviewAfter(url, session, first.version);
      assert.deepEqual(report, first.report);
      assert.match(failure ?? '', /etcd is away/);
      assert.ok(Date.parse(at ?? '') <= Date.now());
    }));

  describe('with --allow-actions', () => {
    const put = (rollout: RolloutState): void =>
      void cluster.memory.put('revisiontags', { ...rolloutTag(rollout, { status: { observedGeneration: 9 } }) });
    beforeEach(() => {
      put(paused);
      cluster.memory.writes.length = 0;
    });

    const question = async (url: string, session: string, verb: string): Promise<DashboardQuestion> =>
      (await (await ask(`${url}question?tag=prod&verb=${verb}`, session)).json()) as DashboardQuestion;
    const post = (url: string, id: string, session: string, origin = new URL(url).origin) =>
      fetch(`${url}action?question=${id}`, { method: 'POST', headers: { authorization: `Bearer ${session}`, origin } });

    /** Answers the next request of an action as the operator does. */
    function answer(): void {
      const timer = setInterval(() => {
        const { metadata, status } = cluster.memory.get('revisiontags', 'prod') as RevisionTag;
        const value = metadata.annotations?.[rolloutActionAnnotation];
        if (value === undefined || status?.rollout === undefined) return;
        clearInterval(timer);
        put({ ...status.rollout, action: { ...parseRolloutAction(value), state: 'Done', message: 'it was done' } });
      }, 20);
    }

    const effects = {
      resume: /^The pause of step 2 of 4 ends/,
      promote: /^All workloads get revision 1-25/,
      abort: /1-24/,
    };
    for (const [verb, effect] of Object.entries(effects))
      it(`carries out ${verb} once, after a question, by the write of the command`, async () => {
        const said = await whileServed(async (url, token) => {
          const session = await sessionOf(url, token);
          const { report } = await overviewAfter(url, session, 0);
          assert.deepEqual([report?.allowsActions, report?.tags[0]?.actions.join()], [true, 'resume,promote,abort']);
          const asked = await question(url, session, verb);
          assert.match(asked.effect, effect);
          assert.match(asked.evidence.join(), /^Paused, step 2 of 4, /);
          assert.deepEqual(cluster.changes, []);
          answer();
          const done = await post(url, asked.id, session);
          assert.deepEqual([done.status, await done.json()], [200, { message: 'it was done' }]);
          assert.deepEqual(cluster.changes, ['PATCH revisiontags prod']);
          assert.equal((await post(url, asked.id, session)).status, 422);
        }, '--allow-actions');
        assert.equal(said, `RevisionTag prod: ${verb}: it was done\n`);
      });

    it('shows what speaks against a promotion after a rollback, and refuses what the command refuses', () =>
      whileServed(async (url, token) => {
        put(rolledBack);
        const session = await sessionOf(url, token);
        assert.match((await question(url, session, 'promote')).evidence.join(), /without new evidence/);
        assert.match((await question(url, session, 'retry')).effect, /starts again with its first step/);
        for (const verb of ['abort', 'resume', 'pause', 'constructor'])
          assert.equal((await ask(`${url}question?tag=prod&verb=${verb}`, session)).status, 422, verb);
      }, '--allow-actions'));

    it('changes nothing if the rollout has changed since the question, or another question was asked', () =>
      whileServed(async (url, token) => {
        const session = await sessionOf(url, token);
        const [first, second] = [await question(url, session, 'resume'), await question(url, session, 'resume')];
        put({ ...paused, step: 2 });
        for (const { id } of [first, second]) {
          const refused = await post(url, id, session);
          assert.equal(refused.status, 422);
          assert.match(JSON.stringify(await refused.json()), /not the latest|has changed since the question/);
        }
        assert.deepEqual(cluster.changes, []);
      }, '--allow-actions'));

    it('refuses other origins, requests without an origin or session, and everything without the flag', async () => {
      for (const more of [[], ['--allow-actions']])
        await whileServed(
          async (url, token) => {
            const session = await sessionOf(url, token);
            const id = more.length === 0 ? 'x' : (await question(url, session, 'abort')).id;
            const withoutOrigin = { method: 'POST', headers: { authorization: `Bearer ${session}` } };
            const statuses = [
              await post(url, id, session, 'http://evil.example'),
              await fetch(`${url}action?question=${id}`, withoutOrigin),
              await post(url, id, token),
              await ask(`${url}question?tag=prod&verb=abort`, session),
            ].map(({ status }) => status);
            assert.deepEqual(statuses, more.length === 0 ? [403, 405, 405, 404] : [403, 403, 401, 200]);
          },
          ...more,
        );
      assert.deepEqual(cluster.changes, []);
    });
  });

  describe('for a workload', () => {
    before(() => {
      const templateOf = (image: string, value: string): Record<string, unknown> => {
        const env = JSON.stringify([{ name: 'SAID', value }]);
        return {
          injection: { templates: { sidecar: `spec: {containers: [{name: proxy, image: ${image}, env: ${env}}]}` } },
        };
      };
      cluster.addRevision('2-0', templateOf('proxy:1', 'no'));
      cluster.addRevision('2-1', templateOf('proxy:2', `\u202e${'x'.repeat(3000)}`));
      cluster.addTag('stays', '2-0');
      cluster.addTag('moves', '2-1');
      for (const tag of ['stays', 'moves']) {
        cluster.addNamespace(tag, { 'istio.io/rev': tag });
        cluster.addInjectedPods('2-0', tag, 'web', 2);
        cluster.addPod(tag, 'bare');
      }
    });

    const differs: [workload: string, namespace: string, expected: RegExp][] = [
      ['Deployment/web', 'stays', /^Injected 2-0\.\w+, Injected 2-0\.\w+: : undefined: $/],
      [
        'Deployment/web',
        'moves',
        /^Injected 2-0\.\w+, Injected 2-1\.\w+: \S+\[proxy\]\.image proxy:1 proxy:2; \S+\[SAID\]\.value no \\u\{202e\}x{1999}… and 1001 more characters: \S+env\S+: $/,
      ],
      [
        'Deployment/bare',
        'moves',
        /^NotInjected , Injected 2-1\.\w+: spec\.containers\[proxy\] {2}\{.*"image": "proxy:2".*: spec\.containers\[proxy\].*: $/s,
      ],
      ['Deployment/wbe', 'shop', /no workload .*existing names: shop\/Deployment\/web/],
      ['Deployment/web', 'none', /no namespace none/],
      ['web', 'shop', /no workload/],
    ];
    for (const [workload, namespace, expected] of differs)
      it(`predicts how new pods of ${workload} in ${namespace} differ`, () =>
        whileServed(async (url, token) => {
          const query = new URLSearchParams({ workload, namespace }).toString();
          const answer = await ask(`${url}diff?${query}`, await sessionOf(url, token));
          const { compared, notes, failure } = (await answer.json()) as DashboardDiff & { failure?: string };
          if (compared === undefined) {
            assert.match(failure ?? notes.join(), expected);
            return;
          }
          const { before, after, changes, needsRestart } = compared;
          const sides = [before, after].map(({ outcome, configuration }) => `${outcome} ${configuration}`).join(', ');
          const listed = changes.map((each) => [each.path, each.before, each.after].join(' ')).join('; ');
          const fields = needsRestart?.map(({ field }) => field).join();
          assert.match(`${sides}: ${listed}: ${fields}: ${notes.join()}`, expected);
        }));
  });

  it('says which rights the user lacks', async () => {
    cluster.memory.faults.push(refusal('GET', '/pods', 403, 'pods is forbidden'));
    await whileServed(async (url, token) => {
      const answer = await overviewAfter(url, await sessionOf(url, token), 0);
      assert.match(answer.failure ?? '', /pods is forbidden/);
      assert.equal(answer.report, undefined);
    });
  });
});

import assert from 'node:assert/strict';
import type { RestartStatus, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { sees, type Seen, type Surroundings } from '../testdata/recording-terminal.ts';
import { ready, RevisionCluster } from '../testdata/revision-cluster.ts';
import { promoted, restarting, restartStatus, rolledBack, rolloutTag, strategy } from '../testdata/rollout-tag.ts';

describe('injector, with a tag that restarts workloads', () => {
  let cluster: RevisionCluster;
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    cluster.addRevision('1-24');
    cluster.addRevision('1-25');
    cluster.addRevision('1-26');
  });
  afterEach(() => cluster.stop());

  /** Returns a tag at revision 1-25 with restarts. */
  const atRest = (restarts: RestartStatus | undefined, spec: object): ReturnType<typeof rolloutTag> =>
    rolloutTag(undefined, {
      spec,
      status: {
        stableRevision: '1-25',
        injectorConfig: '1-25',
        conditions: [ready('True', 'Published', 'pods get revision 1-25')],
        ...(restarts && { restarts }),
      },
    });
  const restartOnly = { strategy: { restart: {} } };
  const put = (object: ReturnType<typeof rolloutTag>): void => {
    cluster.memory.put('revisiontags', object);
  };
  /** Writes the status of restarts as the operator does. */
  const write = (restarts: RestartStatus): void => {
    cluster.memory.edit('revisiontags', 'prod', undefined, (object) => {
      object.status = { ...(object.status as object), restarts };
    });
  };
  const injector = (argv: string, surroundings?: Surroundings): Promise<Seen> =>
    cluster.injector(argv.split(' '), undefined, surroundings);

  describe('tag watch', () => {
    /** Runs the command while the operator writes one status after the other. */
    const watched = (later: readonly RestartStatus[], format = 'text'): Promise<Seen> => {
      let lines = 0;
      return injector(`tag watch prod -o ${format}`, {
        onOut: () => {
          const next = later[lines];
          lines += 1;
          if (next !== undefined) write(next);
        },
      });
    };

    it('shows a tag without steps until all workloads are restarted', async () => {
      put(atRest(restarting, restartOnly));
      const waiting: RestartStatus = { ...restarting, phase: 'Waiting', inProgress: 0, message: '39 waiting' };
      const { out, code } = await watched([waiting, restartStatus('1-25')]);
      assert.deepEqual(
        out
          .trimEnd()
          .split('\n')
          .map((line) => line.replace(/^\S+Z /, '')),
        [
          'Ready: pods get revision 1-25; restarts Restarting, 40 workloads stale, 1 restarting: 1 restarting, 38 to come',
          'Ready: pods get revision 1-25; restarts Waiting, 40 workloads stale, 0 restarting: 39 waiting',
          'Ready: pods get revision 1-25; restarts Idle, 0 workloads stale, 0 restarting: nothing to restart',
        ],
      );
      assert.equal(code, 0);
    });

    it('waits until the operator has counted workloads after the move', async () => {
      put(atRest(restartStatus('1-24'), restartOnly));
      const { out, code } = await watched([restarting, restartStatus('1-25')]);
      assert.equal(out.trim().split('\n').length, 3);
      assert.equal(code, 0);
    });

    for (const phase of ['Stopped', 'NotAllowed'] as const) {
      it(`ends with exit status 3 when restarts are ${phase}`, async () => {
        put(atRest(restarting, restartOnly));
        sees(await watched([{ ...restarting, phase, message: 'shop/Deployment/a crashes' }]), 3, {
          out: new RegExp(`restarts ${phase}, .*: shop/Deployment/a crashes\n$`),
        });
      });
    }

    it('shows restarts after a rollback, and ends with exit status 3', async () => {
      const spec = { strategy: { ...strategy, rollback: { restart: 'Canary' } } };
      const path = restartStatus('1-24').path ?? '';
      put(rolloutTag(rolledBack, { spec, status: { restarts: { ...restarting, path } } }));
      sees(await watched([restartStatus('1-24')]), 3, {
        out: /RolledBack: .*restarts Restarting.*\n.*RolledBack: .*restarts Idle.*\n$/,
      });
    });

    it('prints complete JSON records', async () => {
      put(atRest(restarting, restartOnly));
      const { out } = await watched([restartStatus('1-25')], 'json');
      const records = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { restarts?: object; steps?: object });
      const printed = records.map(({ restarts, steps }) => [restarts, steps]);
      assert.deepEqual(printed, [
        [restarting, []],
        [restartStatus('1-25'), []],
      ]);
    });
  });

  it('tag list and status show restarts if a tag requests them', async () => {
    put(atRest(restarting, restartOnly));
    const list = await injector('tag list');
    assert.match(list.out, /PODS +RESTARTS +READY\nprod +1-25 .* Restarting \(40 workloads stale\) +True/);
    assert.match((await injector('status')).out, /MISSING +RESTARTS\nprod .* Restarting \(40 workloads stale\)\n/);
    const inShort = { phase: 'Restarting', stale: 40, inProgress: 1 };
    const [listed] = JSON.parse((await injector('tag list -o json')).out) as { restarts?: object }[];
    assert.deepEqual(listed?.restarts, inShort);
    const { tags } = JSON.parse((await injector('status -o json')).out) as { tags: { restarts?: object }[] };
    assert.deepEqual(tags[0]?.restarts, inShort);
    put(atRest(restarting, {}));
    for (const command of ['tag list', 'status']) assert.doesNotMatch((await injector(command)).out, /RESTARTS/);
  });

  describe('tag set', () => {
    const clock = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    const rows: [string, RolloutState | undefined, object, RestartStatus | undefined, RegExp][] = [
      [
        'without steps',
        undefined,
        { strategy: { restart: { maxUnavailableWorkloads: 5, perNamespace: 2 } } },
        restartStatus('1-25'),
        /with 1 pod by namespace label; workloads with running pods are restarted, 5 workloads at a time, 2 per namespace \(spec\.strategy\.restart\): `injector tag watch prod`\n$/,
      ],
      [
        'if restarts are not allowed',
        undefined,
        restartOnly,
        restartStatus('1-25', { phase: 'NotAllowed', message: 'start it with --restart-workloads' }),
        /1 workload at a time, 1 per namespace \(spec\.strategy\.restart\); currently not allowed: start it with --restart-workloads: `/,
      ],
      [
        'in place, outside the windows',
        undefined,
        { strategy: { update: 'InPlace', restart: {}, windows: [{ from: clock(12), to: clock(13) }] } },
        restartStatus('1-25'),
        /pods are updated in place, or restarted where .*, 1 workload at a time, .*; it is outside the windows of spec\.strategy\.windows: the next one begins at 20\S+Z: `/,
      ],
      [
        'with steps',
        promoted,
        { strategy: { ...strategy, restart: {} } },
        undefined,
        /begins, .*\nworkloads are restarted when they enter the share, 1 workload at a time, .*\n`injector tag watch/,
      ],
      [
        'with steps, only after a rollback',
        promoted,
        { strategy: { ...strategy, rollback: { restart: 'Canary' } } },
        undefined,
        /\nif it is rolled back, workloads with the canary are restarted, .* \(spec\.strategy\.rollback\)\n/,
      ],
    ];
    for (const [title, rollout, spec, restarts, message] of rows) {
      it(`announces restarts ${title}`, async () => {
        put(rollout === undefined ? atRest(restarts, spec) : rolloutTag(rollout, { spec }));
        cluster.addNamespace('shop', { 'istio.io/rev': 'prod' });
        cluster.addPod('shop', 'web');
        assert.match((await injector('tag set prod -r 1-26 --overwrite -y --timeout 0')).out, message);
      });
    }

    it('announces no restarts after a rollback if the move is not a rollout', async () => {
      put(rolloutTag(rolledBack, { spec: { strategy: { ...strategy, rollback: { restart: 'Canary' } } } }));
      assert.doesNotMatch((await injector('tag set prod -r 1-24 --overwrite --timeout 0')).out, /restarted, /);
    });

    it('shows restarts if the tag already has the revision', async () => {
      put(atRest(restarting, restartOnly));
      assert.match((await injector('tag set prod -r 1-25')).out, /points to revision 1-25; restarts Restarting, 40 /);
    });
  });
});

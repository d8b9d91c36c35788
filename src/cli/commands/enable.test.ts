import assert from 'node:assert/strict';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import { asSoonAs } from '../testdata/recording-terminal.ts';
import { SwitchCluster } from '../testdata/switch-cluster.ts';

describe('injector enable', () => {
  let cluster: SwitchCluster;
  beforeEach(async () => {
    cluster = new SwitchCluster();
    await cluster.start();
    cluster.install();
  });
  afterEach(() => cluster.stop());

  it('only prints the changes in a dry run', async () => {
    await cluster.run('disable', '--all');
    cluster.writes.length = 0;
    assert.deepEqual((await cluster.run('enable', '--all', '--dry-run')).out, [
      'InjectorConfig blue: would be resumed',
      'InjectorConfig second: would be resumed',
    ]);
    assert.deepEqual(cluster.changes, []);
  });

  const ready = (name: string, status: string, generation?: number): void => {
    cluster.edit('injectorconfigs', name, undefined, (object) => {
      object.status = {
        observedGeneration: generation ?? object.metadata.generation,
        conditions: [{ type: 'Ready', status, reason: 'NotReachable', message: 'refused' }],
      };
    });
  };

  /** Returns a predicate: InjectorConfigs were read `times` times since the last write. */
  const looked = (times: number): (() => boolean) => {
    const { requests } = cluster.server;
    const from = requests.length;
    return () => {
      const since = requests.slice(from);
      const written = since.findLastIndex(({ method }) => method === 'PATCH');
      const isRead = ({ method, path }: (typeof since)[number]) => method === 'GET' && path.includes('injectorconfigs');
      return since.slice(written + 1).filter(isRead).length >= times;
    };
  };

  it('enables injectors, and waits until the operator has reconciled the change and reports Ready', async () => {
    await cluster.run('disable', '--all');
    ready('second', 'True', 99);
    const isLookedAt = looked(4);
    const end = cluster.run('enable', '--all', '--timeout', '20');
    asSoonAs(
      () => isLookedAt() && cluster.paused('blue') === undefined,
      () => {
        ready('blue', 'True');
      },
    );
    assert.deepEqual(await end, {
      code: 0,
      out: [
        'InjectorConfig blue: no longer paused',
        'InjectorConfig second: no longer paused',
        'InjectorConfig second: Ready',
        'InjectorConfig blue: Ready',
      ],
    });
    assert.equal(cluster.paused('blue'), undefined);
  });

  it('reports why an injector is not Ready in time, and does not wait with --timeout 0', async () => {
    assert.deepEqual(await cluster.run('enable', '--revision', 'blue', '--timeout', '0'), {
      code: 0,
      out: ['InjectorConfig blue: not paused'],
    });
    assert.deepEqual(await cluster.run('enable', '--revision', 'blue', '--timeout', '0.1'), {
      code: 1,
      out: [
        'InjectorConfig blue: not paused',
        'InjectorConfig blue: not Ready after 0.1 s: no operator has reconciled the current spec; check that the operator is running',
      ],
    });
    ready('blue', 'False');
    const { out } = await cluster.run('enable', '--revision', 'blue', '--timeout', '0.1');
    assert.equal(out.at(-1), 'InjectorConfig blue: not Ready after 0.1 s: NotReachable: refused');
    asSoonAs(looked(1), () => {
      cluster.remove('injectorconfigs', 'blue');
    });
    const end = cluster.run('enable', '--revision', 'blue', '--timeout', '0.5');
    assert.equal((await end).out.at(-1), 'InjectorConfig blue: not Ready after 0.5 s: it was deleted');
  });

  it('waits for the tags of enabled revisions', async () => {
    cluster.tag('prod', 'second', 'green');
    await cluster.run('disable', '--all');
    cluster.edit('injectorconfigs', 'second', undefined, (object) => {
      object.status = { conditions: [{ type: 'Ready', status: 'True' }], observedGeneration: 9 };
    });
    const enableGreen = async (webhook?: 'True' | 'False'): Promise<[code: number, last: string[]]> => {
      const conditions = [
        // This is the condition of a tag in a rollout, or after a rollback.
        { type: 'Ready', status: 'False', reason: 'Progressing', message: 'step 1 of 4' },
        { type: 'WebhookReady', status: webhook, reason: 'NotReachable', message: 'refused' },
      ];
      const status = webhook === undefined ? {} : { conditions, observedGeneration: 9, stableRevision: 'green' };
      // Pods get the stable revision, also if the spec names another one.
      cluster.put('revisiontags', { ...revisionTag('prod', { revision: webhook ? 'blue' : 'green' }), status });
      const { code, out } = await cluster.run('enable', '--revision', 'green', '--timeout', '1');
      return [code, out.slice(-2)];
    };
    const ready = 'InjectorConfig second: Ready';
    const late =
      'RevisionTag prod: not WebhookReady after 1 s: no operator has reconciled the current spec; check that the operator is running';
    assert.deepEqual(await enableGreen(), [1, [ready, late]]);
    const refused = 'RevisionTag prod: not WebhookReady after 1 s: NotReachable: refused';
    assert.deepEqual(await enableGreen('False'), [1, [ready, refused]]);
    const gone = 'RevisionTag prod: not WebhookReady after 1 s: its webhook configuration does not exist';
    assert.deepEqual(await enableGreen('True'), [1, [ready, gone]]);
    cluster.tag('prod', 'second', 'green');
    assert.deepEqual(await enableGreen('True'), [0, [ready, 'RevisionTag prod: WebhookReady']]);
  });
});

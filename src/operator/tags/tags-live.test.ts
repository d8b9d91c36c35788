import assert from 'node:assert/strict';
import { injectorConfig, template } from '../testdata/operator-fixture.ts';
import { ProcessCluster } from '../testdata/operator-process.ts';
import { revisionTag } from './testdata/tag-fixture.ts';

describe('tags in a running operator', () => {
  let cluster: ProcessCluster;
  beforeEach(async () => {
    cluster = new ProcessCluster();
    await cluster.start();
    await cluster.launch();
  });
  afterEach(() => cluster.stop());

  const path = (name: string): string => {
    const [webhook] = (cluster.webhook(name)?.webhooks ?? []) as { clientConfig: { service: { path: string } } }[];
    return webhook?.clientConfig.service.path ?? 'none';
  };
  const pointsTo = (name: string, to: string): Promise<void> => cluster.until(() => path(name).includes(`/${to}/`));
  const says = (kind: 'injectorconfigs' | 'revisiontags', name: string, status: string): Promise<void> =>
    cluster.until(() => cluster.ready(name, kind) === status);
  /** Waits until the operator writes nothing more, so that a later write has a later cause. */
  const quiet = async (): Promise<void> => {
    for (let before = -1; before !== cluster.writes.length;) {
      before = cluster.writes.length;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  const edit = (plural: string, name: string, spec: Record<string, unknown>): void => {
    cluster.edit(plural, name, undefined, (object) => {
      object.spec = spec;
    });
  };
  const rendering = (text: string) => ({ injection: { templates: { sidecar: text } } });

  it('publish when their revision appears, follow its configuration, move, and are removed', async () => {
    cluster.put('revisiontags', revisionTag('prod', 'old'));
    await says('revisiontags', 'prod', 'False/UnknownRevision');
    assert.equal(cluster.webhook('tag-prod'), undefined);
    cluster.put('injectorconfigs', injectorConfig('old'));
    await pointsTo('tag-prod', 'old');
    await says('revisiontags', 'prod', 'True/Published');
    const first = path('tag-prod');
    edit('injectorconfigs', 'old', rendering(template('two')));
    await cluster.until(() => path('tag-prod') !== first);
    cluster.put('injectorconfigs', injectorConfig('new'));
    await says('injectorconfigs', 'new', 'True/Serving');
    edit('revisiontags', 'prod', { revision: 'new' });
    await pointsTo('tag-prod', 'new');
    cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-tag-prod');
    await pointsTo('tag-prod', 'new');
    cluster.remove('revisiontags', 'prod');
    await cluster.until(() => cluster.webhook('tag-prod') === undefined);
  });

  it('report when their revision becomes unready, and when it is ready again', async () => {
    cluster.put('injectorconfigs', injectorConfig('old'));
    cluster.put('revisiontags', revisionTag('prod', 'old'));
    await says('revisiontags', 'prod', 'True/Published');
    await quiet();
    edit('injectorconfigs', 'old', rendering('{{ if }}'));
    await says('revisiontags', 'prod', 'False/RevisionNotReady');
    await quiet();
    edit('injectorconfigs', 'old', rendering(template('one')));
    await says('revisiontags', 'prod', 'True/Published');
  });
});

import { istio, revision } from '../../selection/testdata/istio-webhook.ts';
import { injectorConfig, template } from '../testdata/operator-fixture.ts';
import { type OperatorProcess, ProcessCluster } from '../testdata/operator-process.ts';
import { revisionTag } from './testdata/tag-fixture.ts';

describe('tags in a running operator', () => {
  let cluster: ProcessCluster;
  let process: OperatorProcess;
  beforeEach(async () => {
    cluster = new ProcessCluster();
    await cluster.start();
    process = await cluster.launch();
  });
  afterEach(() => cluster.stop());

  const path = (name: string): string => {
    const [webhook] = (cluster.webhook(name)?.webhooks ?? []) as { clientConfig: { service: { path: string } } }[];
    return webhook?.clientConfig.service.path ?? 'none';
  };
  const leads = (name: string, to: string): Promise<void> => cluster.until(() => path(name).includes(`/${to}/`));
  const isGone = (name: string): Promise<void> => cluster.until(() => cluster.webhook(name) === undefined);
  const says = (kind: 'injectorconfigs' | 'revisiontags', name: string, said: string, type = 'Ready'): Promise<void> =>
    cluster.until(() => cluster.ready(name, kind, type) === said);
  /** Until nothing is written any more: what comes afterwards is caused by what comes afterwards. */
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

  it('come when their revision does, follow its configuration, move, and go', async () => {
    cluster.put('revisiontags', revisionTag('prod', 'old'));
    await says('revisiontags', 'prod', 'False/UnknownRevision');
    cluster.put('injectorconfigs', injectorConfig('old'));
    await leads('tag-prod', 'old');
    const first = path('tag-prod');
    edit('injectorconfigs', 'old', rendering(template('two')));
    await cluster.until(() => path('tag-prod') !== first);
    cluster.put('injectorconfigs', injectorConfig('new'));
    await says('injectorconfigs', 'new', 'True/Serving');
    edit('revisiontags', 'prod', { revision: 'new' });
    await leads('tag-prod', 'new');
    cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-tag-prod');
    await leads('tag-prod', 'new');
    cluster.remove('revisiontags', 'prod');
    await isGone('tag-prod');
  });

  it('take over the default and give it back', async () => {
    cluster.put('injectorconfigs', injectorConfig('default'));
    cluster.put('injectorconfigs', injectorConfig('new'));
    await says('injectorconfigs', 'new', 'True/Serving');
    await leads('default', 'revisions/default');
    cluster.put('revisiontags', revisionTag('default', 'new'));
    await leads('default', 'tags/default/new');
    await says('injectorconfigs', 'default', 'True/Tagged');
    cluster.remove('revisiontags', 'default');
    await leads('default', 'revisions/default');
    await says('injectorconfigs', 'default', 'True/Serving');
  });

  it('say when their revision is not ready any more, and when it is again', async () => {
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

  it('that were deleted while nobody ran leave nothing behind', async () => {
    cluster.put('injectorconfigs', injectorConfig('old'));
    cluster.put('revisiontags', revisionTag('prod', 'old'));
    await leads('tag-prod', 'old');
    await process.stop();
    cluster.remove('revisiontags', 'prod');
    await cluster.launch('two');
    await isGone('tag-prod');
  });

  it('learn of an injector of somebody else that comes and goes', async () => {
    const foreign = istio({ namespaceSelector: revision('prod'), objectSelector: {} });
    cluster.put('mutatingwebhookconfigurations', foreign);
    cluster.put('injectorconfigs', injectorConfig('old'));
    cluster.put('revisiontags', revisionTag('prod', 'old'));
    await says('revisiontags', 'prod', 'False/ForeignOverlap');
    await quiet();
    cluster.remove('mutatingwebhookconfigurations', 'istio-sidecar-injector');
    await leads('tag-prod', 'old');
  });

  it('and their InjectorConfigs say so at once when it goes, whether they came before it or after', async () => {
    const foreign = istio({ namespaceSelector: revision('old'), objectSelector: {} });
    cluster.put('mutatingwebhookconfigurations', foreign);
    cluster.put('injectorconfigs', injectorConfig('old'));
    await says('injectorconfigs', 'old', 'False/ForeignOverlap');
    for (let round = 1; round <= 2; round++) {
      await quiet();
      cluster.remove('mutatingwebhookconfigurations', 'istio-sidecar-injector');
      await says('injectorconfigs', 'old', 'True/Serving');
      await says('injectorconfigs', 'old', 'False/NoForeignOverlap', 'ForeignOverlap');
      await quiet();
      cluster.put('mutatingwebhookconfigurations', foreign);
      await says('injectorconfigs', 'old', 'True/ForeignWebhook', 'ForeignOverlap');
    }
  });
});

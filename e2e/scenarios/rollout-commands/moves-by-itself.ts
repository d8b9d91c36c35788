import { found } from '../../harness/wait-for.ts';
import { clusterFlags, injectorOutput } from '../../harness/injector-command.ts';
import { applyTagUntilReady, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitForRollout } from '../canary/workloads.ts';
import { Watching, watchLines } from './watching.ts';
import { createAll, nameOf, workload } from '../../harness/workload-kinds.ts';
import { edits } from '../../harness/workload-observer/history.ts';
import { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';

const tag = 'steady';
const workloads = 8;
/** Of the first step. */
const share = workloads / 4;
/** Restarts take so long that who looks twice a second sees them, also when it is kept from looking for a moment. */
const slowly = { annotations: { 'e2e.sidecar-injector.io/ready-after': '2s' } };

/** With restart and canary a rollout needs nobody who makes pods: the workloads of each share are restarted, each once, and the commands show it. */
export async function checkMovesByItself(context: ScenarioContext): Promise<void> {
  const { client, cluster } = context;
  const argv = (...words: string[]) => ['tag', ...words, ...clusterFlags(cluster)];
  const strategy = {
    canary: {
      steps: [{ weight: 25, pause: 'UntilResumed' }, { weight: 100 }],
      analysis: { minimumPods: 1, minReadySeconds: 1 },
    },
    restart: { maxUnavailableWorkloads: 4, perNamespace: 4, minReadySeconds: 1 },
  };
  await applyTagUntilReady(client, revisionTag(tag, 'v1', { strategy }));
  const namespace = await context.namespace(tag, { 'istio.io/rev': tag });
  const observer = await WorkloadObserver.open(context, (each) => each === namespace);
  const objects = Array.from({ length: workloads }, (_, index) =>
    workload('Deployment', namespace, `work-${index}`, slowly),
  );
  const names = objects.map(nameOf);
  await createAll(context, objects);
  const wholeBy = (maker: string) => names.filter((each) => observer.isWholeBy(each, maker));
  await context.check(
    `${workloads} workloads are ready, with the stable revision`,
    () => wholeBy('v1').length === workloads,
  );
  const before = observer.latest();

  const set = await injectorOutput(argv('set', tag, '-r', 'v2', '--overwrite'));
  await context.check('set says what will be restarted', () =>
    /workloads are restarted as the share comes to them, 4 workloads at a time, 4 of one namespace/.test(set.out),
  );
  const watched = await Watching.start(argv('watch', tag, '-o', 'json'));
  await waitForRollout(context, tag, 'paused', ({ phase }) => phase === 'Paused');
  await context.check(`the first step has come to its end by restarts alone: of ${share} workloads, once each`, () => {
    found(String(wholeBy('v2').length), String(share));
    found(String(wholeBy('v1').length), String(workloads - share));
    return found([...edits(observer.sightings(), before).keys()].sort().join(), wholeBy('v2').sort().join());
  });
  await watched.shows('the pause', ({ rollout }) => rollout?.phase === 'Paused');
  await injectorOutput(argv('resume', tag));
  const { code, out } = await watched.end;
  await context.check('watch ends with status 0, after the promotion, when nothing is stale any more', () => {
    found(String(code), '0');
    return found(wholeBy('v2').join(), names.join());
  });
  await context.check('and has shown both', () => {
    const lines = watchLines(out);
    const last = lines.at(-1);
    found(
      `${last?.rollout?.phase ?? ''} ${last?.restarts?.phase ?? ''} ${last?.restarts?.stale ?? ''}`,
      'Promoted Idle 0',
    );
    return lines.some(({ restarts }) => restarts?.phase === 'Restarting' && restarts.inProgress > 0);
  });
  await context.check('each workload was restarted once', () => {
    const counts = [...edits(observer.sightings(), before).values()];
    return found(counts.join(), names.map(() => 1).join());
  });
}

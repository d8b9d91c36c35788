import { installIstio, istioNames } from '../harness/istio.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { caseOf, installOurs, type Judged, ownWebhook, reportOn } from './torture/torture-reports.ts';

export const tortureRealIstiod: Scenario = {
  name: 'torture-real-istiod',
  about: "`injector torture` reports on a real istiod and on this injector with istiod's own templates",
  destructive: "it installs Istio's charts",
  ownControlPlane: true,
  onlyGate: true,
  full: '1 minute',
  run: async (context) => {
    const istio = await installIstio(context);
    await installOurs(context);
    const theirs = await reportOn(context, istioNames.webhook);
    const own = await reportOn(context, ownWebhook);
    for (const each of theirs.failed) context.say(`istiod: ${each}`);
    for (const each of own.failed) context.say(`this injector: ${each}`);
    await context.checkNow('this injector fails in no pod that istiod passes', () =>
      found(
        own.failed
          .map(caseOf)
          .filter((name) => !theirs.failed.map(caseOf).includes(name))
          .join(),
        '',
      ),
    );
    const summary = ({ passed, judged, failed }: Judged) => ({ passed, judged, failed });
    context.measured({ istio: istio.version, istiod: summary(theirs), ours: summary(own) });
    return `istiod ${istio.version}: ${theirs.passed} of ${theirs.judged} pods pass; this injector: ${own.passed} of ${own.judged}`;
  },
};

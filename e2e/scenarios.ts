import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from './harness/scenario-context.ts';
import { alerts } from './scenarios/alerts.ts';
import { admissionThroughput } from './scenarios/admission-throughput.ts';
import { csrProvider } from './scenarios/csr-provider.ts';
import { canaryUpgradeWalk } from './scenarios/canary-upgrade-walk.ts';
import { canaryCases } from './scenarios/canary-cases.ts';
import { canaryOperatorKilled } from './scenarios/canary-operator-killed.ts';
import { canaryPromotes } from './scenarios/canary-promotes.ts';
import { canaryRollsBack } from './scenarios/canary-rolls-back.ts';
import { canaryShadow } from './scenarios/canary-shadow.ts';
import { certificateClocks } from './scenarios/certificate-clocks.ts';
import { certificateRepair } from './scenarios/certificate-repair.ts';
import { certManagerProvider } from './scenarios/cert-manager-provider.ts';
import { certsCommands } from './scenarios/certs-commands.ts';
import { chartLifecycle } from './scenarios/chart-lifecycle.ts';
import { checkAgrees } from './scenarios/check-agrees.ts';
import { controlPlane } from './scenarios/control-plane.ts';
import { deadOperator } from './scenarios/dead-operator.ts';
import { faults } from './scenarios/faults.ts';
import { foreignComesAndGoes } from './scenarios/foreign-comes-and-goes.ts';
import { gitops } from './scenarios/gitops.ts';
import { givenCertificates } from './scenarios/given-certificates.ts';
import { hostileInput } from './scenarios/hostile-input.ts';
import { istioTemplates } from './scenarios/istio-templates.ts';
import { image } from './scenarios/image.ts';
import { installUninstall } from './scenarios/install-uninstall.ts';
import { kubeMachinery } from './scenarios/kube-machinery.ts';
import { killSwitch } from './scenarios/kill-switch.ts';
import { kubesphereWalk } from './scenarios/kubesphere-walk.ts';
import { rollingRestarts } from './scenarios/rolling-restarts.ts';
import { readme } from './scenarios/readme.ts';
import { relist } from './scenarios/relist.ts';
import { repair } from './scenarios/repair.ts';
import { labelTruthTable } from './scenarios/label-truth-table.ts';
import { leaderKilledInRotation } from './scenarios/leader-killed-in-rotation.ts';
import { leastPrivilege } from './scenarios/least-privilege.ts';
import { providerSwitch } from './scenarios/provider-switch.ts';
import { publication } from './scenarios/publication.ts';
import { resourceValidation } from './scenarios/resource-validation.ts';
import { rotationUnderLoad } from './scenarios/rotation-under-load.ts';
import { rotationWithTags } from './scenarios/rotation-with-tags.ts';
import { roles } from './scenarios/roles.ts';
import { rolloutCommands } from './scenarios/rollout-commands.ts';
import { rolloutPaths } from './scenarios/rollout-paths.ts';
import { hold } from './scenarios/hold.ts';
import { holdCost } from './scenarios/hold-cost.ts';
import { holdKilled } from './scenarios/hold-killed.ts';
import { holdSwitch } from './scenarios/hold-switch.ts';
import { restartStale } from './scenarios/restart-stale.ts';
import { revisionScale } from './scenarios/revision-scale.ts';
import { stall } from './scenarios/stall.ts';
import { trialRender } from './scenarios/trial-render.ts';
import { templateBomb } from './scenarios/template-bomb.ts';
import { oneWriter } from './scenarios/one-writer.ts';
import { upgrade } from './scenarios/upgrade.ts';
import { webhookLost } from './scenarios/webhook-lost.ts';
import { uninstall } from './scenarios/uninstall.ts';
import { takenOver } from './scenarios/taken-over.ts';
import { stopwatch } from './scenarios/stopwatch.ts';
import { tagSwitch } from './scenarios/tag-switch.ts';
import { diffPredicts } from './scenarios/diff-predicts.ts';
import { diffScale } from './scenarios/diff-scale.ts';
import { seedWalk } from './scenarios/seed-walk.ts';

/** The scenarios in running order: the longest pairs first, so that both queues end together. */
export const scenarios: Scenario[] = [
  alerts,
  chartLifecycle,
  seedWalk,
  kubesphereWalk,
  canaryUpgradeWalk,
  resourceValidation,
  labelTruthTable,
  checkAgrees,
  diffPredicts,
  istioTemplates,
  repair,
  hostileInput,
  stall,
  templateBomb,
  admissionThroughput,
  trialRender,
  deadOperator,
  readme,
  foreignComesAndGoes,
  roles,
  takenOver,
  killSwitch,
  rollingRestarts,
  publication,
  tagSwitch,
  rolloutPaths,
  canaryPromotes,
  canaryRollsBack,
  canaryShadow,
  canaryOperatorKilled,
  canaryCases,
  hold,
  holdKilled,
  holdSwitch,
  webhookLost,
  oneWriter,
  upgrade,
  rolloutCommands,
  restartStale,
  rotationUnderLoad,
  rotationWithTags,
  leaderKilledInRotation,
  certificateRepair,
  certificateClocks,
  givenCertificates,
  csrProvider,
  certManagerProvider,
  providerSwitch,
  certsCommands,
  faults,
  relist,
  revisionScale,
  uninstall,
  installUninstall,
  image,
  gitops,
  kubeMachinery,
  controlPlane,
  stopwatch,
  diffScale,
  holdCost,
  // Runs last, because it reads the rights that all other scenarios recorded.
  leastPrivilege,
];

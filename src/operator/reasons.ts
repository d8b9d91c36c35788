import type { chainFaults } from '../certs/verify-chain.ts';
import type { FailureReason, SkipReason } from '../inject/injection-result.ts';
import type { rolloutEvents } from '../rollout/transitions.ts';

/** Conditions. `make generate` writes docs/reference/conditions.md from these tables. */
export const conditions = {
  Ready: 'new pods get what the spec says; when False, the reason is that of the first condition that prevents it',
  TemplatesValid: 'the configuration compiles; while it does not, replicas serve the last good one',
  CertificateReady: 'the certificate of the provider is served; when True, the reason is the phase of the rotation',
  WebhookReady: 'the webhook names the desired configuration',
  TemplatesDoubtful:
    'bad when True: the published configuration has warnings, for example that it fails for typical pods, or contradicts settings of istiod in the values of `configFrom`',
  PodsNotValidated:
    'the API server did not say whether injected pods are valid, so the operator relies on its own rules; the message says why',
  NativeSidecarsAvailable: 'mode Auto would use native sidecars now: the next change of the configuration does so',
  InjectionFailing: 'bad when True: pods were refused in the last five minutes; the reason is that of the last refusal',
  Overlap: 'bad when True: an older InjectorConfig or RevisionTag selects the same pods, so nothing is published',
  ForeignOverlap: 'bad when True: an injector outside this operator selects the same pods by the same labels',
  Conflict: 'bad when True: another client writes our fields; the operator reverts the writes at most once a second',
  Holding: 'pods wait for their sidecar, because the webhook could not be called when they were created',
  HoldUnavailable: 'bad when True: failurePolicy Hold is not in effect, so `spec.webhook.fallback` applies to all pods',
  Narrowed: 'a field manager in `spec.webhook.toleratedManagers` has narrowed the selectors of the webhook',
  Paused: '`spec.paused` is set: the webhook is withdrawn, and the operator repairs nothing',
  RemovalBlocked: 'bad when True: an object that must be deleted together with this one still exists',
  RevisionReady: 'RevisionTag only: the tag can point to the revision in its spec',
  RolloutComplete:
    'canary RevisionTag only: all pods get the revision in its spec; when False, the reason is the phase, or NotPublished',
} as const;

/** Reasons of conditions. The type system lets the operator write no other reason. */
export const conditionReasons = {
  AllFine: 'TemplatesDoubtful: every pod that was tried was injected, and none is known to be invalid',
  CainjectorWrites: 'Conflict, Ready: an annotation makes cert-manager write our `caBundle`; the message names it',
  CertManagerMissing: 'CertificateReady: cert-manager is not installed, so the API server does not serve Certificates',
  CertificateMissing: 'CertificateReady: the Certificate in `certificateRef` does not exist',
  CertificatePending: 'CertificateReady: cert-manager has not issued the certificate; the message quotes its status',
  Compiled: 'TemplatesValid: all templates compile',
  Complete: 'RolloutComplete: all pods get the revision in the spec',
  ConfigurationInvalid:
    'TemplatesValid: the configuration does not compile, or fails for every typical pod, or the API server refuses every typical pod that it injects',
  ConfigurationLost:
    'WebhookReady: the published configuration is missing from all ConfigMaps, and the current one does not compile',
  Confirming: 'CertificateReady: the operator waits until every API server has read the new authority',
  CustomSelection: 'RevisionReady: the InjectorConfig has its own selectors, so a tag cannot point to it',
  Doubtful: 'TemplatesDoubtful: the message lists the warnings',
  DryRunForbidden: 'PodsNotValidated: the operator may not create pods as dry runs in its namespace',
  DryRunRefused: 'PodsNotValidated: another component refuses the dry run of a pod',
  DryRunUnanswered: 'PodsNotValidated: the dry run of a pod got no answer in time, or an error of the API server',
  ForeignFinalizer:
    'RemovalBlocked: a finalizer of another controller blocks a deletion; the message names object and finalizer',
  ForeignManager: 'Conflict: the message names the other field manager',
  ForeignOverlap: 'WebhookReady: nothing is published because an injector outside this operator selects the same pods',
  ForeignWebhook: 'ForeignOverlap: the message names the webhook of the other injector',
  HoldActive: 'HoldUnavailable: while the webhook cannot be called, replaceable pods are held',
  HoldDisabled: 'HoldUnavailable: this installation has no permissions for Hold; the message says how to grant them',
  HoldNotServed: 'HoldUnavailable: the API server does not serve MutatingAdmissionPolicies',
  HoldNotUsed: 'HoldUnavailable: `spec.webhook.failurePolicy` is not Hold',
  HoldSwitching:
    'HoldUnavailable: Hold is being switched on, or its policy is being changed; the message says what is missing',
  HostTaken: 'WebhookReady, CertificateReady: another InjectorConfig uses the host of `spec.webhook.url`',
  Idle: 'RolloutComplete: no rollout is in progress',
  InternalError:
    'CertificateReady, WebhookReady: a pass failed; errors from the API server have their own reasons (`Forbidden`, …)',
  Invalid: 'TemplatesValid, RevisionReady, WebhookReady: a rule between fields, or the API server, rejects the object',
  InvalidPolicy: 'CertificateReady: the durations in `spec.certificate` contradict each other',
  KubeletsReady: 'NativeSidecarsAvailable: the kubelets of all nodes are new enough',
  KeyMissing: 'CertificateReady: a Secret lacks `tls.crt`, `tls.key` or `ca.crt`; the message names the key',
  NoConflict: 'Conflict: no other field manager writes our fields',
  NoFailure: 'InjectionFailing: no pod was refused in the last five minutes',
  NoForeignOverlap: 'ForeignOverlap: no injector outside this operator selects the same pods',
  NoPodHeld: 'Holding: no pod waits for its sidecar',
  NoOverlap: 'Overlap: no older InjectorConfig or RevisionTag selects the same pods',
  NoReplica: 'WebhookReady: no replica is running',
  NotBlocked: 'RemovalBlocked: nothing blocks the deletion',
  NotNarrowed: 'Narrowed: the webhook has the selectors of the spec',
  NotOffered:
    'NativeSidecarsAvailable: native sidecars are in use, `nativeSidecars` is not Auto, a kubelet is too old, or the templates do not depend on the mode',
  NotObserved: 'Ready, RolloutComplete: the operator has not determined the state yet',
  NotPaused: 'Paused: `spec.paused` is not set',
  NotPublished:
    'WebhookReady, RolloutComplete: the InjectorConfig that the tag points to is paused or publishes nothing',
  NotReachable: 'WebhookReady: the API server cannot reach the replicas, so no webhook is published',
  NothingToPublish: 'WebhookReady: no configuration has ever compiled',
  OtherFamily: 'RevisionReady: the InjectorConfig and the current target of the tag have different `spec.webhook.keys`',
  OtherOperatorClass: 'WebhookReady: an operator of another class owns the webhook configuration of this name',
  Overlap:
    'Overlap, WebhookReady, Ready: the message names the InjectorConfig or RevisionTag that selects the same pods',
  OwnerMissing: 'WebhookReady: the object named with `--owner` is gone, for example because the chart was uninstalled',
  Paused: 'Paused, WebhookReady, Ready: `spec.paused` is set; RolloutComplete: a step waits for `injector tag resume`',
  PodsHeld: 'Holding: the message says how many pods wait, since when, and why',
  PodsNotFollowed: 'RevisionReady: the operator runs with `--no-follow-pods`, but a canary rollout needs the pods',
  PolicyInactive: 'HoldUnavailable: the API server does not apply the policy that holds pods',
  PolicyRefused: 'HoldUnavailable: the API server refuses the policy that holds pods',
  ProbeRefused: 'WebhookReady: another component refuses the dry-run request of the reachability check',
  Progressing: 'RolloutComplete: the share of workloads that use the canary grows',
  Promoted: 'RolloutComplete: every pod gets the canary',
  Published: 'WebhookReady, Ready: the webhook names the desired configuration',
  ProviderDisabled:
    'CertificateReady: this installation has no permissions for the provider; the message says how to grant them',
  Publishing: 'CertificateReady: the operator is writing a new authority into every `caBundle`',
  ReferenceInvalid: 'TemplatesValid: a reference of `configFrom`, `valuesFrom` or `meshConfigFrom` cannot be read',
  RemovalBlocked: 'Ready: an object that must be deleted together with this one still exists',
  RenewalDue:
    'CertificateReady: the certificate expires soon and has not been replaced; the message says how to replace it',
  RenewalPending: 'CertificateReady: the served certificate is valid; the message describes the pending request',
  RequestDenied: 'CertificateReady: the CertificateSigningRequest was denied; the operator creates another one',
  RequestFailed: 'CertificateReady: the signer refused the CertificateSigningRequest; the operator creates another one',
  RequestPending:
    'CertificateReady: the CertificateSigningRequest waits for its approval or for the signer; the message says what to do',
  RequestRemoved:
    'CertificateReady: the CertificateSigningRequest was removed before it was signed; the operator creates another one',
  Retiring: 'CertificateReady: a certificate of the new authority is served; the old authority is still trusted',
  RevisionNotReady: 'RevisionReady: the InjectorConfig is not Ready, or not all replicas serve it yet',
  RevisionPaused: 'RevisionReady: the InjectorConfig is paused',
  RevisionReady: 'RevisionReady: the tag can point to the revision',
  RolledBack: 'RolloutComplete: the canary was rolled back; the message says why',
  SecretMissing: 'CertificateReady: the Secret in `secretRef` does not exist',
  Serving: 'Ready: every live replica serves the published configuration',
  Shadowing: 'RolloutComplete: the canary is rendered and compared, but not used',
  Stable: 'CertificateReady: no certificate or authority is being replaced',
  Tagged: 'Ready, WebhookReady: the webhook of RevisionTag `default` replaces the webhook of this InjectorConfig',
  Takeover:
    'ForeignOverlap: an injector outside this operator selects the same pods, and `spec.webhook.takeover` publishes beside it',
  ToleratedManager: 'Narrowed: the message names the field manager',
  TooCostly: 'TemplatesValid: compilation takes too much time or memory; it is retried when the configuration changes',
  TrustMissing: 'CertificateReady: `caBundle`, or the object that `caBundleFrom` names, contains no certificate',
  UnknownRevision: 'RevisionReady: no InjectorConfig of this operator class has this revision',
  Validated: 'PodsNotValidated: the API server has validated injected pods',
  WaitingForPods: 'RolloutComplete: a step waits for results from pods',
  WaitingForReplicas: 'WebhookReady: at least one live replica does not serve the configuration yet',
} as const;
export type ConditionReason = keyof typeof conditionReasons | keyof typeof chainFaults | FailureReason;

/** Reasons of Events, besides the reasons of conditions and of decisions about pods. */
export const events = {
  InjectionFailing: 'the published configuration fails for pods',
  HoldUnavailable: 'failurePolicy Hold is not in effect; the note says what an administrator must do',
  Issued: 'a certificate was issued',
  NearMissName: 'on a Namespace: the name of a label resembles one that an injector reads',
  NearMissValue: 'on a Namespace: a label that an injector reads has a value that means nothing to injectors',
  NotCalled: 'on a Pod: it should have been injected, but the API server did not call the webhook; the note says why',
  NotSelected: 'on a Pod: its label asks for injection, but no InjectorConfig selects it; the note quotes the labels',
  OtherInstallation: 'another installation of this operator class owns the webhook, so nothing is written',
  Repaired: 'another client edited or deleted one of our objects, and the operator restored it',
  UpdatedInPlace: 'on a pod: the operator updated it in place for a tag',
  UpdateTakenBack: 'on a pod: its update in place failed, and the operator took it back',
  RestartFailed: 'on a workload: its restart failed or was refused',
  Restarted: 'on a workload: the operator restarted it for a tag',
  RestartsResumed: 'on a RevisionTag: the operator restarts workloads again',
  RestartsStopped: 'on a RevisionTag: restarted workloads are unhealthy, so the operator has stopped the restarts',
  Resumed: '`spec.paused` was unset, so the webhook is published again',
  Retired: 'the old authority is no longer trusted',
  RotateRefused: 'a requested renewal was refused',
  Staged: 'a new authority was created; it signs nothing yet',
  StatusRefused: 'the API server refuses the status of the object, which is then written without its lists',
  Swapped: 'the new authority now signs serving certificates',
} as const;
export type EventReason = keyof typeof events | keyof typeof rolloutEvents | ConditionReason | SkipReason;

import type { AdmissionDecision, ReviewVersion } from './admission-decision.ts';

/** The answered AdmissionReview as JSON, in the version of the question, with its uid. @param encodedDecision see {@link encodeDecision} */
export function joinReview(version: ReviewVersion, uid: string, encodedDecision: string): string {
  return `{"kind":"AdmissionReview","apiVersion":"${version}","response":{"uid":${JSON.stringify(uid)},${encodedDecision}}}`;
}

/**
 * What follows the uid: the same for every review that gets this decision. The API server asks for `patch` and `patchType` both or
 * neither, and neither of them when nothing changes (k8s.io/apiserver, VerifyAdmissionResponse).
 */
export function encodeDecision(decision: AdmissionDecision): string {
  let text = `"allowed":${decision.allowed}`;
  const { status, patch, warnings, auditAnnotations } = decision;
  if (status !== undefined) {
    const details =
      status.causes === undefined || status.causes.length === 0
        ? undefined
        : { ...status.subject, causes: status.causes.map(cause) };
    const { code, reason, message } = status;
    text += `,"status":${JSON.stringify({ status: 'Failure', code, reason, message, details })}`;
  }
  if (patch !== undefined && patch.length > 0) {
    text += `,"patch":"${toBase64(JSON.stringify(patch))}","patchType":"JSONPatch"`;
  }
  if (warnings !== undefined && warnings.length > 0)
    text += `,"warnings":${JSON.stringify(warnings.map(shortenWarning))}`;
  if (auditAnnotations !== undefined) text += `,"auditAnnotations":${JSON.stringify(auditAnnotations)}`;
  return text;
}

/** Most patches fit in. A Buffer for each would lie outside of the heap until it is collected. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

function toBase64(text: string): string {
  if (text.length * 3 > scratch.length) return Buffer.from(text).toString('base64');
  return scratch.toString('base64', 0, scratch.write(text));
}

/** metav1.StatusCause; kubectl puts the field before the message. */
function cause({ field, message }: { field: string; message: string }): Record<string, string> {
  const text = field !== '' && message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
  return { reason: 'FieldValueInvalid', message: text, field };
}

/** Longer ones may be cut by the API server (AdmissionResponse.warnings). */
const maxWarningLength = 256;

const controlCharacter = /\p{Cc}/u;

/**
 * A warning as Kubernetes shows it: no control characters, since the API server drops a warning that has any (it travels in a header),
 * and at most 256 characters.
 */
export function shortenWarning(text: string): string {
  if (text.length <= maxWarningLength && !controlCharacter.test(text)) return text;
  const characters = Array.from(text.replaceAll(/\p{Cc}+/gu, ' '));
  return characters.length <= maxWarningLength
    ? characters.join('')
    : `${characters.slice(0, maxWarningLength - 3).join('')}...`;
}

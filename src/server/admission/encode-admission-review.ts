import type { AdmissionDecision, ReviewVersion } from './admission-decision.ts';

/** Returns the answer as JSON. @param encodedDecision see {@link encodeDecision} */
export function joinReview(version: ReviewVersion, uid: string, encodedDecision: string): string {
  return `{"kind":"AdmissionReview","apiVersion":"${version}","response":{"uid":${JSON.stringify(uid)},${encodedDecision}}}`;
}

/**
 * Encodes the part of an answer after the uid. The API server requires both `patch` and
 * `patchType`, or neither; omit both for an empty patch (k8s.io/apiserver,
 * VerifyAdmissionResponse).
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

/** Holds most patches. A new Buffer per patch would use off-heap memory until it is collected. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

function toBase64(text: string): string {
  if (text.length * 3 > scratch.length) return Buffer.from(text).toString('base64');
  return scratch.toString('base64', 0, scratch.write(text));
}

/** Returns a metav1.StatusCause. Its message omits the field, which kubectl prepends. */
function cause({ field, message }: { field: string; message: string }): Record<string, string> {
  const text = field !== '' && message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
  return { reason: 'FieldValueInvalid', message: text, field };
}

/** The maximum length in characters. The API server can truncate longer warnings. */
const maxWarningLength = 256;

const controlCharacter = /\p{Cc}/u;

/**
 * Shortens a warning to 256 characters, and replaces control characters. The API server sends
 * warnings in a header, and drops warnings with control characters.
 */
export function shortenWarning(text: string): string {
  if (text.length <= maxWarningLength && !controlCharacter.test(text)) return text;
  const characters = Array.from(text.replaceAll(/\p{Cc}+/gu, ' '));
  return characters.length <= maxWarningLength
    ? characters.join('')
    : `${characters.slice(0, maxWarningLength - 3).join('')}...`;
}

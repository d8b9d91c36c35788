/** What Kubernetes advises for one warning (AdmissionResponse.warnings); longer ones may be cut by the API server. */
const maxWarningLength = 120;

const controlCharacter = /\p{Cc}/u;

/**
 * A warning as Kubernetes shows it: no control characters, since the API server drops a warning that has any (it travels in a header),
 * and at most 120 characters.
 */
export function shortenWarning(text: string): string {
  if (text.length <= maxWarningLength && !controlCharacter.test(text)) return text;
  const characters = Array.from(text.replaceAll(/\p{Cc}+/gu, ' '));
  return characters.length <= maxWarningLength
    ? characters.join('')
    : `${characters.slice(0, maxWarningLength - 3).join('')}...`;
}

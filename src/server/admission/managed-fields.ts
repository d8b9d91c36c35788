/** How Go's encoder begins a review's pod: fields in the order of the types in k8s.io/api/admission/v1 and core/v1. */
const podStart = '"object":{"kind":"Pod","apiVersion":"v1","metadata":{';
/** Behind the last field of its metadata, which is managedFields (ObjectMeta in k8s.io/apimachinery/pkg/apis/meta/v1). */
const metadataEnd = '},"spec":{';
const managedFields = ',"managedFields":[';
const closingBracket = ']'.charCodeAt(0);

/**
 * The JSON text of a review without its pod's managedFields, which nobody reads here and are often half of the text and more than half of what parsing it costs. No quote within
 * a JSON string stands without a backslash, so none of the marks can be text in one. In a review that is written in any other way they are not found, or what remains
 * is not JSON, and then the whole text has to be parsed.
 */
export function withoutManagedFields(text: string): string {
  const start = text.indexOf(podStart);
  if (start === -1) return text;
  const end = text.indexOf(metadataEnd, start + podStart.length);
  if (end === -1 || text.charCodeAt(end - 1) !== closingBracket) return text;
  const fields = text.indexOf(managedFields, start);
  return fields === -1 || fields > end ? text : text.slice(0, fields) + text.slice(end);
}

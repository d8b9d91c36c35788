/** An escape of JSON (of a lone surrogate as a whole), or a character that is escaped here. */
const special = /\\(?:ud[89a-f]..|.)|[\u007f-\uffff]/gu;

/**
 * Returns the JSON of a body, which YAML reads alike: to the API server, apply bodies are YAML.
 * go.yaml.in/yaml/v2 refuses raw control characters and noncharacters, and folds raw line
 * separators (readerc.go, scannerc.go). So every character is ASCII, except those above U+FFFF:
 * YAML accepts them raw, but not as the two escapes that JSON has for them. A lone surrogate
 * becomes U+FFFD, as when Go reads JSON.
 */
export function requestBody(value: unknown): string {
  return JSON.stringify(value).replace(special, (found) => {
    if (found.startsWith('\\')) return found.length > 2 ? '\\ufffd' : found;
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

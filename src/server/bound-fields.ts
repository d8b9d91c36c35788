/** Characters. Enough for what a refusal has to say; what it quotes can be as long as a request. */
const longest = 1000;

/** The fields of a log line with texts that are cut where they get long: names, uids and messages hold what a client has sent. */
export function boundFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const bounded: Record<string, unknown> = {};
  for (const name in fields) {
    const value = fields[name];
    bounded[name] =
      typeof value === 'string' && value.length > longest
        ? `${value.slice(0, longest)}… (${value.length} characters)`
        : value;
  }
  return bounded;
}

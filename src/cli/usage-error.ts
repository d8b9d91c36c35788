/** The call is wrong, not the cluster or the configuration: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

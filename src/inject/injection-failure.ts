import type { FailureReason } from './injection-result.ts';

/** An error that stops the injection of a pod. {@link inject} catches it and returns a result. */
export class InjectionFailure extends Error {
  override readonly name = 'InjectionFailure';
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

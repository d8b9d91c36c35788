import type { FailureReason } from './injection-result.ts';

/** A pod cannot be injected. Thrown inside the engine only; {@link inject} turns it into a result. */
export class InjectionFailure extends Error {
  override readonly name = 'InjectionFailure';
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

import type { FailureReason } from './injection-result.ts';

/** An error that stops the injection of a pod. {@link inject} catches it and returns a result. */
export class InjectionFailure extends Error {
  override readonly name = 'InjectionFailure';
  readonly reason: FailureReason;
  /** The name of the template that failed, which the names in Go's messages do not say. */
  readonly template: string | undefined;
  constructor(reason: FailureReason, message: string, options?: ErrorOptions & { readonly template?: string }) {
    super(message, options);
    this.reason = reason;
    this.template = options?.template;
  }
}

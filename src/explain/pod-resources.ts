/** The effective requests and limits, in millicores and bytes; a limit is undefined if one container has none. */
export interface PodResources {
  readonly requests: { readonly cpu: number; readonly memory: number };
  readonly limits: { readonly cpu: number; readonly memory: number };
}

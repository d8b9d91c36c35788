/** One TCP connection that the balancer has passed on. Times are milliseconds since 1970. */
export interface ConnectionRecord {
  backend: string;
  openedAt: number;
  /** Undefined while it is open. */
  closedAt: number | undefined;
  /** Who ended it: `refused` when the backend did not accept it. */
  closedBy: 'client' | 'backend' | 'refused' | undefined;
  bytesUp: number;
  bytesDown: number;
  /** Whether the client had sent something last that was not answered when it ended (or now): a handshake or a request is under way. */
  isWaiting: boolean;
}

/** A backend as the balancer sees it. */
export interface BackendState {
  name: string;
  /** What its last probe said. */
  isReady: boolean;
  /** Whether it gets new connections: follows readiness, later. */
  isInRotation: boolean;
  open: number;
  opened: number;
}

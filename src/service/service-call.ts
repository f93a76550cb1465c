/** What every route of the service gets of its request, read once. */
export interface ServiceCall {
  env: ServiceEnv;
  request: Request;
  /** In every answer as `X-Request-Id`, and in the log. */
  requestId: string;
  /** Epoch milliseconds. */
  now: number;
  waitUntil: (work: Promise<unknown>) => void;
}

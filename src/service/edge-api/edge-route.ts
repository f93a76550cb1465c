/**
 * What a handler of the edge API gets (design 4): a call whose client JWT was verified and whose
 * instance is active. The table of these handlers is `edge-routes.ts`.
 */
import type { StoredInstance } from '../../store/d1/instances.ts';

export interface EdgeCall {
  env: ServiceEnv;
  instance: StoredInstance;
  /** `jti` of the client JWT the edge came with. */
  clientJwtId: string;
  request: Request;
  requestId: string;
  /** Epoch milliseconds, read once per request. */
  now: number;
  waitUntil: (work: Promise<unknown>) => void;
}

export interface EdgeRoute {
  method: 'GET' | 'POST';
  /** Below the service's address, with `:name` for a parameter, such as `/edge/v1/rulesets/:hash`. */
  path: string;
  handler(call: EdgeCall, params: Readonly<Record<string, string>>): Promise<Response>;
}

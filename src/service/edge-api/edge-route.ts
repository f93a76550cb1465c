/** The shape of a route of the edge API. Its client JWT is verified, and its instance active, before the handler runs. */
import type { StoredInstance } from '../../store/d1/instances.ts';
import type { ServiceCall } from '../http/service-call.ts';

export interface EdgeCall extends ServiceCall {
  instance: StoredInstance;
}

export interface EdgeRoute {
  method: 'GET' | 'POST';
  /** Path below the service's address, with `:name` for a parameter, such as `/edge/v1/rulesets/:hash`. */
  path: string;
  handler(call: EdgeCall, params: Readonly<Record<string, string>>): Promise<Response>;
}

/** The shape of a route of the edge API. Its client JWT is verified, and its instance active, before the handler runs. */
import type { CallingEdge } from '../http/authenticate-edge.ts';
import type { ServiceCall } from '../http/service-call.ts';

export type EdgeCall = ServiceCall & CallingEdge;

export interface EdgeRoute {
  method: 'GET' | 'POST';
  /** Path below the service's address, with `:name` for a parameter, such as `/edge/v1/rulesets/:hash`. */
  path: string;
  handler(call: EdgeCall, params: Readonly<Record<string, string>>): Promise<Response>;
}

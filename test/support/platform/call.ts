/** What the parts of the stand-in's API share: its errors, and how a handler finds what a path names. */
import type { AccountState, PlatformState, QueueState, ScriptState, ZoneState } from './account-state.ts';

export class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  /** JSON, or the parts of a form. */
  body: unknown;
}

export type Handler = (state: PlatformState, call: Call, params: string[]) => unknown;

export const missing = (what: string): Refusal => new Refusal(404, 10007, `${what} does not exist`);

export function accountOf(state: PlatformState, id = ''): AccountState {
  const account = state.accounts.find((one) => one.id === id);
  if (account === undefined) throw new Refusal(403, 10000, 'Authentication error');
  return account;
}

export function zoneOf(state: PlatformState, id = ''): ZoneState {
  const zone = state.zones.find((one) => one.id === id);
  if (zone === undefined) throw new Refusal(404, 1001, 'Invalid zone identifier');
  return zone;
}

export function scriptOf(account: AccountState, name = ''): ScriptState {
  const script = account.scripts.get(name);
  if (script === undefined) throw missing(`The Worker ${name}`);
  return script;
}

export function queueOf(account: AccountState, id: string | undefined): QueueState {
  const queue = account.queues.find((one) => one.queue_id === id);
  if (queue === undefined) throw missing('The queue');
  return queue;
}

/** The first that matches answers. */
export type Handlers = readonly [method: string, path: RegExp, handler: Handler][];

/** Paths below an account. */
export const A = '^/accounts/([^/]+)';

/** What each part of the walk through the API gets, and what is recorded of a call. */
import type { Stack } from '../../../src/cli/stack.ts';
import type { Method, serviceApi } from '../../../src/console/api/service-api.ts';

export interface RecordedCall {
  method: Method;
  /** With its query. */
  path: string;
  /** A JSON value, the text of a form, or `undefined`. */
  request: unknown;
  status: number;
  contentType: string;
  /** A JSON value or text. */
  response: unknown;
}

export interface Guide {
  stack: Stack;
  /** With the API key. Throws unless the status is 200. */
  api: ReturnType<typeof serviceApi>;
  /** Without it. */
  send: (method: Method, path: string, body?: unknown, headers?: Record<string, string>) => Promise<RecordedCall>;
}

/**
 * A step: what the edge does with a request, as a plain value. Deciding, challenging and verifying return one. Only
 * the gate acts on it: it calls the origin for `forward` and makes a response for `answer`.
 */
import type { Answer } from '../answer/answer.ts';
import type { RequestContext } from '../decide/context.ts';
import type { Counted } from '../limits/limits.ts';

interface StepBase {
  readonly context: RequestContext;
  /** `null`: the request carried no token, nor the ticket of a wait in place of one. */
  readonly tokenVerified: boolean | null;
}

export interface Forward extends StepBase {
  readonly kind: 'forward';
  /** `null` streams the request's own body. Set where the body had to be read. */
  readonly body: Uint8Array<ArrayBuffer> | null;
  /** Limits that the origin's response may add to. */
  readonly counted?: readonly Counted[];
}

export interface Answered extends StepBase {
  readonly kind: 'answer';
  readonly answer: Answer;
}

export type Step = Forward | Answered;

export function forwardOn(
  context: RequestContext,
  tokenVerified: boolean | null = null,
  body: Uint8Array<ArrayBuffer> | null = null,
): Forward {
  return { kind: 'forward', context, tokenVerified, body };
}

export function answerWith(context: RequestContext, answer: Answer, tokenVerified: boolean | null = null): Answered {
  return { kind: 'answer', context, tokenVerified, answer };
}

/**
 * Which form an answer takes. The path's declared type and `Sec-Fetch-Dest` decide, never `Accept`, which scripts set
 * freely.
 */
import type { RequestContext } from '../decide/context.ts';
import { isNavigation } from '../request/header-facts.ts';

export type AnswerForm = 'page' | 'json' | 'text';

export function answerForm({ facts, path }: Pick<RequestContext, 'facts' | 'path'>): AnswerForm {
  if (facts.request.headers.get('upgrade')?.toLowerCase() === 'websocket') return 'text';
  if (path?.pathType === 'json') return 'json';
  return isNavigation(facts.headers) ? 'page' : 'json';
}

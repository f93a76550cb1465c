/** What decided, in words: for the console, and for sentences such as `3 by access rules`. */
import type { VerdictSource } from '../vocabulary.ts';

export const sourceWords: Record<VerdictSource, string> = {
  'access-rule': 'access rules',
  'ip-category': 'address categories',
  risk: 'risk',
  // The log has one source for both: a policy's challenge, and what a path asks of visitors without a session.
  policy: 'policies or a missing session',
  'no-session': 'a missing session',
  'bootstrap-passthrough': 'a page whose script opens a session',
  clearance: 'a challenge solved before',
  verified: 'a form with a solved challenge',
  exempt: 'a path that is never challenged',
  default: 'nothing against it',
  internal: 'the gate’s own addresses',
  error: 'the failure policy',
  preflight: 'a browser that asks before a request',
  bot: 'the bot policy',
  impostor: 'the bot policy, of impostors',
  limit: 'limits',
};

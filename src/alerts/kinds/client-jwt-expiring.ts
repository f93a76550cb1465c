/** The client JWT of an edge is about to expire: the edge then keeps its last rules and can verify nothing. */
import { neverEnds } from './kind-words.ts';
import type { KindWords } from './kind-words.ts';

export const clientJwtExpiring: KindWords = {
  title: 'A client JWT is about to expire',
  begun: (about, { jti, expiresAt }) =>
    `The client JWT ${String(jti)} of ${about} expires at ${String(expiresAt)}, and an edge still uses it. ` +
    'Generate another one, and set it as the secret of the edge.',
  ended: neverEnds,
};

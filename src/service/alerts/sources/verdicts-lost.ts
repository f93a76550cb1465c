/** Verdicts are missing that were missing at the check before: what is only late has arrived by then. */
import type { StateSource } from './source.ts';

/** An isolate that is stopped loses a second of its requests, which is no news. */
const LOST_MIN = 10;
const LOST_SHARE = 0.001;

export const verdictsLost: StateSource = {
  kind: 'verdicts-lost',
  beginsAfterMs: 0,
  endsAfterMs: 15 * 60_000,
  see({ losses }) {
    if (losses === null) return null;
    const { lost, requests } = losses;
    return lost >= LOST_MIN && lost >= requests * LOST_SHARE ? [{ subject: '', facts: { lost, requests } }] : [];
  },
};

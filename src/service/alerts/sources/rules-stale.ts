/** An edge in contact lacks a change of the rules for minutes, or the newest rules cannot be compiled or sent. */
import type { StateSource } from './source.ts';

/** With a visitor an edge takes new rules within seconds, else at its scheduled run, once a minute. */
const BEHIND_MS = 180_000;
/** An edge without contact has perhaps been taken down. It is behind until it comes back, and can take nothing. */
const IN_CONTACT_MS = 180_000;

export const rulesStale: StateSource = {
  kind: 'rules-stale',
  beginsAfterMs: 180_000,
  endsAfterMs: 0,
  see({ edges, failingSteps, nowMs }) {
    const behind = edges.filter(
      ({ behindSince, contactAt }) =>
        behindSince !== null && nowMs - behindSince > BEHIND_MS && nowMs - contactAt <= IN_CONTACT_MS,
    );
    return [
      ...behind.map(({ jti }) => ({ subject: `edge:${jti}`, facts: { edge: jti } })),
      // A damaged file is compiled again; where that fails, `compile` fails.
      ...failingSteps.filter((step) => step !== 'file').map((step) => ({ subject: `step:${step}`, facts: { step } })),
    ];
  },
};

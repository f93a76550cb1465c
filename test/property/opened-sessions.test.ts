/** Counting an address's sessions in memory gives what a scan of all of them gives. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OpenedSessions, type Opening } from '../../src/store/risk-book/object/opened-sessions.ts';

const MAX = 20;

const address = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ kind: fc.constant('open' as const), address }),
  fc.record({ kind: fc.constantFrom('touch' as const, 'remove' as const), which: fc.nat(60) }),
);

test('an address has the counts that a scan of the newest openings has', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(60), (steps, since) => {
      const counted = new OpenedSessions(MAX);
      const all: Opening[] = [];
      for (const [at, one] of steps.entries()) {
        if (one.kind === 'open') {
          const opening = { jti: `${at}`, address: one.address, openedAt: at, idle: true };
          all.push({ ...opening });
          counted.add(opening);
          continue;
        }
        const chosen = all[one.which];
        if (chosen === undefined) continue;
        counted[one.kind](chosen.jti, chosen.address);
        if (one.kind === 'touch') chosen.idle = false;
        else chosen.openedAt = -1;
      }
      const newest = all.slice(-MAX).filter(({ openedAt }) => openedAt >= since);
      for (const one of ['a', 'b', 'c', 'd', 'e', 'none']) {
        const own = newest.filter((opening) => opening.address === one);
        const idleSessions = own.filter(({ idle }) => idle).length;
        expect(counted.since(one, since)).toEqual({ idleSessions, touchedSessions: own.length - idleSessions });
      }
    }),
  );
});

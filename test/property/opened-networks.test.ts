/** Counting a network's sessions in memory gives what a scan of all of them gives. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OpenedNetworks, type Opening } from '../../src/store/risk-book/object/opened-networks.ts';

const MAX = 20;

const network = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ kind: fc.constant('open' as const), near: network, around: fc.constantFrom('x', 'y') }),
  fc.record({ kind: fc.constantFrom('touch' as const, 'remove' as const), which: fc.nat(60) }),
);

test('a network has the counts that a scan of the newest openings has', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(60), (steps, since) => {
      const counted = new OpenedNetworks(MAX);
      const all: Opening[] = [];
      for (const [at, one] of steps.entries()) {
        if (one.kind === 'open') {
          const opening = { jti: `${at}`, near: one.near, around: one.around, openedAt: at, idle: true };
          all.push({ ...opening });
          counted.add(opening);
          continue;
        }
        const chosen = all[one.which];
        if (chosen === undefined) continue;
        counted[one.kind](chosen.jti, chosen.near);
        if (one.kind === 'touch') chosen.idle = false;
        else chosen.openedAt = -1;
      }
      const newest = all.slice(-MAX).filter(({ openedAt }) => openedAt >= since);
      for (const near of ['a', 'b', 'c', 'd', 'e', 'none']) {
        for (const around of ['x', 'y']) {
          const of = (level: 'near' | 'around', name: string, idle: boolean): number =>
            newest.filter((one) => one[level] === name && one.idle === idle).length;
          expect(counted.since({ near, around }, since)).toEqual({
            idleSessions: of('near', near, true),
            touchedSessions: of('near', near, false),
            idleAround: of('around', around, true),
            touchedAround: of('around', around, false),
          });
        }
      }
    }),
  );
});

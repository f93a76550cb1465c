/** Whatever order a server reads a path in, the gate foresees the result. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { compilePathPolicy } from '../../../src/decide/path-policy.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';
import { servers } from '../../support/server-readings.ts';

const policyFor = compilePathPolicy(
  instancePolicy.parse({ pathRules: [{ pattern: '/admin/**', action: 'block' }], defaultPathType: 'html' }),
);

const PARTS = `/ // /admin/ x /.. /. .. ..; ; ;a=b \\ admin Admin %61dmin é %2f %2F %5c %2e %2e%2e %252f %252e %25252e %3b %3f
  %253f %23 %00 %u0061dmin %u002f %u002e %c0%af %c0%ae %e0%80%af %25c0%25ae %20 %zz %`;
const part = fc.constantFrom(...PARTS.split(/\s+/));
const typed = fc.array(part, { minLength: 1, maxLength: 12 }).map((parts) => `/${parts.join('')}`);

test('a path that opens a blocked page of any server is blocked', () =>
  expectRows(
    Object.entries(servers),
    ([, steps]) => {
      fc.assert(
        fc.property(typed, (path) => {
          const url = `http://site.test${path}`;
          // The origin receives the path as the runtime writes it.
          const read = steps.reduce((text, step) => step(text), new URL(url).pathname);
          if (!read.startsWith('/admin/')) return;
          expect([path, policyFor(canonicalTarget(url)!, 'GET').action]).toEqual([path, 'block']);
        }),
        { numRuns: runs(3000) },
      );
    },
    ([server]) => server,
  ));

test('paths of any length are read within a bound', () => {
  fc.assert(
    fc.property(typed, fc.integer({ min: 1, max: 400 }), (path, times) => {
      const { readings } = canonicalTarget(`http://site.test${path.repeat(times)}`)!;
      expect(readings?.length ?? 0).toBeLessThanOrEqual(128);
    }),
    { numRuns: runs(200) },
  );
});

/** The bill of a day: its arithmetic, what is proposed for what a caller leaves out, and the page that prints it. */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { billOf, totalOf } from '../../../src/cli/cost/bill.ts';
import { documentedCost } from '../../../src/cli/cost/cost.ts';
import { trafficOf, type GivenTraffic } from '../../../src/cli/cost/traffic.ts';
import { gatehouse } from '../../support/gatehouse.ts';
import { expectRows } from '../../support/rows.ts';

const total = (given: GivenTraffic): number => totalOf(billOf(trafficOf(given)));
const item = (given: GivenTraffic, name: string): number =>
  billOf(trafficOf(given)).find((one) => one.name === name)!.dollars;

test('a million requests at the edge cost 30 cents, and a written row a millionth of a dollar', () => {
  expect(item({ perDay: 1e6 }, 'edge requests')).toBeCloseTo(0.3, 10);
  const [few, many] = [10, 20].map((batch) => item({ perDay: 1e6, batch }, 'rows written: verdicts'));
  expect(few! - many!).toBeCloseTo((1e6 * (1 / 10 - 1 / 20)) / 1e6, 10);
});

test('calls of the service cost nothing over a service binding, and 30 cents a million by its URL', () => {
  const given = { perDay: 1e8, batch: 10, locations: 0, sessionsPer: 0, challengesPer: 0 };
  expect(item(given, 'service requests')).toBe(0);
  expect(item({ ...given, serviceBinding: false }, 'service requests')).toBeCloseTo(3, 10);
});

test('without sessions and challenges nothing is paid for them', () => {
  const given = { perDay: 1e8, sessionsPer: 0, challengesPer: 0, textsPer: 0 };
  for (const name of ['rows written: sessions', 'rows written: captchas', 'rows written: new values'])
    expect(item(given, name)).toBe(0);
  expect(total(given)).toBeLessThan(total({ perDay: 1e8 }));
});

test('a bill is finite and rises with the traffic, whatever is given', () => {
  const per = fc.constantFrom(0, 1, 20, 1e6);
  const given = fc.record({
    perDay: fc.integer({ min: 1, max: 1e12 }),
    sessionsPer: per,
    challengesPer: per,
    batch: fc.integer({ min: 1, max: 500 }),
    locations: fc.nat({ max: 1000 }),
    retentionDays: fc.integer({ min: 1, max: 730 }),
    serviceBinding: fc.boolean(),
  });
  fc.assert(
    fc.property(given, (traffic) => {
      const dollars = total(traffic);
      expect(Number.isFinite(dollars) && dollars > 0).toBe(true);
      expect(total({ ...traffic, perDay: traffic.perDay * 2 })).toBeGreaterThan(dollars);
    }),
  );
});

test('more traffic makes larger batches and needs more shards, up to what the gate sends and a log can have', () => {
  const proposed = [1, 1e6, 1e7, 1e8, 1e9, 1e12].map((perDay) => trafficOf({ perDay }));
  const batches = proposed.map(({ batch }) => batch);
  expect(batches).toEqual(batches.toSorted((a, b) => a - b));
  expect([batches[0], batches.at(-1)]).toEqual([1, 500]);
  const shards = proposed.map(({ shards: one }) => one);
  expect(shards).toEqual(shards.toSorted((a, b) => a - b));
  expect([shards[0], shards.at(-1)]).toEqual([1, 256]);
});

describe('cost', () => {
  const lines = async (words: string): Promise<string[]> => (await gatehouse(words.split(' '))).output.split('\n');

  test('prints each item and their sum', async () => {
    const printed = await lines('cost --per-day 1_000_000 --text');
    expect(printed[0]).toMatch(/^requests a day, N +1,000,000 +how$/);
    expect(printed).toContainEqual(expect.stringMatching(/^edge requests +0\.30 +N × 0\.30\/M$/));
    expect(printed).toContainEqual(expect.stringMatching(/^together, \$ a day +\d+\.\d\d$/));
  });

  test('takes numbers for everything that it proposes, and prints JSON for programs', async () => {
    const words =
      'cost --per-day 1e9 --sessions-per 10 --challenges-per 0 --batch 30 --locations 200 --retention-days 7 --shards 64 --no-service-binding --json';
    const { traffic, dollarsPerDay, items } = JSON.parse((await lines(words)).join('\n')) as {
      traffic: object;
      dollarsPerDay: number;
      items: { name: string; dollars: number }[];
    };
    expect(traffic).toEqual({
      perDay: 1e9,
      sessionsPer: 10,
      challengesPer: 0,
      textsPer: 200,
      batch: 30,
      locations: 200,
      retentionDays: 7,
      shards: 64,
      serviceBinding: false,
    });
    expect(items.reduce((sum, { dollars }) => sum + dollars, 0)).toBeCloseTo(dollarsPerDay, 6);
  });

  test('fails with a message for each mistake', () =>
    expectRows(
      [
        ['cost', 'Missing: --per-day.'],
        ['cost --per-day many', '--per-day is many. Use a number from 1 to 1,000,000,000,000.'],
        ['cost --per-day 0', '--per-day is 0. Use a number from 1 to 1,000,000,000,000.'],
        ['cost --per-day=-5', '--per-day is -5. Use a number from 1 to 1,000,000,000,000.'],
        ['cost --per-day 1e13', '--per-day is 1e13. Use a number from 1 to 1,000,000,000,000.'],
        ['cost --per-day 1e6 --batch 501', '--batch is 501. Use a number from 1 to 500.'],
        ['cost --per-day 1e6 --shards 0', '--shards is 0. Use a number from 1 to 256.'],
        [
          'cost --per-day 1e6 --service-binding --no-service-binding',
          'Use --service-binding or --no-service-binding, not both.',
        ],
        ['cost --per-day 1e6 cheap', 'Unexpected: cheap.'],
      ],
      async ([words, message]) => {
        expect(await gatehouse(words.split(' '))).toMatchObject({
          exitCode: 1,
          errors: expect.stringContaining(message),
        });
      },
    ));
});

test('the page for operators has the table that the command computes', () => {
  const page = readFileSync('docs/operations.md', 'utf8');
  const printed = page.slice(page.indexOf('<!-- cost table -->'), page.indexOf('<!-- end of the cost table -->'));
  const cells = [...printed.matchAll(/^\|(.*)\|$/gm)].map(([, line = '']) =>
    line.split('|').map((cell) => cell.trim()),
  );
  const { head, rows } = documentedCost();
  // The second line of a table only draws it. After a change: npm run fix.
  expect(cells.filter((_, at) => at !== 1)).toEqual([head, ...rows]);
});

/** docs/risk.md tells every detector with the weight that it has. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { detectors } from '../../../src/risk/detectors.ts';

test('the documented table is the table', () => {
  const rows = [...readFileSync('docs/risk.md', 'utf8').matchAll(/^\| `([a-z-]+)`\s*\| ([\d.]+)\s*\| (.+?)\s*\|$/gm)];
  expect(rows.map(([, name, weight, why]) => ({ name, weight: Number(weight), why }))).toEqual(
    detectors.map(({ name, weight, why }) => ({ name, weight, why })),
  );
});

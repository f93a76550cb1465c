import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  besideDifficulty,
  INSTEAD_OF_PICTURES_DIFFICULTY,
  levelPrices,
  POW_DIFFICULTY_MAX,
} from '../../../src/captcha/plan/level-prices.ts';
import { levelOf, squaringsOf } from '../../../src/captcha/pow/rsw-key.ts';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { expectRows } from '../../support/rows.ts';

const squarings = (powDifficulty: number): number => squaringsOf(levelOf(powDifficulty));

test('the work before and beside a picture costs at least the price of level 2, and not a third more', () =>
  expectRows([1, 2.5, 4, 5, 6, 7.5], (powDifficulty) => {
    const works = 1 + squarings(besideDifficulty(powDifficulty)) / squarings(powDifficulty);
    expect(works).toBeGreaterThanOrEqual(levelPrices[2]);
    expect(works).toBeLessThan((levelPrices[2] * 4) / 3);
  }));

test('no work beside a picture is above the highest difficulty', () => {
  expect(besideDifficulty(POW_DIFFICULTY_MAX)).toBe(POW_DIFFICULTY_MAX);
});

test('the work that stands for a picture costs as much', () => {
  const instead = squarings(4 + INSTEAD_OF_PICTURES_DIFFICULTY) / squarings(4);
  expect(instead).toBeCloseTo(levelPrices[2]);
});

test('the documentation has the price of each level at the default difficulty', () => {
  const { powDifficulty } = siteSettings.parse({ domains: ['example.com'] });
  const page = readFileSync('docs/verification.md', 'utf8');
  for (const [level, price] of levelPrices.entries()) {
    const atLeast = (price * squarings(powDifficulty)).toLocaleString('en');
    expect(page).toMatch(new RegExp(`\\| ${level} \\|[^|]*\\| ${atLeast} \\|`));
  }
});

/** Challenge difficulty by risk score: the highest row that the score reaches counts, and it only makes a challenge harder. */
import { describe, expect, test } from 'vitest';
import { difficultyAt } from '../../../src/captcha/plan/demand.ts';
import { chooseChallenge } from '../../../src/captcha/plan/choose-challenge.ts';
import { instancePolicy, type ChallengeDifficultyRow } from '../../../src/contract/management/instance-policy.ts';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { expectRows } from '../../support/rows.ts';

const rows = [
  { minScore: 0.7, captchaType: 'puzzle' as const },
  { minScore: 0.3, powDifficulty: 6 },
];

describe('difficulty', () => {
  test('is the row with the highest score that is reached', () =>
    expectRows(
      [
        [0, null],
        [0.29, null],
        [0.3, rows[1]],
        [0.69, rows[1]],
        [0.7, rows[0]],
        [1, rows[0]],
      ],
      ([score, row]) => {
        expect(difficultyAt(rows, score)).toEqual(row);
      },
    ));

  test('starts by default at the default challenge threshold', () => {
    const { challengeDifficulty, challengeThreshold } = instancePolicy.parse({});
    expect(difficultyAt(challengeDifficulty, challengeThreshold - 0.01)).toBeNull();
    expect(difficultyAt(challengeDifficulty, challengeThreshold)).toMatchObject({ powDifficulty: 5 });
    expect(difficultyAt(challengeDifficulty, 1)).toMatchObject({ captchaType: 'puzzle' });
  });
});

describe('a challenge', () => {
  const plan = (captchaType: 'pow' | 'image', row: Omit<ChallengeDifficultyRow, 'minScore'> | null) =>
    chooseChallenge({
      settings: siteSettings.parse({ domains: ['example.com'], captchaType, powDifficulty: 5 }),
      score: 0,
      webView: false,
      traits: { categories: null, network: null, abuseScore: null },
      demand: null,
      instance: {
        policy: instancePolicy.parse({ challengeDifficulty: row === null ? [] : [{ minScore: 0, ...row }] }),
        risk: 0,
      },
      capabilities: { bigint: true, worker: true, script: true, audio: false },
    });

  test('becomes harder and never easier', () => {
    expect(plan('pow', null)).toMatchObject({ kind: 'pow', powDifficulty: 5 });
    expect(plan('pow', { powDifficulty: 8 })).toMatchObject({ kind: 'pow', powDifficulty: 8 });
    expect(plan('pow', { powDifficulty: 2 })).toMatchObject({ kind: 'pow', powDifficulty: 5 });
    expect(plan('pow', { captchaType: 'puzzle' })).toMatchObject({ kind: 'puzzle' });
    expect(plan('image', { captchaType: 'puzzle' })).toMatchObject({ kind: 'image' });
    expect(plan('image', { captchaType: 'pow' })).toMatchObject({ kind: 'image' });
  });
});

/**
 * A test that sleeps, that reads the clock of the machine, or that has a time limit of its own, fails on a slow machine or
 * at another hour. Tests take the time from `test/support/clock.ts` and wait with `eventually`, and all waits have one
 * limit. A line of a page's own script is held to the same rule.
 */
import { globSync, readFileSync } from 'node:fs';

const CLOCK = 'test/support/clock.ts';
const EVENTUALLY = 'test/support/eventually.ts';
const LIMIT_ADVICE = `leave out the limit: all waits have the one of ${EVENTUALLY}, and all tests that of vitest.config.ts`;

/** What is refused, what to write, and the files that may use it. */
const rules: { pattern: RegExp; advice: string; allowed: Record<string, string> }[] = [
  {
    pattern: /\bDate\.now\b|\bnew Date\(\)/,
    advice: `take the time from ${CLOCK}`,
    allowed: { [CLOCK]: 'the clock itself' },
  },
  {
    pattern: /\bperformance\.now\b/,
    advice: `take the time from ${CLOCK}`,
    allowed: {
      [EVENTUALLY]: 'the limit of a wait',
      'test/attacks/hopping-networks.test.ts': 'measures the pace of the attack, which the bound depends on',
      'test/browser/widget-protect.test.ts': 'compares with times that the page measures',
    },
  },
  {
    pattern: /\bsetTimeout\(|\bwaitForTimeout\(|\bscheduler\.wait\(|node:timers\/promises/,
    advice: `wait for a condition with ${EVENTUALLY}`,
    allowed: {
      [EVENTUALLY]: 'the only wait that asks again',
      'test/support/shared-work-worker.ts': 'a request that takes longer than another one waits for it',
      'test/support/hostile-service.ts': 'a service that is slow or hangs up, as an attack',
      'test/support/platform/operator.ts': 'the pause of a deployment, which tests make short',
      'test/e2e/spend-crash.test.ts': 'a connection that breaks after a while',
      'test/workerd/limit-ledger.test.ts': 'the pause of the code under test',
      'test/browser/session-opening.test.ts': 'a navigation in the next task of the page',
      'test/browser/pages-stack.test.ts': 'a submission in the next task of the page',
      'test/browser/compat-turnstile.test.ts': 'the next task of the page',
      'test/attacks/pictures-by-program.test.ts': 'the pace of a person, which the service measures',
    },
  },
  {
    pattern:
      /(?<!['"])\b(?:timeout|testTimeout|hookTimeout)\b['"]?:|\bsetDefault\w*Timeout\(|\bvi\.(?:waitFor|waitUntil|setConfig)\(/,
    advice: LIMIT_ADVICE,
    allowed: {
      'test/support/visitor.ts': 'the limit of every wait in a browser',
      'test/support/console.ts': 'the limit of every wait in a browser',
      'test/promises/in-a-browser.test.ts': 'the limit of every wait in a browser',
      'test/mutation/vitest.config.ts': 'the limits of the tests in a mutation run',
    },
  },
];

/** A test or a hook that ends with a number of milliseconds, in the two ways in which the formatter writes it. */
const OWN_LIMIT =
  /^( *)(?:test|it|describe|(?:before|after)(?:All|Each))\b.*\n(?:(?:\1 .*)?\n)*(?:\1\}, (?!\{)[^\n]*\);|\1 {2}(?:[A-Z][A-Z_]*|[\d_]+),\n\1\);)$/gm;

/** The problems of a file of `test/`, each with its line. */
export function timeProblems(path: string, text: string): string[] {
  const lines = text.split('\n');
  const refused = lines.flatMap((line, index) =>
    /^\s*(?:\/?\*|\/\/)/.test(line)
      ? []
      : rules
          .filter(({ pattern, allowed }) => !(path in allowed) && pattern.test(line))
          .map(({ pattern, advice }) => `${path}:${index + 1}: ${pattern.exec(line)![0]}: ${advice}`),
  );
  const limits = [...text.matchAll(OWN_LIMIT)].map((match) => {
    const { length } = text.slice(0, match.index + match[0].length).split('\n');
    return `${path}:${length}: ${LIMIT_ADVICE}`;
  });
  return [...refused, ...limits];
}

export async function checkTestTime(): Promise<string[]> {
  return globSync('test/**/*.{ts,tsx}', { exclude: ['**/node_modules/**'] }).flatMap((path) =>
    timeProblems(path, readFileSync(path, 'utf8')),
  );
}

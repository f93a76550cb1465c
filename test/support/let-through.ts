/**
 * How a test's stack differs from a newcomer's. The browsers of tests are driven and the other clients are written in
 * Node, as the detectors rightly say, so the instance ignores those detectors. They come from one address, so the budget
 * of pages without a session is large, and no session has a pace. Proof of work is the smallest. Everything else is the product's default.
 */
import type { SeedChanges } from '../../src/cli/seed.ts';
import { riskDetectors } from '../../src/contract/edge/risk-detectors.ts';

/** Still counted: what a visitor's network is, how it changes, and what they claim. */
const COUNTED = /^(?:category-|address-|cookie-|user-agent-change$|burst$|implausible-)/;

/** A test sends more in a second than a person in an hour. */
const UNMETERED = { html: 0, json: 0 };

export const letThrough: Required<SeedChanges> = {
  policy: {
    ignoredDetectors: riskDetectors.filter((name) => !COUNTED.test(name)),
    pendingBudget: 100_000,
    pace: UNMETERED,
  },
  // A headless browser that asks a `frictionless` site gets a picture. Proof of work is what it can solve.
  settings: { captchaType: 'pow', powDifficulty: 1 },
};

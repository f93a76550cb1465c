/**
 * Test keys: fixed results for a site's own tests, offline and unbilled. They are public, so anyone may send them.
 * Responses made by them carry `test: true`, a token made with one is worth nothing under a real secret, and the edge
 * refuses to start with one unless it is configured to.
 */

/**
 * What `/siteverify` returns for a test secret, whatever the token. `interactive` makes the widget show an image
 * challenge; `slow` responds after three seconds.
 */
export const testBehaviours = ['pass', 'fail', 'interactive', 'expired', 'spent', 'slow', 'score'] as const;
export type TestBehaviour = (typeof testBehaviours)[number];

const SITE_KEY_PREFIX = 'test-site-key-';
const SECRET_PREFIX = 'test-secret-key-';

export const testSiteKey = (behaviour: TestBehaviour): string => SITE_KEY_PREFIX + behaviour;
export const testSecretKey = (behaviour: TestBehaviour): string => SECRET_PREFIX + behaviour;

export function behaviourOfSiteKey(siteKey: string): TestBehaviour | null {
  return testBehaviours.find((behaviour) => siteKey === testSiteKey(behaviour)) ?? null;
}

export function behaviourOfSecret(secret: string): TestBehaviour | null {
  return testBehaviours.find((behaviour) => secret === testSecretKey(behaviour)) ?? null;
}

/** The table of detectors: complete, explained where the two scores differ, and stable on the wire. */
import { describe, expect, test } from 'vitest';
import { DETECTOR_SET_MAX, riskDetectors } from '../../../src/contract/edge/risk-detectors.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { detectorNames, detectors, type Detector } from '../../../src/risk/detectors.ts';

const rows = detectorNames.map((name) => ({ name, ...(detectors[name] as Detector) }));

describe('the table of detectors', () => {
  test('has a session weight for the names on the wire and for no others', () => {
    const withSessionWeight = rows.filter(({ weights }) => weights.session !== null).map(({ name }) => name);
    expect(withSessionWeight.toSorted()).toEqual([...riskDetectors].toSorted());
  });

  test('gives a reason exactly where the two scores differ', () => {
    const differing = rows.filter(({ weights }) => weights.session !== weights.captcha).map(({ name }) => name);
    expect(rows.filter(({ reason }) => reason !== undefined).map(({ name }) => name)).toEqual(differing);
  });

  test('has no session weight that blocks alone', () => {
    const { blockThreshold } = instancePolicy.parse({});
    for (const { name, weights } of rows) expect(weights.session ?? 0, name).toBeLessThan(blockThreshold);
  });
});

test('names keep their place on the wire, and at most 53 fit', () => {
  expect(riskDetectors.slice(0, 30).join(' ')).toBe(
    'no-user-agent automation-user-agent headless-user-agent no-accept-language no-fetch-metadata ' +
      'contradictory-fetch-metadata no-client-hints contradictory-client-hints webdriver automation-global ' +
      'patched-browser headless-traits cdp-traits untrusted-events no-interaction pointer-without-path ' +
      'telemetry-absent implausible-telemetry cookie-cycling address-change address-hopping user-agent-change burst ' +
      'category-tor category-abuser category-proxy category-vpn category-datacenter category-crawler machine-typing',
  );
  expect(riskDetectors.length).toBeLessThanOrEqual(DETECTOR_SET_MAX);
});

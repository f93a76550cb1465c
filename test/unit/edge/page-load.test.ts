/** The nonce of a page load: who gets one, whose it is, and for how long. */
import { describe, expect, test } from 'vitest';
import { riskDetectors } from '../../../src/contract/edge/risk-detectors.ts';
import { sessionStatuses } from '../../../src/contract/vocabulary.ts';
import { pageLoadNonce, readPageLoad } from '../../../src/edge/session/page-load.ts';
import { newEventId } from '../../../src/logsink/event-id.ts';
import { expectRows } from '../../support/rows.ts';
import { configOf, edgeConfigOf, NOW_MS, signalsOf } from './edge-fixture.ts';

const HOUR_MS = 3_600_000;
const requestId = newEventId(NOW_MS);
const signals = signalsOf();
const config = await configOf();
const nonce = pageLoadNonce({ requestId, signals }, config, 'none');
const read = (text: unknown, nowMs = NOW_MS, of = config) => readPageLoad(text, { signals, nowMs }, of);

describe('a page', () => {
  test('of a visitor without a session has a nonce', () => {
    const given = sessionStatuses.filter((status) => pageLoadNonce({ requestId, signals }, config, status) !== '');
    expect(given).toEqual(['none', 'no-session', 'invalid-session', 'session-not-found', 'waived']);
  });

  test('has none where the service is older', async () => {
    const older = await configOf({}, { detectors: riskDetectors.filter((name) => name !== 'no-page-load') });
    expect(older.knowsPageLoads).toBe(false);
    expect(pageLoadNonce({ requestId, signals }, older, 'none')).toBe('');
  });
});

describe('a nonce', () => {
  test('names the request of the page', () => {
    expect(read(nonce)).toBe(requestId);
  });

  test('holds for the network and the user agent that the page was handed to', () =>
    expectRows<[object, string | null]>(
      [
        [{ ip: '192.0.2.77' }, requestId],
        [{ ip: '192.0.3.1' }, null],
        [{ ip: '2001:db8::1' }, null],
        [{ ip: null }, null],
        [{ userAgent: 'Mozilla/5.0 (another)' }, null],
      ],
      ([changes, expected]) => {
        expect(readPageLoad(nonce, { signals: signalsOf(changes), nowMs: NOW_MS }, config)).toBe(expected);
      },
    ));

  test('holds for a day', () => {
    const found = [-HOUR_MS, 0, HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS + 1].map((ms) => read(nonce, NOW_MS + ms));
    expect(found).toEqual([null, requestId, requestId, requestId, null]);
  });

  test('survives a change of the keys', async () => {
    const { current, previous } = edgeConfigOf().keys;
    const later = await configOf({}, { keys: { current: { ...previous!, kid: 'k3' }, previous: current } });
    expect(read(nonce, NOW_MS, later)).toBe(requestId);
    expect(read(nonce, NOW_MS, await configOf({}, { keys: { current: previous!, previous: null } }))).toBeNull();
  });

  test('that is none is read as none', () =>
    expectRows([undefined, null, '', 1, {}, [nonce], '.', requestId, `${nonce}A`, nonce.toUpperCase()], (text) => {
      expect(read(text)).toBeNull();
    }));
});

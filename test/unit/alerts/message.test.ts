/** What a channel gets: signed webhooks that the libraries of the standard accept, and text for Slack and Discord. */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { type Alert, alertId } from '../../../src/alerts/alert.ts';
import { kindWords, summaryOf, titleOf } from '../../../src/alerts/kind-words.ts';
import { messageFor, newWebhookSecret } from '../../../src/alerts/message.ts';
import { sentKinds } from '../../../src/contract/management/alerts.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

const alert: Alert = {
  id: 'evt_0123456789abcdef0123456789abcdef',
  accountId: 'acc_1',
  instanceId: 'inst_1',
  kind: 'origin-failing',
  phase: 'begins',
  subject: '',
  at: Date.UTC(2026, 10, 23, 8),
  summary: 'The origin of <Shop> & *friends* @everyone failed. Žluťoučký 🐎',
  facts: { failed: 20, requests: 40, share: 0.5 },
};

describe('a webhook', () => {
  test('is one that a library of Standard Webhooks verifies, and names the event', () => {
    const secret = newWebhookSecret();
    const { headers, body } = messageFor('webhook', alert, [secret], testNow());
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: 'origin-failing.begins',
      timestamp: '2026-11-23T08:00:00.000Z',
      data: expect.objectContaining({
        id: alert.id,
        kind: 'origin-failing',
        summary: alert.summary,
        facts: alert.facts,
      }),
    });
    expect(headers['webhook-id']).toBe(alert.id);
  });

  test('has the HMAC-SHA256 of its id, time and body, keyed with the bytes of the secret', () => {
    const secret = newWebhookSecret();
    const { headers, body } = messageFor('webhook', alert, [secret], 1_795_000_000_999);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(`${alert.id}.1795000000.${body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(headers['webhook-timestamp']).toBe('1795000000');
  });

  test('does not verify with another secret, another body or another id', () => {
    const secret = newWebhookSecret();
    const { headers, body } = messageFor('webhook', alert, [secret], testNow());
    const verify =
      (by: string, text: string, more = {}) =>
      () =>
        new Webhook(by).verify(text, { ...headers, ...more });
    expect(verify(newWebhookSecret(), body)).toThrow('No matching signature');
    expect(verify(secret, `${body} `)).toThrow('No matching signature');
    expect(verify(secret, body, { 'webhook-id': 'evt_other' })).toThrow('No matching signature');
  });

  test('verifies with the new and with the former secret while both are valid', () => {
    const [newer, former] = [newWebhookSecret(), newWebhookSecret()];
    const { headers, body } = messageFor('webhook', alert, [newer, former], testNow());
    for (const secret of [newer, former]) expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
  });
});

test('text for Slack calls nobody and opens no link', async () => {
  const { body } = messageFor('slack', alert, [], 0);
  const { text } = JSON.parse(body) as { text: string };
  expect(text).toContain('The origin of &lt;Shop&gt; &amp;');
  expect(text).toContain(alert.id);
});

test('text for Discord has no markup of its own, calls nobody, and is within 2,000 characters', async () => {
  const { body } = messageFor('discord', { ...alert, summary: `${alert.summary}${'_'.repeat(5000)}` }, [], 0);
  const message = JSON.parse(body) as { content: string; allowed_mentions: object };
  expect(message.allowed_mentions).toEqual({ parse: [] });
  expect(message.content).toContain(String.raw`\*friends\* \@everyone`);
  expect(message.content.length).toBeLessThanOrEqual(2000);
});

test('each kind has a title and a sentence for what began', () =>
  expectRows(sentKinds, (kind) => {
    expect(titleOf({ kind, phase: 'begins' })).toBe(kindWords[kind].title);
    expect(summaryOf({ kind, phase: 'begins', facts: {} }, 'Shop')).toMatch(/^[A-Z].*\.$/);
  }));

test('an id is the same for the same occasion, and another for any other', async () => {
  const identity = { ...alert, moment: 5 };
  const id = await alertId(identity);
  expect(id).toMatch(/^evt_[0-9a-f]{32}$/);
  expect(await alertId({ ...identity })).toBe(id);
  const others = [
    { accountId: 'acc_2' },
    { instanceId: null },
    { kind: 'rules-stale' as const },
    { phase: 'ends' as const },
    { subject: 'x' },
    { moment: 6 },
  ];
  const ids = await Promise.all(others.map((change) => alertId({ ...identity, ...change })));
  expect(new Set([id, ...ids]).size).toBe(others.length + 1);
});

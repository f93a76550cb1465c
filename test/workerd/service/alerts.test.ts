/** Alert channels through the management API: what is refused, what is shown once, and what a test sends. */
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { ALERT_CHANNELS_MAX } from '../../../src/contract/management/alerts.ts';
import { type Hooks, hooks } from '../../support/hooks.ts';
import { expectRows } from '../../support/rows.ts';
import { call, newAccount, serviceEnv, type TestAccount } from './service-under-test.ts';

const CREATE = '/alerts/channels/create';
const given = { name: 'On call', shape: 'webhook', webhookUrl: 'https://hooks.example/very-secret' };

let tenant: TestAccount;
let network: Hooks;
const ask = (path: string, body: object = {}) => call(tenant.token, path, body);

async function startAnew(): Promise<void> {
  tenant = await newAccount();
  network = hooks();
}
beforeEach(startAnew);

describe('a channel', () => {
  test('shows its secret once, and its address never', async () => {
    const { body } = await ask(CREATE, given);
    expect(body.secret).toMatch(/^whsec_/);
    const listed = await ask('/alerts/channels');
    expect(listed.body.channels).toEqual([body.channel]);
    expect(body.channel).toMatchObject({ host: 'hooks.example', kinds: [], quietHours: null, enabled: true });
    const { entries } = (await ask('/audit-trail/get', { limit: 1 })).body;
    const rows = await serviceEnv.DB.prepare('SELECT * FROM alert_channels WHERE id = ?').bind(body.channel.id).first();
    for (const shown of [listed.body, entries, rows]) {
      expect(JSON.stringify(shown)).not.toContain('very-secret');
      expect(JSON.stringify(shown)).not.toContain(body.secret);
    }
    expect(entries[0]).toMatchObject({ operation: 'create-alert-channel', body: { webhookUrl: '[redacted]' } });
  });

  test('of Slack or Discord has no secret of its own, and none to rotate', async () => {
    const { body } = await ask(CREATE, { ...given, shape: 'slack' });
    expect(body.secret).toBeNull();
    expect((await ask('/alerts/channels/rotate-secret', { channelId: body.channel.id })).status).toBe(404);
  });

  test('signs with the former secret too for a day after it was rotated', async () => {
    const { body } = await ask(CREATE, given);
    const channelId = body.channel.id;
    const rotated = (await ask('/alerts/channels/rotate-secret', { channelId })).body;
    await ask('/alerts/channels/test', { channelId });
    const { headers, body: text } = network.received[0]!;
    for (const secret of [body.secret, rotated.secret]) {
      expect(new Webhook(secret).verify(text, Object.fromEntries(headers))).toMatchObject({ type: 'test' });
    }
    const { channels } = (await ask('/alerts/channels')).body;
    expect(channels[0].formerSecretUntil).toBe(rotated.formerSecretUntil);
    await serviceEnv.DB.prepare('UPDATE alert_channels SET former_secret_until = 1 WHERE id = ?').bind(channelId).run();
    await ask('/alerts/channels/test', { channelId });
    const later = network.received[1]!;
    const verify = (secret: string) => () => new Webhook(secret).verify(later.body, Object.fromEntries(later.headers));
    expect(verify(rotated.secret)).not.toThrow();
    expect(verify(body.secret)).toThrow('No matching signature');
  });

  test('is changed field by field, and belongs to its account', async () => {
    const { channel } = (await ask(CREATE, given)).body;
    const quietHours = { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin', except: ['origin-failing'] };
    const change = { channelId: channel.id, kinds: ['origin-failing'], quietHours, enabled: false };
    const changed = (await ask('/alerts/channels/update', change)).body;
    expect(changed).toEqual({
      ...channel,
      kinds: ['origin-failing'],
      quietHours,
      enabled: false,
      updatedAt: changed.updatedAt,
    });
    const moved = { channelId: channel.id, webhookUrl: 'https://other.example/x', quietHours: null };
    expect((await ask('/alerts/channels/update', moved)).body).toMatchObject({
      host: 'other.example',
      quietHours: null,
    });
    const other = await newAccount();
    for (const path of ['update', 'delete', 'rotate-secret', 'test']) {
      const { status } = await call(other.token, `/alerts/channels/${path}`, { channelId: channel.id });
      expect([path, status]).toEqual([path, 404]);
    }
    expect((await ask('/alerts/channels/delete', { channelId: channel.id })).body.success).toBe(true);
    expect((await ask('/alerts/channels')).body.channels).toEqual([]);
  });

  test('does not send to anything but a public https address', () =>
    expectRows(
      [
        'http://hooks.example/',
        'https://hooks.example:8443/',
        'https://user:word@hooks.example/',
        'https://localhost/',
        'https://127.0.0.1/',
        'https://2130706433/',
        'https://[::1]/',
        'hooks.example',
        `https://hooks.example/${'a'.repeat(3000)}`,
      ],
      async (webhookUrl) => {
        const { status, body } = await ask(CREATE, { ...given, webhookUrl });
        expect([status, body.error.details?.[0]?.path]).toEqual([400, 'webhookUrl']);
      },
    ));

  test('with a mistake is refused by its path', () =>
    expectRows(
      [
        [{ quietHours: { from: '22:00', until: '07:00', timeZone: 'Mars/Olympus' } }, 'quietHours.timeZone'],
        [{ quietHours: { from: '22:00', until: '22:00', timeZone: 'UTC' } }, 'quietHours.until'],
        [{ kinds: ['test'] }, 'kinds.0'],
        [{ shape: 'email' }, 'shape'],
        [{ name: '  ' }, 'name'],
      ],
      async ([change, path]) => {
        const { status, body } = await ask(CREATE, { ...given, ...change });
        expect([status, body.error.details?.map((one: { path: string }) => one.path)]).toEqual([400, [path]]);
        expect((await ask('/alerts/channels')).body.channels).toEqual([]);
      },
    ));

  test(`beyond the bound of ${ALERT_CHANNELS_MAX} is refused`, async () => {
    const made = await Promise.all(Array.from({ length: ALERT_CHANNELS_MAX + 2 }, () => ask(CREATE, given)));
    expect(made.filter(({ status }) => status === 200)).toHaveLength(ALERT_CHANNELS_MAX);
    expect(made.filter(({ status }) => status === 413)).toHaveLength(2);
  });
});

describe('a test', () => {
  test('is sent at once, and listed with what came of it', async () => {
    const { channel, secret } = (await ask(CREATE, given)).body;
    const sent = await ask('/alerts/channels/test', { channelId: channel.id });
    expect(sent.body).toEqual({ alertId: expect.stringMatching(/^evt_/) as string, delivered: true, error: null });
    const { url, headers, body } = network.received[0]!;
    expect(url).toBe(given.webhookUrl);
    expect(headers.get('webhook-id')).toBe(sent.body.alertId);
    expect(new Webhook(secret).verify(body, Object.fromEntries(headers))).toMatchObject({ type: 'test' });
    expect((await ask('/alerts/list', { kind: 'test' })).body.alerts).toMatchObject([
      {
        id: sent.body.alertId,
        phase: 'once',
        deliveries: [{ channelId: channel.id, channelName: 'On call', state: 'sent', attempts: 1, error: null }],
      },
    ]);
  });

  test('that is not accepted says why, and is not repeated', () =>
    expectRows<[string, Partial<Hooks>, string]>(
      [
        ['a status', { answer: () => new Response(null, { status: 404 }) }, 'Status 404'],
        [
          'a redirect',
          { answer: () => new Response(null, { status: 307, headers: { location: 'https://169.254.169.254/' } }) },
          'Redirect 307, which is not followed',
        ],
        [
          'no connection',
          {
            answer: () => {
              throw new TypeError('refused');
            },
          },
          'No connection',
        ],
        ['a private address', { addresses: () => ['8.8.8.8', '10.0.0.1'] }, 'The host is in a private network'],
        ['an unknown name', { addresses: () => [] }, 'The host has no address'],
      ],
      async ([, behaviour, error]) => {
        await startAnew();
        Object.assign(network, behaviour);
        const { channel } = (await ask(CREATE, given)).body;
        const { body } = await ask('/alerts/channels/test', { channelId: channel.id });
        expect(body).toMatchObject({ delivered: false, error });
        const { alerts } = (await ask('/alerts/list')).body;
        expect(alerts).toMatchObject([{ deliveries: [{ state: 'given-up', error, dueAt: null }] }]);
        expect(network.received.length).toBeLessThanOrEqual(1);
      },
    ));

  test('to a channel that is switched off is refused', async () => {
    const { channel } = (await ask(CREATE, { ...given, enabled: false })).body;
    expect((await ask('/alerts/channels/test', { channelId: channel.id })).status).toBe(409);
    expect(network.received).toEqual([]);
  });

  test('is refused after twenty in a minute', async () => {
    const { channel } = (await ask(CREATE, given)).body;
    const statuses = new Set<number>();
    for (let count = 0; count < 41; count++) {
      statuses.add((await ask('/alerts/channels/test', { channelId: channel.id })).status);
    }
    expect(statuses).toEqual(new Set([200, 429]));
  });
});

test('the list of alerts has pages, without a gap and without a repetition', async () => {
  const { channel } = (await ask(CREATE, given)).body;
  const sent: string[] = [];
  for (let count = 0; count < 5; count++) {
    sent.push((await ask('/alerts/channels/test', { channelId: channel.id })).body.alertId);
  }
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await ask('/alerts/list', { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...body.alerts.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen.toSorted()).toEqual(sent.toSorted());
  expect((await ask('/alerts/list', { cursor: 'nonsense' })).status).toBe(400);
  expect((await ask('/alerts/list', { siteKey: 'no-such-site' })).status).toBe(404);
});

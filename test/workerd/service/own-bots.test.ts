/** The bots that accounts add, through the management API: what is listed, what is refused, and which tables are kept. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type BotTable, openBotTable } from '../../../src/bots/open-bot-table.ts';
import { ok } from '../../../src/result.ts';
import { openSignedRuleset } from '../../../src/rules/signing.ts';
import { buildBotTables } from '../../../src/service/bots/build-bot-table.ts';
import { updateAccount } from '../../../src/store/d1/accounts.ts';
import { botTableFormats } from '../../../src/contract/edge/formats.ts';
import { COMMON_SCOPE, botTableKey, botTables, currentBotTable } from '../../../src/store/d1/bot-tables.ts';
import { signingKey } from '../../../src/store/keys/signing-keys.ts';
import { call, newAccount, serviceEnv, type TestAccount } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

const own = {
  id: 'ourbot',
  behaviours: ['monitor'],
  patterns: ['OurBot/'],
  tokens: ['OurBot'],
  networks: ['20.9.9.0/24'],
  isComplete: true,
};
const ADD = '/protect/bots/own/add';
const REMOVE = '/protect/bots/own/remove';

let tenant: TestAccount;
let instanceId: string;
const ask = (path: string, body: object = {}) => call(tenant.token, path, body);
const idsOf = async (filter: object) =>
  (await ask('/protect/bots', { limit: 1000, ...filter })).body.bots.map((bot: { id: string }) => bot.id);

/** The files that are kept for the account. */
async function kept(): Promise<string[]> {
  const { objects } = await serviceEnv.RULESETS.list({ prefix: `bots/${tenant.account.id}/` });
  return objects.map(({ key }) => key);
}
/** The table that edges of the account load. */
async function table(): Promise<BotTable> {
  const hash = await currentBotTable(serviceEnv, tenant.account.id, botTableFormats);
  const scope = (await botTables(serviceEnv, tenant.account.id)).length === 0 ? COMMON_SCOPE : tenant.account.id;
  const file = await serviceEnv.RULESETS.get(botTableKey(scope, hash ?? ''));
  const { kid, publicKey: key } = await signingKey(serviceEnv, 'ruleset', testNow());
  const signed = await openSignedRuleset(new Uint8Array(await file!.arrayBuffer()), new Map([[kid, key]]));
  const opened = signed.ok ? openBotTable(signed.value.payload) : signed;
  expect(opened).toEqual(ok(expect.anything()));
  return (opened as { value: BotTable }).value;
}

beforeEach(async () => {
  tenant = await newAccount();
  const { siteKey } = tenant.site;
  const made = await ask('/protect/instances/create', { name: 'Shop', cname: 'shop.example', globalSiteKey: siteKey });
  instanceId = made.body.id;
  await buildBotTables(serviceEnv, testNow());
});

describe('the list of bots', () => {
  test('has the catalogue by pages, each bot once', async () => {
    const { body } = await ask('/protect/bots');
    expect([body.page, body.bots.length, body.pages]).toEqual([1, 100, Math.ceil(body.botCount / 100)]);
    expect(body.botCount).toBeGreaterThan(700);
    const seen = new Set<string>();
    for (let page = 1; page <= body.pages; page++) {
      for (const { id } of (await ask('/protect/bots', { page })).body.bots) seen.add(id);
    }
    expect(seen.size).toBe(body.botCount);
    expect((await ask('/protect/bots', { page: body.pages + 1 })).body.bots).toEqual([]);
  });

  test('is found by text, behaviour, proof and owner', async () => {
    await ask(ADD, own);
    expect(await idsOf({ search: 'BINGBOT' })).toContain('bingbot');
    expect(await idsOf({ search: 'OpenAI', behaviour: 'training' })).toContain('gptbot');
    expect(await idsOf({ search: 'ourbot/' })).toEqual(['ourbot']);
    expect(await idsOf({ isOwn: true })).toEqual(['ourbot']);
    expect(await idsOf({ proof: 'range', behaviour: 'monitor' })).toContain('ourbot');
    expect(await idsOf({ proof: 'signature' })).toContain('google-agent');
    expect(await idsOf({ proof: 'dns', isOwn: true })).toEqual([]);
    expect(await idsOf({ search: 'no such bot' })).toEqual([]);
  });

  test('says of each bot what proves it', async () => {
    const { body } = await ask('/protect/bots/get', { id: 'bingbot' });
    expect(body).toMatchObject({
      id: 'bingbot',
      patterns: expect.arrayContaining(['bingbot']) as string[],
      ranges: ['https://www.bing.com/toolbox/bingbot.json'],
      dns: ['@.search.msn.com'],
      networks: [],
      isComplete: true,
      isOwn: false,
    });
    expect((await ask('/protect/bots/get', { id: 'no-such-bot' })).status).toBe(404);
    expect((await ask('/protect/bots', { behaviour: 'anything' })).status).toBe(400);
  });

  test('has an own bot in the place of the bot with its id, until it is removed', async () => {
    await ask(ADD, { ...own, id: 'bingbot', patterns: ['bingbot'] });
    expect((await ask('/protect/bots/get', { id: 'bingbot' })).body).toMatchObject({ isOwn: true, ranges: [] });
    await ask(REMOVE, { id: 'bingbot' });
    expect((await ask('/protect/bots/get', { id: 'bingbot' })).body).toMatchObject({ isOwn: false, networks: [] });
  });
});

describe('a table in another format', () => {
  const inFormat = (format: string): Promise<unknown> =>
    serviceEnv.DB.prepare('UPDATE bot_tables SET format = ?').bind(format).run();
  const current = (...formats: string[]) => currentBotTable(serviceEnv, tenant.account.id, formats);

  test('that another release wrote is replaced by the scheduled run, with its file', async () => {
    await ask(ADD, own);
    const before = await current(...botTableFormats);
    await inFormat('GHBOTS99/GHRULES99');
    expect(await current(...botTableFormats)).toBeNull();
    await buildBotTables(serviceEnv, testNow() + 1);
    expect(await current('GHBOTS99/GHRULES99')).toBeNull();
    const after = await current(...botTableFormats);
    expect([after === null, after === before]).toEqual([false, false]);
    expect(await kept()).toEqual([botTableKey(tenant.account.id, after!)]);
  });

  test('is loaded while the newest one is not made, the account’s own before the common one', async () => {
    await ask(ADD, own);
    const hash = await current(...botTableFormats);
    await inFormat('GHBOTS01/GHRULES1');
    await serviceEnv.DB.prepare("INSERT INTO bot_tables VALUES ('', ?, 'common', NULL, '', 0)")
      .bind(botTableFormats[0])
      .run();
    expect(await current(botTableFormats[0], 'GHBOTS01/GHRULES1')).toBe(hash);
    expect(await current(botTableFormats[0])).toBe('common');
    await serviceEnv.DB.prepare('DELETE FROM bot_tables').run();
  });
});

describe('a bot of an account', () => {
  test('is in the table of the account when the call returns, and nobody else’s', async () => {
    expect((await ask(ADD, own)).body).toEqual(own);
    expect((await table()).identify('OurBot/2.0')?.id).toBe('ourbot');
    expect((await ask('/protect/bots/own')).body.bots).toEqual([own]);
    const other = await newAccount();
    expect((await call(other.token, '/protect/bots/own', {})).body.bots).toEqual([]);
    expect((await call(other.token, REMOVE, { id: 'ourbot' })).status).toBe(404);
    expect((await ask(REMOVE, { id: 'ourbot' })).body).toEqual({ success: true, id: 'ourbot' });
    expect((await table()).identify('OurBot/2.0')).toBeNull();
    expect((await ask(REMOVE, { id: 'ourbot' })).status).toBe(404);
  });

  test('is one and the same however often it is added, and leaves an entry in the audit trail each time', async () => {
    await ask(ADD, own);
    const hash = await currentBotTable(serviceEnv, tenant.account.id, botTableFormats);
    await ask(ADD, { ...own, networks: ['20.9.9.77/24', '20.9.9.0/24'] });
    expect(await currentBotTable(serviceEnv, tenant.account.id, botTableFormats)).toBe(hash);
    expect((await ask('/protect/bots/own')).body.bots).toEqual([own]);
    await ask(REMOVE, { id: 'ourbot' });
    const { entries } = (await ask('/audit-trail/get', { limit: 3 })).body;
    expect(entries.map((entry: { operation: string }) => entry.operation)).toEqual([
      'remove-own-bot',
      'add-own-bot',
      'add-own-bot',
    ]);
    expect(entries[2].body).toMatchObject({ id: 'ourbot', networks: ['20.9.9.0/24'] });
  });

  test('that is refused changes nothing, and the refusal says what to write', async () => {
    await ask(ADD, own);
    const hash = await currentBotTable(serviceEnv, tenant.account.id, botTableFormats);
    const cases: [change: object, path: string, message: RegExp][] = [
      [{ networks: ['10.0.0.0/8'] }, 'networks.0', /private or reserved.*198\.41\.128\.0\/24/],
      [{ networks: ['20.1.2.0/24', 'fd00::/8'] }, 'networks.1', /too wide/],
      [{ networks: ['fd00::/32'] }, 'networks.0', /private or reserved/],
      [{ networks: ['0.0.0.0/0'] }, 'networks.0', /too wide/],
      [{ networks: ['::/0'] }, 'networks.0', /too wide/],
      [{ networks: ['example.com'] }, 'networks.0', /must be a network of the internet/],
      [{ networks: Array.from({ length: 201 }, (_, i) => `20.1.${i}.0/24`) }, 'networks', /200/],
      [{ networks: [] }, 'isComplete', /needs networks/],
      [{ patterns: ['Moz'] }, 'patterns.0', /4 characters/],
      [{ patterns: ['OurBot/', 'AppleWebKit'] }, 'patterns.1', /browsers/],
      [{ patterns: ['*like gecko'] }, 'patterns.0', /browsers/],
      [{ patterns: Array.from({ length: 17 }, (_, i) => `OurBot${i}`) }, 'patterns', /16/],
      [{ patterns: [] }, 'patterns', /./],
      [{ tokens: ['Our Bot'] }, 'tokens.0', /./],
      [{ behaviours: ['anything'] }, 'behaviours.0', /./],
      [{ id: 'Our Bot' }, 'id', /./],
      [{ ranges: ['https://example.com/list.json'] }, 'ranges', /./],
    ];
    for (const [change, path, message] of cases) {
      const { status, body } = await ask(ADD, { ...own, ...change });
      const detail = body.error.details?.find((one: { path: string }) => one.path === path);
      expect([status, path, detail?.message]).toEqual([400, path, expect.stringMatching(message)]);
    }
    expect((await ask('/protect/bots/own')).body.bots).toEqual([own]);
    expect(await currentBotTable(serviceEnv, tenant.account.id, botTableFormats)).toBe(hash);
  });

  test('beyond the hundredth is refused, and replacing one of the hundred is not', async () => {
    await serviceEnv.DB.prepare(
      `WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 100)
       INSERT INTO own_bots (account_id, id, document)
       SELECT ?1, 'bot' || value, json_object('id', 'bot' || value, 'behaviours', json('["other"]'), 'patterns',
         json_array('Filled' || value), 'tokens', json('[]'), 'networks', json('[]'), 'isComplete', json('false')) FROM n`,
    )
      .bind(tenant.account.id)
      .run();
    const { status, body } = await ask(ADD, own);
    expect([status, body.error.message]).toEqual([413, 'The account has 100 bots of its own. Remove one first']);
    expect((await ask(ADD, { ...own, id: 'bot7' })).status).toBe(200);
    expect((await ask('/protect/bots/own')).body.bots).toHaveLength(100);
  });

  test('is in the table with every other one that was added at the same time', async () => {
    const names = Array.from({ length: 4 }, (_, i) => `ourbot${i}`);
    await Promise.all([
      ...names.map((id) => ask(ADD, { ...own, id, patterns: [`${id}/`] })),
      buildBotTables(serviceEnv, testNow()),
    ]);
    await buildBotTables(serviceEnv, testNow());
    const { bots } = await table();
    expect(bots.map(({ id }) => id)).toEqual(expect.arrayContaining(names));
    // The table in force and the one before it.
    expect((await kept()).length).toBeLessThanOrEqual(2);
  });
});

describe('the tables of an account without edges', () => {
  beforeEach(async () => {
    await ask(ADD, own);
    await ask(ADD, { ...own, networks: ['20.9.8.0/24'] });
    expect(await kept()).toHaveLength(2);
  });
  const expectGone = async (): Promise<void> => {
    await buildBotTables(serviceEnv, testNow());
    expect(await kept()).toEqual([]);
    expect((await botTables(serviceEnv, tenant.account.id)).length).toBe(0);
  };

  test('go away with its last instance', async () => {
    await ask('/protect/instances/delete', { id: instanceId });
    await expectGone();
  });

  test('go away when it is disabled, and are back when it is enabled', async () => {
    await updateAccount(serviceEnv, tenant.account.id, { disabled: true }, testNow());
    await expectGone();
    await updateAccount(serviceEnv, tenant.account.id, { disabled: false }, testNow());
    await buildBotTables(serviceEnv, testNow());
    expect((await table()).identify('OurBot/2.0')?.id).toBe('ourbot');
  });
});

test('the published lists can be read by an account, and changed by none', async () => {
  const { lists } = (await ask('/protect/bots/lists')).body;
  expect(lists.find((one: { url: string }) => one.url === 'https://www.bing.com/toolbox/bingbot.json')).toMatchObject({
    bots: expect.arrayContaining(['bingbot']) as string[],
    waitsForAccept: false,
  });
  for (const verb of ['accept', 'read']) expect((await ask(`/protect/bots/lists/${verb}`, {})).status).toBe(404);
});

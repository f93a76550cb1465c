/** What one network adds to the watch: little, whatever it sends. An attack comes from many networks. */
import { beforeEach, expect, test } from 'vitest';
import { networkShares } from '../../../src/attack/network-shares.ts';
import { noTraffic, STEP_MS } from '../../../src/attack/traffic.ts';
import { feedAttackWatch } from '../../../src/service/attack/feed.ts';
import { checkedEnvironment } from '../../../src/service/environment.ts';
import { attackWatch } from '../../../src/store/attack-watch/client.ts';
import { instanceById } from '../../../src/store/d1/instances.ts';
import { setClock, testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';
import { hooks } from '../../support/hooks.ts';
import { call, newAccount, serviceEnv, type TestAccount } from './service-under-test.ts';

const MINUTE_MS = 60_000;
/** What is usual is known, and `minimumRate` counts as it is. */
const LEARNED_MS = 6 * MINUTE_MS;
const QUIET_EVERY_MS = 10_000;
/** A step has twice of what is an attack. */
const FLOOD = 400;
const { store, outbound } = checkedEnvironment(serviceEnv);

let tenant: TestAccount;
let id: string;
let now: number;
const status = async () => (await call(tenant.token, '/protect/attack-mode', {})).body;

beforeEach(() => hooks());

async function newInstance(): Promise<void> {
  tenant = await newAccount();
  const { siteKey } = tenant.site;
  const given = { name: 'Shop', cname: 'shop.example', globalSiteKey: siteKey };
  id = (await call(tenant.token, '/protect/instances/create', given)).body.id;
  now = Math.ceil(testNow() / STEP_MS) * STEP_MS;
  await traffic(4, LEARNED_MS, (index) => `203.0.113.${index}`, 'allow', QUIET_EVERY_MS);
}

/** So many requests at a time, as edges report them. Returns how often attack mode was on after a minute. */
async function traffic(
  count: number,
  forMs: number,
  from: (index: number) => string,
  decision: string,
  everyMs = STEP_MS,
): Promise<number> {
  let timesOn = 0;
  for (const until = now + forMs; now < until; now += everyMs) {
    setClock(now);
    const instance = (await instanceById(serviceEnv, id))!;
    const records = Array.from({ length: count }, (_, index) => ({ timestamp: now - 1, ip: from(index), decision }));
    const sent: Promise<unknown>[] = [];
    feedAttackWatch({ store, outbound, waitUntil: (task) => sent.push(task) }, instance, records, now);
    await Promise.all(sent);
    if (now % MINUTE_MS === 0 && (await status()).active) timesOn += 1;
  }
  return timesOn;
}

test('refused requests of few networks never switch attack mode on, at any rate', () =>
  expectRows(
    [
      ['one /24', (index: number) => `198.51.100.${index % 256}`],
      ['one /56', (index: number) => `2001:db8:0:${(index % 256).toString(16)}::1`],
      ['eight /24s of one /16', (index: number) => `198.51.${index % 8}.${index % 256}`],
      ['eight /24s', (index: number) => `198.${index % 8}.100.7`],
    ] as const,
    async ([, from]) => {
      await newInstance();
      expect(await traffic(FLOOD, 10 * MINUTE_MS, from, 'block')).toBe(0);
      expect(await status()).toMatchObject({ active: false, alarmSince: null });
    },
    ([name]) => name,
  ));

test('how many of a network count follows from the rate that is an attack', () =>
  expectRows(
    [
      [100, { near: 4, around: 40 }],
      [1000, { near: 40, around: 400 }],
      [10, { near: 1, around: 4 }],
      [1, { near: 1, around: 1 }],
    ] as const,
    ([minimumRate, shares]) => expect(networkShares(minimumRate)).toEqual(shares),
  ));

test('an attack from three hundred networks is noticed within ten seconds', async () => {
  await newInstance();
  await traffic(900, 10_000, (index) => `198.${index % 60}.${Math.floor((index % 300) / 60)}.7`, 'block');
  expect(await status()).toMatchObject({ active: true, by: 'trigger' });
});

test('a network counts once for all isolates that hear of it', async () => {
  const settings = { minimumRate: 100 };
  const alarmAfter = async (networks: number, isolates: number): Promise<unknown> => {
    await newInstance();
    const watch = attackWatch(serviceEnv, id);
    for (const until = now + MINUTE_MS; now < until; now += STEP_MS) {
      setClock(now);
      const step = Math.floor(now / STEP_MS) - 1;
      const of = (network: number) => ({
        near: `198.${network % 250}.${Math.floor(network / 250)}.0/24`,
        around: `198.${network % 250}.0.0/16`,
        ...noTraffic,
        requests: 4,
        refused: 4,
      });
      const reported = { step, ...noTraffic, networks: Array.from({ length: networks }, (_, network) => of(network)) };
      for (let isolate = 0; isolate < isolates; isolate++) await watch.add([reported], settings);
    }
    return watch.alarmNow(settings);
  };
  expect(await alarmAfter(45, 10)).toBeNull();
  expect(await alarmAfter(300, 1)).not.toBeNull();
});

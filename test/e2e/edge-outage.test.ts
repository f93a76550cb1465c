/** The service stops and comes back: rules and bots come from KV after a restart, and changes arrive afterwards. */
import { afterEach, expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { eventually, manage, rulesLoaded, useStack } from '../support/stack.ts';
import { signalsOf } from './edge-visitor.ts';

const stack = useStack({ schedule: false });
afterEach(() => stack().startService());
const statusFor = async (userAgent: string) => {
  const answer = await browse(`${stack().edgeUrl}/echo`, { headers: { 'user-agent': userAgent } });
  await answer.arrayBuffer();
  return answer.status;
};
/** From an address of Bing's list, which is also one of a data centre. */
const fromBing = async (userAgent: string) => {
  const headers = { ...signalsOf(stack(), { from: '157.55.39.1', asn: '8075' }), 'user-agent': userAgent };
  const answer = await browse(`${stack().edgeUrl}/echo`, { headers });
  await answer.arrayBuffer();
  return { status: answer.status, requestId: answer.headers.get('x-protect-request-id') };
};
const BINGBOT = 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)';
const block = (value: string) =>
  manage(stack(), '/protect/access-rules/create', { rules: [{ type: 'userAgent', value, verdict: 'block' }] });

/** KV has everything, the service is gone, and a new edge has read KV: its first request would wait for that only briefly. */
async function outage(): Promise<void> {
  await eventually(
    () => stack().runScheduled(),
    (isDone) => isDone,
  );
  await stack().stopService();
  await stack().restartEdge();
  await rulesLoaded(stack());
}

test('a restarted edge enforces its rules from KV while the service is down, and loads changes when it is back', async () => {
  await block('early-bird');
  await eventually(
    () => statusFor('early-bird'),
    (status) => status === 403,
  );
  await outage();
  expect(await statusFor('early-bird')).toBe(403);
  expect(await statusFor('Mozilla/5.0')).toBe(200);

  await stack().startService();
  await block('late-bird');
  await eventually(
    () => statusFor('late-bird'),
    (status) => status === 403,
  );
  expect(await statusFor('early-bird')).toBe(403);
});

test('a restarted edge knows a search engine by the table of bots in KV while the service is down', async () => {
  await manage(stack(), '/protect/instances/update', {
    id: stack().instanceId,
    ipCategoryRules: { datacenter: 'challenge' },
  });
  const proof = async () => {
    await stack().runScheduled();
    const { requestId } = await fromBing(BINGBOT);
    type Found = { verdicts: { bot: { proof: string } | null }[] };
    const { verdicts } = await eventually(
      () => manage<Found>(stack(), '/protect/verdicts', { requestId }),
      (found) => found.verdicts.length === 1,
    );
    return verdicts[0]?.bot?.proof;
  };
  await eventually(proof, (found) => found === 'range');
  await outage();
  const both = async () => [(await fromBing(BINGBOT)).status, (await fromBing('Mozilla/5.0')).status];
  await eventually(both, ([bot, other]) => bot === 200 && other === 403);
});

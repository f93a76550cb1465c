/** The service stops and comes back: rules come from KV after a restart, and changes arrive afterwards. */
import { expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack({ schedule: false });
const statusFor = async (userAgent: string) => {
  const answer = await browse(`${stack().edgeUrl}/echo`, { headers: { 'user-agent': userAgent } });
  await answer.arrayBuffer();
  return answer.status;
};
const block = (value: string) =>
  manage(stack(), '/protect/access-rules/create', { rules: [{ type: 'userAgent', value, verdict: 'block' }] });

test('a restarted edge enforces its rules from KV while the service is down, and loads changes when it is back', async () => {
  await block('early-bird');
  await eventually(
    () => statusFor('early-bird'),
    (status) => status === 403,
  );
  await stack().runScheduled();
  await stack().stopService();
  await stack().restartEdge();
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

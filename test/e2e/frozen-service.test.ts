// A stack of its own: its service stands still, and a stack that cannot stand that would stop with it.
/**
 * The service is frozen: connections open and nothing responds. The gate serves on from what it has, the stack refuses
 * commands, and the log has every verdict once the service runs again.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { serviceRuntime } from '../support/service-runtime.ts';
import { eventually, manage, useOwnStack } from '../support/stack.ts';

/** Longer than any of these tests is. */
const THAW_AFTER_SECONDS = 40;

// Verdicts go to the queue at once. With the service as first sink it takes 21 seconds until they do.
const stack = useOwnStack({ edgeVars: { LOG_SINKS: 'queue' } });
let thaw: ChildProcess;

beforeEach(async () => {
  expect(await status('/echo/before')).toBe(200);
  const service = serviceRuntime(stack());
  process.kill(service, 'SIGSTOP');
  // A stack that stops with its service stops this process too: then another one ends that, and the test fails.
  thaw = spawn('sh', ['-c', `sleep ${THAW_AFTER_SECONDS}; kill -CONT ${service}`]);
});
afterEach(() => {
  process.kill(serviceRuntime(stack()), 'SIGCONT');
  thaw.kill();
});

async function status(path: string): Promise<number> {
  const response = await browse(`${stack().edgeUrl}${path}`);
  await response.arrayBuffer();
  return response.status;
}

test('while verdicts cannot be delivered, the gate serves on, and they are in the log once the service runs again', async () => {
  expect(await status('/echo/frozen')).toBe(200);
  await eventually(
    async () => stack().undelivered(),
    (messages) => messages.length > 0,
  );
  expect(await status('/echo/frozen')).toBe(200);
  process.kill(serviceRuntime(stack()), 'SIGCONT');
  await eventually(
    () => manage<{ total: number }>(stack(), '/protect/verdicts', { requestPath: '/echo/frozen' }),
    ({ total }) => total === 2,
  );
});

test('a command is refused, and the gate serves on', async () => {
  const words = ['src/cli/gatehouse.ts', 'account', 'list', '--state', stack().stateDir];
  const command = promisify(execFile)(process.execPath, words);
  await expect(command).rejects.toMatchObject({ stderr: expect.stringContaining('does not respond') });
  expect(await status('/echo/frozen')).toBe(200);
});

test('a scheduled run ends, and the gate serves on', async () => {
  expect(await stack().runScheduled()).toBe(false);
  expect(await status('/echo/frozen')).toBe(200);
});

test('the health of an edge says how many verdicts can be lost with it', async () => {
  await stack().restartEdge({ LOG_SINKS: 'service' });
  for (let visit = 0; visit < 3; visit += 1) expect(await status('/echo/held')).toBe(200);
  const authorization = `Bearer ${stack().opsToken}`;
  const health = await browse(`${stack().edgeUrl}/__protect/health`, { headers: { authorization } });
  const { verdicts } = (await health.json()) as { verdicts: { held: number; sentWithinMs: number } };
  expect(verdicts.held).toBeGreaterThanOrEqual(3);
  expect(verdicts.sentWithinMs).toBe(1000);
});

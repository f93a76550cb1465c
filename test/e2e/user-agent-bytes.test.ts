/**
 * User agents with bytes above ASCII. The runtime gives a Worker the text of a header, in which bytes that are no UTF-8
 * are lost; the stack's listener tells the edge which bytes they were, as a proxy of the operator can.
 */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack();

/** `headers` has a character for each byte. */
async function send(path: string, headers: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(stack().edgeUrl);
  const lines = [`GET ${path} HTTP/1.1`, 'Host: site.test', ...headers, 'Connection: close', '', ''];
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(lines.join('\r\n'), 'latin1'));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.once('end', () => resolve(answer));
    socket.once('error', reject);
  });
}

async function loggedAgent(path: string): Promise<string> {
  const found = await eventually(
    () => manage<{ verdicts: { user_agent: string }[] }>(stack(), '/protect/verdicts', { requestPath: path }),
    ({ verdicts }) => verdicts.length > 0,
  );
  return found.verdicts[0]!.user_agent;
}

test.each([
  ['UTF-8', '/api/agent-utf8', 'caf\xc3\xa9/1 \xf0\x9f\x90\x88', 'café/1 🐈'],
  ['Latin-1', '/api/agent-latin', 'caf\xe9/1 \xff\x80', String.raw`caf\xe9/1 \xff\x80`],
  ['both, and a character that is cut off', '/api/agent-both', '\xe9\xc3\xa9\xf0\x9f', String.raw`\xe9é\xf0\x9f`],
])('the log has the bytes of a user agent in %s', async (_, path, sent, logged) => {
  await send(path, [`User-Agent: ${sent}`]);
  expect(await loggedAgent(path)).toBe(logged);
});

test('a rule for the logged text matches the request, and a visitor cannot set the text', async () => {
  await manage(stack(), '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: String.raw`bad\xe9bot`, verdict: 'block' }],
  });
  const status = async (headers: readonly string[]): Promise<string> => (await send('/api/rule', headers)).slice(9, 12);
  await eventually(
    () => status(['User-Agent: bad\xe9bot']),
    (found) => found === '403',
  );
  expect(await status(['User-Agent: bad\xe8bot'])).not.toBe('403');
  expect(await status(['User-Agent: x', 'User-Agent: bad\xe9bot'])).toBe('403');
  expect(await status(['User-Agent: bad\xe9bot', 'X-Client-User-Agent: browser'])).toBe('403');
});

/**
 * The programs of `docs/snippets`, each run as a backend runs it, with every runtime that this machine has. Node is
 * always there. A missing runtime is skipped, a failing one is not.
 */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { useStack } from '../support/stack.ts';
import { solvedToken } from './edge-visitor.ts';

const stack = useStack();
const run = promisify(execFile);

const snippets: { language: string; command: string; args: string[]; probe: string[] }[] = [
  { language: 'Node', command: process.execPath, args: ['docs/snippets/verify.mjs'], probe: ['--version'] },
  // Often an older one, which lacks what is new in Node.
  { language: 'system’s Node', command: '/usr/bin/node', args: ['docs/snippets/verify.mjs'], probe: ['--version'] },
  { language: 'Python', command: 'python3', args: ['docs/snippets/verify.py'], probe: ['--version'] },
  { language: 'PHP', command: 'php', args: ['docs/snippets/verify.php'], probe: ['--version'] },
  { language: 'Go', command: 'go', args: ['run', 'docs/snippets/verify.go'], probe: ['version'] },
  { language: 'curl', command: 'sh', args: ['docs/snippets/verify.sh'], probe: ['-c', 'curl --version'] },
].filter(({ command, probe }) => {
  try {
    execFileSync(command, probe, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

describe.each(snippets)('the $language snippet', ({ command, args }) => {
  const ask = (token: string, secret = stack().secretKey): Promise<{ stdout: string }> =>
    run(command, [...args, token], {
      env: { ...process.env, CAPTCHA_URL: stack().serviceUrl, CAPTCHA_SECRET: secret },
    });

  test('verifies a solved token once, also as the field’s whole value, and tells a wrong secret from a wrong token', async () => {
    const token = await solvedToken(stack(), { 'user-agent': 'person' }, { siteKey: stack().siteKey, action: 'login' });
    expect((await ask(token)).stdout).toBe('verified\n');
    expect((await ask(token)).stdout).toBe('refused\n');
    const other = await solvedToken(stack(), { 'user-agent': 'person' }, { siteKey: stack().siteKey, action: 'login' });
    expect((await ask(JSON.stringify({ token: other }))).stdout).toBe('verified\n');
    await expect(ask(token, 'secret_of-nobody')).rejects.toThrow(/Command failed/);
  });
});

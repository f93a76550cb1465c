/**
 * Runs every shell command of the README and of `docs/`, page by page and as printed, against one stack. Programs that
 * reach other machines have stand-ins (`command-stand-ins.ts`).
 */
import { spawn } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StandIns, startStandIns } from '../support/command-stand-ins.ts';
import { boughtToken, newVisitor, page as gatePage } from '../support/gate.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { sessionCookieAt } from '../support/edge-session.ts';

const pages = ['README.md', ...globSync('docs/{,how-to/}*.md').toSorted()];
const blocksOf = (page: string): string[] =>
  // Every fence, so that the end of one is never taken for the beginning of the next.
  [...readFileSync(page, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, language = '', text = '']) =>
    /^(sh|bash)$/.test(language) || (language === '' && /^(curl|npm|npx) /.test(text)) ? [text] : [],
  );
/** Of a page whose tables say what to type. */
const typedIn = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^\|.*\|$/gm)].flatMap(([row]) =>
    [...row.matchAll(/`((?:npm run (?:-s )?gatehouse|curl) [^`]+)`/g)].map(([, command = '']) => `${command}\n`),
  );
/** The file that a page shows first. */
const fileIn = (page: string): string => /^```json\n([\s\S]*?)^```$/m.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
const documented = pages
  .map((page) => ({
    page,
    blocks: [...blocksOf(page), ...(page === 'docs/troubleshooting.md' ? typedIn(page) : [])],
  }))
  .filter(({ blocks }) => blocks.length > 0);

/** Some pages use the function of another page. */
const api = `api() { curl -s "https://gatehouse.example.com$1" -H "Authorization: Bearer YOUR_API_KEY" -H 'Content-Type: application/json' -d "$2"; }`;

const stack = useStack();
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-docs-'));
const folderOf = (page: string): string => join(folder, page.replaceAll(/\W/g, '-'));
/** What the commands of each page printed. */
const printed = new Map<string, string>();

let standIns: StandIns;
beforeAll(async () => {
  standIns = await startStandIns(join(folder, 'bin'));
});
afterAll(async () => {
  await standIns.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(documented)('$page', ({ page, blocks }) => {
  test('its commands work as printed', async () => {
    const cwd = folderOf(page);
    mkdirSync(join(cwd, '.gatehouse'), { recursive: true });
    copyFileSync(join(stack().stateDir, 'stack.json'), join(cwd, '.gatehouse/stack.json'));
    writeFileSync(join(cwd, 'blocklist.csv'), 'ipMask,192.0.2.0/24\n');
    writeFileSync(join(cwd, 'offices.txt'), '9.9.9.0/24\n');
    writeFileSync(join(cwd, 'set.json'), fileIn(page));
    const { serviceUrl, edgeUrl, stateDir } = stack();
    standIns.addPage(cwd, {
      stateDir,
      origins: {
        'http://127.0.0.1:8801': serviceUrl,
        'https://gatehouse.example.com': serviceUrl,
        'http://127.0.0.1:8800': edgeUrl,
        'https://www.example.com': edgeUrl,
      },
      values: await valuesIn(blocks.join('\n')),
    });
    // Blocks of a page share variables and functions, as in a reader's terminal.
    const { status, stdout, stderr } = await inShell(cwd, [api, ...blocks].join('\n'));
    expect(
      stderr.split('\n').filter((line) => /^(curl|npm|npx|gatehouse|wrangler|openssl|docker):? /.test(line)),
    ).toEqual([]);
    expect({ status, output: status === 0 ? '' : `${stdout}${stderr}` }).toEqual({ status: 0, output: '' });
    printed.set(page, stdout);
  });
});

test('the guide shows the operator the token for health checks that the edge is deployed with', () => {
  const deployed = readFileSync(join(folderOf('docs/operations.md'), 'deployed-secrets'), 'utf8');
  const line = deployed.split('\n').find((text) => text.startsWith('OPS_TOKEN='));
  expect(line).toMatch(/^OPS_TOKEN=.{32,}$/);
  expect(printed.get('docs/operations.md')).toContain(line);
});

test.each(['turnstile', 'hcaptcha', 'recaptcha'])('a token of this service verifies as one of %s', (product) => {
  // Each is written as the original writes it: reCAPTCHA has a space after the colon.
  const success = product === 'recaptcha' ? '"success": true' : '"success":true';
  expect(printed.get(`docs/how-to/migrate-from-${product}.md`)).toContain(success);
});

/** What a reader replaces, by how it is printed. Made only for a page that prints it, because some cost a second. */
const replaced: Record<string, () => string | Promise<string>> = {
  YOUR_API_KEY: () => stack().apiKey,
  YOUR_OPS_TOKEN: () => stack().opsToken,
  INSTANCE: () => stack().instanceId,
  YOUR_SITE_SECRET: () => stack().secretKey,
  REFERENCE: newReference,
  '09a6-b6ba': async () => {
    const reference = await newReference();
    return `${reference.slice(4, 8)}-${reference.slice(-4)}`;
  },
  TOKEN_FROM_THE_FORM: newToken,
  '<jti of a verdict>': newSession,
  '<siteKey of .gatehouse/stack.json>': () => stack().siteKey,
  '<instanceId of .gatehouse/stack.json>': () => stack().instanceId,
  '"jti": "…"': async () => `"jti": "${await newSession()}"`,
  '"secret": "…", "token": "…"': async () => `"secret": "${stack().secretKey}", "token": "${await newToken()}"`,
};

async function valuesIn(text: string): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [word, value] of Object.entries(replaced)) {
    if (text.includes(word) || api.includes(word)) values[word] = await value();
  }
  return values;
}

/** Asynchronous, because the stack's listener and the stand-ins are in this process. */
async function inShell(cwd: string, text: string): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const shell = spawn('bash', ['-euo', 'pipefail', '-s'], {
    cwd,
    env: { ...process.env, PATH: `${standIns.path}:${process.env['PATH']}`, KEY: stack().apiKey },
  });
  let [stdout, stderr] = ['', ''];
  shell.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  shell.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // What a reader replaces in a path is no redirection.
  const typed = text.replaceAll(/(?<=[/-])<(\w+)>/g, '$1');
  shell.stdin.end(typed.replaceAll('API_KEY=…', 'API_KEY=API_KEY'));
  const status = await new Promise<number | null>((done) => shell.on('close', done));
  return { status, stdout, stderr };
}

async function newSession(): Promise<string> {
  const cookie = await sessionCookieAt(stack().edgeUrl, newVisitor(stack()));
  return decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1)).split('|')[0]!;
}
/** Of a request whose verdict is stored. */
async function newReference(): Promise<string> {
  const visited = await gatePage(stack(), newVisitor(stack()), '/echo');
  const requestId = visited.headers.get('x-protect-request-id') ?? '';
  await eventually(
    () => manage<{ total: number }>(stack(), '/protect/verdicts', { requestId }),
    ({ total }) => total === 1,
  );
  return requestId;
}
async function newToken(): Promise<string> {
  return boughtToken(stack(), newVisitor(stack()), { action: 'login' });
}

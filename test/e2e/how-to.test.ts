/**
 * What the how-to pages promise, with the files and the conditions that stand in them. `e2e/documented-commands` runs
 * their commands; here is what a visitor gets afterwards. The demo shop is the site.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { sessionCookieAt } from '../support/edge-session.ts';
import { newVisitor } from '../support/gate.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { edgeIsUpToDate, eventually, letThrough, manage, useStack } from '../support/stack.ts';

const stack = useStack();

const pageOf = (name: string): string => readFileSync(`docs/how-to/${name}.md`, 'utf8');
const blocksOf = (name: string, language: string): string[] =>
  [...pageOf(name).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );

/** In the directory of the stack, so that it is removed with it. */
function fileOf(name: string, content: string): string {
  const path = join(stack().stateDir, name);
  writeFileSync(path, content);
  return path;
}

async function run(...words: string[]): Promise<string> {
  const { exitCode, output, errors } = await gatehouse([...words, '--text'], { state: stack().stateDir });
  expect({ exitCode, errors: exitCode === 0 ? '' : errors }).toEqual({ exitCode: 0, errors: '' });
  return output;
}

/** A version that every edge of the stack enforces by now. */
async function enforced(isSo: () => Promise<boolean>): Promise<void> {
  await eventually(isSo, (done) => done);
}

async function person(): Promise<Record<string, string>> {
  const headers = newVisitor(stack());
  return { ...headers, cookie: await sessionCookieAt(stack().edgeUrl, headers) };
}

async function send(path: string, headers: Record<string, string | null>, body: string): Promise<Response> {
  return browse(`${stack().edgeUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body,
  });
}
const gotOf = ({ status, headers }: Response): string => `${status} ${headers.get('x-protect-decision')}`;
const logsIn = async (headers: Record<string, string>, email: string): Promise<string> =>
  gotOf(await send('/login', headers, `email=${email}&password=wrong`));

/** What a program of another company sends: no header of a browser. */
function webhook(): Record<string, string | null> {
  return {
    ...newVisitor(stack()),
    'user-agent': 'ShopPay/1.0',
    accept: '*/*',
    ...Object.fromEntries(
      [
        'accept-language',
        'upgrade-insecure-requests',
        'sec-fetch-dest',
        'sec-fetch-mode',
        'sec-fetch-site',
        'sec-fetch-user',
      ].map((name) => [name, null]),
    ),
  };
}

beforeEach(() => run('policies', 'rollback', '0'));

describe('protect a log-in', () => {
  const [set = ''] = blocksOf('protect-a-login', 'json');

  beforeEach(async () => {
    await run('limits', 'add', fileOf('set.json', set));
    for (const limit of ['guesses', 'failed-log-ins']) await run('limits', 'update', limit, '--mode', 'enforce');
    await edgeIsUpToDate(stack());
  });

  /**
   * Guesses until `count` of them have reached the site. Before the service has confirmed earlier ones, the edge may refuse
   * a guess that the limit has room for; one of the next ones reaches the site then.
   */
  async function guessUntil(count: number, refusal: string, emailOf: (guess: number) => string) {
    const guesser = await person();
    let guess = 0;
    let reached = 0;
    const another = async (): Promise<string> => {
      const got = await logsIn(guesser, emailOf(++guess));
      if (got === '401 allow') reached++;
      else expect(got).toBe(refusal);
      return got;
    };
    await eventually(another, () => reached === count);
    return another;
  }

  test('no more than five guesses at a user reach the site from anywhere, and another user is free', async () => {
    const another = await guessUntil(5, '403 challenge', () => 'ada@example.com');
    for (let more = 0; more < 10; more++) expect(await another()).toBe('403 challenge');
    expect(await logsIn(await person(), 'ada@example.com')).toBe('403 challenge');
    expect(await logsIn(await person(), 'bob@example.com')).toBe('401 allow');
  });

  test('no more than twenty failures of an address reach the site, whatever users they name', async () => {
    const another = await guessUntil(20, '429 block', (guess) => `user${guess}@example.com`);
    for (let more = 0; more < 20; more++) expect(await another()).toBe('429 block');
    expect(await logsIn(await person(), 'user1@example.com')).toBe('401 allow');
  });
});

describe('exempt a webhook', () => {
  const [, when = ''] = /--when '([^']+)' --then skipSession/.exec(pageOf('exempt-a-webhook')) ?? [];
  /** Programs are at risk, as on any site: the stack of a test lets them through otherwise. */
  const setPolicy = (policy: object) =>
    manage(stack(), '/protect/instances/update', { id: stack().instanceId, ...policy });
  const posts = async (path: string): Promise<string> => gotOf(await send(path, webhook(), 'id=1'));

  beforeAll(async () => {
    await setPolicy({ ignoredDetectors: [] });
    await enforced(async () => (await posts('/webhooks/paid')) === '403 challenge');
  });
  afterAll(() => setPolicy(letThrough.policy));

  test('a policy that frees its path lets it through there, and nowhere else', async () => {
    await run('policies', 'add', 'shoppay', '--when', when, '--then', 'skipSession');
    await enforced(async () => (await posts('/webhooks/paid')) === '404 allow');
    expect(await posts('/webhooks/refunded')).toBe('403 challenge');
    expect(gotOf(await browse(`${stack().edgeUrl}/webhooks/paid`, { headers: webhook() }))).toBe('403 challenge');
  });

  test('a policy with allow in its place leaves it challenged, as the page says', async () => {
    await run('policies', 'add', 'shoppay', '--when', when, '--then', 'allow');
    await run('policies', 'add', 'marker', '--when', 'path equals "/marker"', '--then', 'block');
    await enforced(async () => gotOf(await browse(`${stack().edgeUrl}/marker`)) === '403 block');
    expect(await posts('/webhooks/paid')).toBe('403 challenge');
  });
});

describe('migrate from Anubis', () => {
  const [, yaml = ''] = /cat > botPolicies\.yaml <<'END'\n([\s\S]*?)^END$/m.exec(pageOf('migrate-from-anubis')) ?? [];

  test('every rule of the example is taken, recorded first, and enforced by its name', async () => {
    const file = fileOf('botPolicies.yaml', yaml);
    expect(await run('policies', 'import', file, '--format', 'anubis', '--apply')).toContain('0 not taken');
    const scraper = { ...newVisitor(stack()), 'user-agent': 'Scrapy/2.11' };
    expect(gotOf(await browse(`${stack().edgeUrl}/`, { headers: scraper }))).not.toBe('403 block');
    await run('policies', 'update', 'api', '--then', 'skipSession');
    await run('policies', 'remove', 'generic-browser');
    for (const name of ['scrapers', 'api', 'office']) await run('policies', 'update', name, '--mode', 'enforce');
    await enforced(async () => gotOf(await browse(`${stack().edgeUrl}/`, { headers: scraper })) === '403 block');
    const app = { ...webhook(), 'user-agent': 'ShopApp/3.1' };
    expect(gotOf(await browse(`${stack().edgeUrl}/api/time`, { headers: app }))).toBe('200 allow');
  });
});

describe('respond to an attack', () => {
  test('the lines of the file block what they name until their end, and nobody else', async () => {
    const [, lines = ''] = /printf '([^']+)' > attackers\.csv/.exec(pageOf('respond-to-an-attack')) ?? [];
    const file = fileOf('attackers.csv', lines.replaceAll(String.raw`\n`, '\n'));
    await run('rules', 'import', file, '--expiry', '1d');
    const visits = async (ip: string) =>
      gotOf(await browse(`${stack().edgeUrl}/`, { headers: newVisitor(stack(), ip) }));
    await enforced(async () => (await visits('192.0.2.99')) === '403 block');
    const neighbour = { ...newVisitor(stack(), '198.51.100.99'), 'x-client-asn': '64511' };
    expect(gotOf(await browse(`${stack().edgeUrl}/`, { headers: neighbour }))).toBe('200 allow');
    expect(await visits('198.51.100.99')).toBe('403 block');
    const { rules } = await manage<{ rules: { expiry: string | null }[] }>(stack(), '/protect/access-rules', {
      limit: 9,
    });
    expect(rules.map(({ expiry }) => expiry === null)).toEqual([false, false]);
  });
});

/** The saved login: where the key is kept, what refuses it, and which service a command then calls. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { gatehouse } from '../../support/gatehouse.ts';
import { expectRows } from '../../support/rows.ts';

const KEY = 'gh_key_of_a_test';
let server: Server;
let url = '';
let home = '';
let version = '0.1.0';
let calls: { path: string; key: string }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const key = (request.headers.authorization ?? '').replace('Bearer ', '');
    calls.push({ path: request.url ?? '', key });
    request.resume();
    const headers = { 'content-type': 'application/json', 'x-gatehouse-version': version };
    if (key === KEY) return void response.writeHead(200, headers).end('{"versions":[]}');
    const error = { code: 401, message: 'The API key is not valid', key: 'API.UNAUTHORISED', details: [] };
    response.writeHead(401, headers).end(JSON.stringify({ error }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gatehouse-login-'));
  calls = [];
  version = '0.1.0';
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const file = () => join(home, 'gatehouse/login.json');
const env = () => ({ XDG_CONFIG_HOME: home });
const login = (stdin = `${KEY}\n`, service = url) => gatehouse(['login', '--service', service], { env: env(), stdin });

describe('gatehouse login', () => {
  test('keeps service and key in a file of mode 0600, and prints neither the key nor a part of it', async () => {
    const { exitCode, output, errors } = await login();
    expect([exitCode, errors]).toEqual([0, '']);
    expect(JSON.parse(output)).toEqual({ service: url, file: file() });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ serviceUrl: url, apiKey: KEY });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, 'gatehouse')).mode & 0o777).toBe(0o700);
  });

  test('saves no key that the service refuses', async () => {
    const { exitCode, errors } = await login('wrong');
    expect([exitCode, errors]).toEqual([1, expect.stringContaining('401')]);
    expect(existsSync(file())).toBe(false);
  });

  test.each([
    ['nothing', '', /^No API key was given\./],
    ['two lines', 'a\nb', /^Standard input is not an API key\./],
    ['a file', 'x'.repeat(5000), /^Standard input is not an API key\./],
  ])('refuses %s on standard input', async (_, stdin, message) => {
    expect(await login(stdin)).toMatchObject({ exitCode: 1, errors: expect.stringMatching(message) });
    expect(calls).toEqual([]);
  });

  test('refuses a service that is not reached by https before it sends anything', () =>
    expectRows(
      [
        ['http://gatehouse.example.com', /would carry the API key unencrypted\. Use https\.$/],
        ['gatehouse.example.com', /is not the URL of a service\. Use one such as /],
        ['https://user:secret@gatehouse.example.com', /is not the URL of a service\./],
        ['file:///etc/passwd', /is not the URL of a service\./],
      ],
      async ([service, message]) => {
        expect(await login(KEY, service)).toMatchObject({ exitCode: 1, errors: expect.stringMatching(message) });
      },
    ));

  test('says in one line that a folder cannot be written', async () => {
    writeFileSync(join(home, 'gatehouse'), 'a file in the place of the folder');
    const { exitCode, errors } = await login();
    expect([exitCode, errors.split('\n').length]).toEqual([1, 1]);
    expect(errors).toMatch(/^The login cannot be saved in .*\. Check the folder's permissions\. /);
  });
});

describe('a command after a login', () => {
  const history = (...words: string[]) =>
    gatehouse(['rules', 'history', ...words], { env: env(), hasRepository: false });

  test('calls that service with that key, and no more after logout', async () => {
    await login();
    expect(await history()).toMatchObject({ exitCode: 0, errors: `Service: ${url}` });
    expect(calls.at(-1)).toEqual({ path: '/protect/access-rules/history', key: KEY });
    await gatehouse(['logout'], { env: env() });
    expect(existsSync(file())).toBe(false);
    expect(await history()).toMatchObject({
      exitCode: 1,
      errors: expect.stringMatching(/^No local stack runs .* log in once with: gatehouse login --service URL$/),
    });
  });

  test('in a checkout, where it may be meant for a stopped stack, calls the service only with --service', async () => {
    await login();
    calls = [];
    const inCheckout = (...words: string[]) => gatehouse(['rules', 'history', ...words], { env: env() });
    expect(await inCheckout()).toMatchObject({
      exitCode: 1,
      errors: `No local stack runs on .gatehouse. Start one with npm start, or add --service ${url} for the saved login.`,
    });
    expect(calls).toEqual([]);
    expect(await inCheckout('--service', url)).toMatchObject({ exitCode: 0, errors: '' });
    expect(calls.at(-1)).toEqual({ path: '/protect/access-rules/history', key: KEY });
  });

  test('never sends the key to another service, or in the place of a folder that was named', async () => {
    await login();
    calls = [];
    expect(await history('--service', 'https://other.invalid')).toMatchObject({
      exitCode: 1,
      errors: expect.stringMatching(/^GATEHOUSE_API_KEY is not set\./),
    });
    expect(await gatehouse(['rules', 'history'], { env: env(), state: join(home, 'none') })).toMatchObject({
      exitCode: 1,
    });
    expect(calls).toEqual([]);
  });

  test.each([
    ['that others can read', () => chmodSync(file(), 0o644), /^Other users can read the API key in /],
    ['that is damaged', () => writeFileSync(file(), '{"service'), /is not a saved login\./],
  ])('refuses a file %s', async (_, spoil, message) => {
    await login();
    spoil();
    calls = [];
    expect(await history()).toMatchObject({ exitCode: 1, errors: expect.stringMatching(message) });
    expect(calls).toEqual([]);
  });

  test('names a damaged file of a local stack, and does not call another service', async () => {
    await login();
    calls = [];
    mkdirSync(join(home, 'state'));
    writeFileSync(join(home, 'state/stack.json'), '{}');
    const { exitCode, errors } = await gatehouse(['rules', 'history'], { env: env(), state: join(home, 'state') });
    expect([exitCode, errors]).toEqual([1, expect.stringMatching(/stack\.json is damaged\. Stop the stack /)]);
    expect(calls).toEqual([]);
  });

  test.each([
    [
      '0.2.0',
      '0.1.0',
      /^The service has version 0\.2\.0, and this command the older 0\.1\.0\. Install the command line of release 0\.2\.0\.$/m,
    ],
    ['0.1.0', '1.0.0', /^The service has version 0\.1\.0, and this command the newer 1\.0\.0\. /],
    ['0.1.7', '0.1.0', /^$/],
    ['nonsense', '0.1.0', /^$/],
    ['9.9.9 \u001B[2J', '0.1.0', /^$/],
  ])('says once what a service of version %s is for a command of version %s', async (service, own, message) => {
    await login();
    version = service.replaceAll('\u001B', '');
    const { exitCode, errors } = await gatehouse(['rules', 'history'], {
      env: env(),
      version: own,
      hasRepository: false,
    });
    expect([exitCode, errors.replace(`Service: ${url}`, '').trim()]).toEqual([0, expect.stringMatching(message)]);
  });
});

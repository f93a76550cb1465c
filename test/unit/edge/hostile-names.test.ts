/** Values named like the members that every object has. A look-up in a plain object would find those members. */
import { beforeEach, expect, test, vi } from 'vitest';
import { NOW_MS, configOf } from './edge-fixture.ts';
import { setClock } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';
import { edgeWith } from './whole-edge.ts';

const memberNames = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'] as const;
const ruleset = { version: 3, match: () => ({ network: null, client: null, fired: [] }) };
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36';
const ofChrome = {
  'user-agent': CHROME,
  'sec-ch-ua': '"Chromium";v="153"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  accept: 'text/html',
  'accept-language': 'en',
  'accept-encoding': 'gzip',
};
const headerNames = [
  ...Object.keys(ofChrome),
  'authorization',
  'cf-connecting-ip',
  'cf-ja4',
  'content-type',
  'cookie',
  'if-none-match',
  'origin',
  'range',
  'referer',
  'signature',
  'signature-agent',
  'signature-input',
  'upgrade',
  'x-forwarded-for',
];

beforeEach(() => {
  setClock(NOW_MS);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return () => vi.restoreAllMocks();
});

test('no header makes the gate throw', async () => {
  const config = await configOf();
  const rows = headerNames.flatMap((header) => memberNames.map((member) => [header, member] as const));
  await expectRows(rows, async ([header, member]) => {
    for (const value of [member, `"${member}"`, `${member}=${member}`]) {
      const { request, counted } = edgeWith({ state: { config, ruleset } });
      await request('/', { headers: { ...ofChrome, [header]: value } });
      expect(counted).not.toContain('exceptions');
    }
  });
});

test('no path, query or form field makes the gate throw', async () => {
  const config = await configOf();
  const paths = memberNames.flatMap((name) => [`/${name}`, `/__protect/${name}`, `/?${name}=${name}`]);
  await expectRows(paths, async (path) => {
    for (const method of ['GET', 'POST']) {
      const { request, counted } = edgeWith({ state: { config, ruleset } });
      const body = method === 'POST' ? new URLSearchParams(memberNames.map((name) => [name, name])) : null;
      await request(path, { method, headers: ofChrome, body });
      expect(counted).not.toContain('exceptions');
    }
  });
});

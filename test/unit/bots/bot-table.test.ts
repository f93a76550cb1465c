import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { partsOfFormat } from '../../../src/bots/bot-table.ts';
import { botTableFormats, rulesetFormats } from '../../../src/contract/edge/formats.ts';
import { encodeBotTable, type ListedBot } from '../../../src/bots/encode-bot-table.ts';
import { fitsHostMask } from '../../../src/bots/host-mask.ts';
import { type BotTable, openBotTable } from '../../../src/bots/open-bot-table.ts';

const bot = (id: string, more: Partial<ListedBot> = {}): ListedBot => ({
  id,
  behaviours: ['search'],
  patterns: [id],
  tokens: [],
  ...more,
});
const BING = 'https://www.bing.com/toolbox/bingbot.json';
const OTHER = 'https://example.com/other.json';

function tableOf(bots: ListedBot[], networks: [string, string[]][] = []): BotTable {
  const opened = openBotTable(encodeBotTable({ builtAtMs: 7, bots, networks: new Map(networks) }));
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

describe('a bot table', () => {
  test('gives back every fact of a bot', () => {
    const full = bot('bingbot', {
      behaviours: ['search', 'training', 'other'],
      patterns: ['bingbot', '^Bing/', '*ng-bot'],
      tokens: ['bingbot', 'Bing Bot'],
      dns: ['@.search.msn.com'],
      agents: ['https://bing.example'],
      ranges: [BING],
      isComplete: true,
    });
    const table = tableOf([full, bot('otherbot')]);
    expect(table.builtAtMs).toBe(7);
    expect(table.byId('bingbot')).toEqual({
      id: 'bingbot',
      behaviours: ['search', 'training', 'other'],
      patterns: ['bingbot', '^Bing/', '*ng-bot'],
      tokens: ['bingbot', 'Bing Bot'],
      agents: ['https://bing.example'],
      ranges: [0],
      hasDns: true,
      isComplete: true,
    });
    expect(table.byAgent('https://bing.example')?.id).toBe('bingbot');
    expect(table.byId('nobody')).toBeNull();
    expect(table.byAgent('https://nobody.example')).toBeNull();
  });

  test('finds a name at the start of a word, in any letter case, and asks signs of its place', () => {
    const table = tableOf([
      bot('wordbot'),
      bot('first', { patterns: ['^first'] }),
      bot('inner', { patterns: ['*inner'] }),
    ]);
    for (const text of ['wordbot', 'x WORDBOT/1', 'a (WordBot)', 'xwordbot wordbot']) {
      expect([text, table.identify(text)?.id]).toEqual([text, 'wordbot']);
    }
    for (const text of ['xwordbot', '9wordbot', 'a first']) expect([text, table.identify(text)]).toEqual([text, null]);
    expect(table.identify('First/1')?.id).toBe('first');
    expect(table.identify('dinners')?.id).toBe('inner');
  });

  test('answers the same for a user agent that it remembers', () => {
    const table = tableOf([bot('wordbot')]);
    for (let i = 0; i < 5; i++) {
      expect(table.identify('xwordbot')).toBeNull();
      expect(table.identify('a wordbot')?.id).toBe('wordbot');
    }
  });

  test('takes the bot of the operator where it has the id or the name of a listed one', () => {
    const own = bot('bingbot', { patterns: ['bingbot', 'ourbot'], behaviours: ['monitor'] });
    const thief = bot('ours', { patterns: ['wordbot'] });
    const table = tableOf([bot('bingbot'), bot('wordbot'), own, thief]);
    expect(table.identify('ourbot')).toMatchObject({ id: 'bingbot', behaviours: ['monitor'] });
    expect(table.identify('wordbot')?.id).toBe('ours');
  });

  test('answers for an address by the networks of the bot that is claimed', () => {
    const networks: [string, string[]][] = [[BING, ['157.55.39.0/24', '2620:1ec:8f8::/46']]];
    const table = tableOf(
      [bot('bingbot', { ranges: [BING] }), bot('both', { ranges: [BING, OTHER] }), bot('plain')],
      networks,
    );
    const answer = (id: string, ip: string | null) => table.rangeAnswer(table.byId(id)!, ip);
    expect(answer('bingbot', '157.55.39.1')).toBe('holds');
    expect(answer('bingbot', '2620:1ec:8f9::1')).toBe('holds');
    expect(answer('bingbot', '::ffff:157.55.39.1')).toBe('holds');
    for (const ip of ['192.0.2.1', '157.55.40.1', '2620:1ed::1', 'rubbish', null])
      expect(answer('bingbot', ip)).toBe('fails');
    expect(answer('both', '157.55.39.1')).toBe('holds');
    expect(answer('both', '192.0.2.1')).toBe('unknown');
    expect(answer('plain', '192.0.2.1')).toBe('none');
  });

  test('reads the beginning of a header that is longer than any real one', () => {
    const table = tableOf([bot('wordbot')]);
    expect(table.identify(`wordbot ${'x'.repeat(16_000)}`)?.id).toBe('wordbot');
    expect(table.identify(`${'x '.repeat(8000)}wordbot`)).toBeNull();
  });
});

describe('a bot table of another release', () => {
  /** What a service of the first release made. It never changes. */
  const first = Buffer.from(readFileSync('test/fixtures/edge-formats/GHBOTS02-GHRULES3.base64', 'utf8'), 'base64');
  const opened = (bytes: Uint8Array): BotTable => {
    const table = openBotTable(bytes);
    if (!table.ok) throw new Error(table.error);
    return table.value;
  };

  test('is read as the first release wrote it', () => {
    const table = opened(new Uint8Array(first));
    expect(table.identify('Mozilla/5.0 (compatible; bingbot/2.0)')).toEqual({
      id: 'bingbot',
      behaviours: ['search', 'other'],
      patterns: ['bingbot', '^Bing/'],
      tokens: ['bingbot'],
      agents: ['https://bing.example'],
      ranges: [0],
      hasDns: true,
      isComplete: true,
    });
    expect(table.rangeAnswer(table.byId('bingbot')!, '157.55.39.1')).toBe('holds');
    expect(table.identify('the OurBot/2')?.id).toBe('ourbot');
  });

  test('counts without a behaviour, a flag and a field that a newer service added', () => {
    // The same bytes in all: the text has room for a tab and a field, because two texts of it are shorter.
    const line = 'bingbot\taj\tdc\tbingbot\u001f^Bing/\tbingbot\thttps://bing.example\t0';
    const newer = 'bingbot\taz\tdcx\tbingbot\u001f^Bing/\tbingbot\thttps://bing.exa\t0\t++';
    const text = first.toString('latin1');
    expect([text.split(line).length, newer.length]).toEqual([2, line.length]);
    const table = opened(new Uint8Array(Buffer.from(text.replace(line, newer), 'latin1')));
    expect(table.identify('bingbot/2')).toMatchObject({ behaviours: ['search', 'other'], hasDns: true });
  });

  test('has a snapshot in a ruleset format that this release reads', () => {
    for (const format of botTableFormats) expect(rulesetFormats).toContain(partsOfFormat(format)[1]);
  });
});

describe('a file that is no bot table', () => {
  const file = encodeBotTable({
    builtAtMs: 7,
    bots: [bot('bingbot', { ranges: [BING] }), bot('wordbot')],
    networks: new Map([[BING, ['157.55.39.0/24']]]),
  });

  test('is refused when it is cut, empty, too long or something else', () => {
    for (const length of [0, 1, 15, 16, 40, file.length >> 1, file.length - 8, file.length - 1]) {
      expect([length, openBotTable(file.slice(0, length)).ok]).toEqual([length, false]);
    }
    expect(openBotTable(new TextEncoder().encode(`<html>${' '.repeat(500)}`)).ok).toBe(false);
    expect(openBotTable(new Uint8Array(9 * 1024 * 1024)).ok).toBe(false);
  });

  test('is refused when one of its lines is no bot, before anyone names that bot', () => {
    const at = Buffer.from(file).indexOf('wordbot\t') + 'wordbot\t'.length;
    const changed = file.slice();
    changed[at] = 'Z'.charCodeAt(0);
    expect([openBotTable(file).ok, openBotTable(changed).ok]).toEqual([true, false]);
  });

  test('opens or is refused but never throws, whichever byte is changed', () => {
    for (let at = 0; at < file.length; at++) {
      for (const value of [0, 255, (file[at] ?? 0) ^ 1]) {
        const changed = file.slice();
        changed[at] = value;
        const opened = openBotTable(changed);
        if (!opened.ok) continue;
        const found = opened.value.identify('a bingbot wordbot');
        if (found !== null) opened.value.rangeAnswer(found, '157.55.39.1');
      }
    }
  });
});

describe('a name in the DNS', () => {
  test('fits a mask with its labels and stars', () => {
    expect(fitsHostMask('msnbot-1.search.msn.com', '@.search.msn.com')).toBe(true);
    expect(fitsHostMask('a.b.search.MSN.com.', '@.search.msn.com')).toBe(true);
    expect(fitsHostMask('google-proxy-1-2-3-4.google.com', 'google-proxy-*.google.com')).toBe(true);
    expect(fitsHostMask('crawl-1.x-2.example.com', 'crawl-*.x-*.example.com')).toBe(true);
    expect(fitsHostMask('a1b2c.example.com', 'a*b*c.example.com')).toBe(true);
  });

  test('does not fit a mask by being like it', () => {
    const below = [
      'search.msn.com',
      'xsearch.msn.com',
      'search.msn.com.evil.example',
      '.search.msn.com',
      'a..search.msn.com',
      '',
    ];
    for (const host of below) expect([host, fitsHostMask(host, '@.search.msn.com')]).toEqual([host, false]);
    for (const host of ['google-proxy-.google.com', 'google-proxy-1.x.google.com', 'a.google-proxy-1.google.com']) {
      expect([host, fitsHostMask(host, 'google-proxy-*.google.com')]).toEqual([host, false]);
    }
    expect(fitsHostMask('abc.example.com', 'a*b*c.example.com')).toBe(false);
    expect(fitsHostMask(`${'a.'.repeat(200)}search.msn.com`, '@.search.msn.com')).toBe(false);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { expandPattern } from '../../../scripts/bots/expand-pattern.ts';
import { patternText } from '../../../src/bots/bot-table.ts';
import { catalogue } from '../../../src/bots/catalogue.ts';
import { encodeBotTable } from '../../../src/bots/encode-bot-table.ts';
import { openBotTable } from '../../../src/bots/open-bot-table.ts';

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const listed = catalogue.parse(json('src/bots/catalogue.json'));
const knownBots = json('scripts/bots/sources/well-known-bots.json') as {
  id: string;
  accepted: string[];
  forbidden: string[];
}[];
const agents = json('scripts/bots/sources/ai-robots-txt.json') as { token: string }[];
const { patterns: byHand, wins } = json('scripts/bots/patterns.json') as {
  patterns: Record<string, string[]>;
  wins: [string, string][];
};
const { userAgents } = json('test/fixtures/bots/user-agents.json') as { userAgents: string[] };

/** Tokens of robots.txt that no request carries. */
const withoutUserAgent = new Set(['Google-Extended', 'Applebot-Extended']);

const opened = openBotTable(encodeBotTable({ builtAtMs: 1, bots: listed.bots, networks: new Map() }));
if (!opened.ok) throw new Error(opened.error);
const table = opened.value;

/** The id in the catalogue of a bot of the first source: who has its patterns. */
function listedId({ id, accepted }: { id: string; accepted: string[] }): string {
  const texts = (byHand[id] ?? accepted.flatMap(expandPattern)).map((text) => patternText(text).toLowerCase());
  const owners = listed.bots.filter(({ patterns }) =>
    patterns.some((one) => texts.includes(patternText(one).toLowerCase())),
  );
  return owners.length === 1 ? (owners[0]?.id ?? '') : `${id} is listed ${owners.length} times`;
}

const expressions = knownBots.map((bot) => ({
  id: listedId(bot),
  accepted: bot.accepted.map((one) => new RegExp(one)),
  forbidden: bot.forbidden.map((one) => new RegExp(one)),
}));
const idOf = (source: string): string => listedId(knownBots.find(({ id }) => id === source)!);
const winners = new Map(wins.map(([loser, winner]) => [`${idOf(loser)} ${idOf(winner)}`, true]));

/** Whom the expressions of the first source find in a user agent. */
function expected(userAgent: string): string[] {
  const found = expressions.filter(
    ({ accepted, forbidden }) =>
      accepted.every((one) => one.test(userAgent)) && !forbidden.some((one) => one.test(userAgent)),
  );
  return found.map(({ id }) => id);
}

describe('the catalogue', () => {
  test('has every bot of both of its sources, each under one id', () => {
    expect(expressions.filter(({ id }) => !listed.bots.some((bot) => bot.id === id))).toEqual([]);
    const tokens = new Set(listed.bots.flatMap((bot) => bot.tokens.map((token) => token.toLowerCase())));
    const missing = agents.filter(({ token }) => !tokens.has(token.replace(/\/.*$/, '').toLowerCase()));
    expect(missing).toEqual([]);
    expect(new Set(listed.bots.map(({ id }) => id)).size).toBe(listed.bots.length);
  });

  test('says where each bot comes from and under which licence, and names only permissive ones', () => {
    const { sources } = listed;
    expect(listed.bots.flatMap((bot) => bot.sources).filter((name) => sources[name] === undefined)).toEqual([]);
    expect(new Set(Object.values(sources).map(({ licence }) => licence))).toEqual(new Set(['MIT', 'Apache-2.0']));
  });

  test('has a form for each list of networks that a bot names, and only bots with proofs are complete', () => {
    const urls = new Set(listed.rangeSources.map(({ url }) => url));
    expect(listed.bots.flatMap(({ ranges = [] }) => ranges).filter((url) => !urls.has(url))).toEqual([]);
    const complete = listed.bots.filter(({ isComplete }) => isComplete);
    expect(complete.filter(({ ranges = [], dns = [] }) => ranges.length + dns.length === 0)).toEqual([]);
  });

  test('lets the previews of links and the readers of feeds be nothing else', () => {
    const previews = ['facebookexternalhit', 'twitterbot', 'discordbot', 'slackbot', 'telegrambot', 'whatsapp'];
    for (const id of previews) expect([id, table.byId(id)?.behaviours]).toEqual([id, ['preview']]);
    for (const id of ['feedly', 'feedbin', 'inoreader']) expect(table.byId(id)?.behaviours).toEqual(['feed']);
  });
});

describe('a user agent', () => {
  test('of the published lists is identified as the bot that the lists say it is', () => {
    const wrong: string[] = [];
    let known = 0;
    for (const userAgent of userAgents) {
      const wanted = expected(userAgent);
      if (wanted.length === 0) continue;
      known++;
      const got = table.identify(userAgent)?.id ?? 'nobody';
      const isRight = wanted.includes(got) || wanted.some((one) => winners.has(`${one} ${got}`));
      if (!isRight) wrong.push(`${got} instead of ${wanted.join(' or ')}: ${userAgent}`);
    }
    expect(wrong).toEqual([]);
    expect(known).toBeGreaterThan(1190);
  });

  test('that is the name of an AI agent is identified as that agent', () => {
    for (const { token } of agents) {
      if (withoutUserAgent.has(token)) continue;
      const bot = table.identify(token);
      const isOwn = bot?.tokens.some((one) => one.toLowerCase() === token.replace(/\/.*$/, '').toLowerCase());
      expect([token, isOwn]).toEqual([token, true]);
    }
  });

  test('with two names is the bot with the longer one', () => {
    expect(
      table.identify('Mozilla/5.0 (compatible; heritrix/3.3.0 +http://archive.org/details/archive.org_bot)')?.id,
    ).toBe('archive.org-bot');
    expect(table.identify('Googlebot-Image/1.0')?.id).toBe('googlebot-image');
    expect(table.identify('Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)')?.id).toBe(
      'feedly',
    );
  });

  test('of a browser is nobody, also where a name is inside another word', () => {
    const browsers = [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
      'Mozilla/5.0 (Linux; Android 14; Panasonic KX) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
      'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36 Kayak/245.1',
      '',
    ];
    for (const browser of browsers) expect([browser, table.identify(browser)?.id]).toEqual([browser, undefined]);
  });
});

describe('a regular expression of a source', () => {
  test('becomes the texts that it matches', () => {
    expect(expandPattern('Googlebot\\/')).toEqual(['Googlebot/']);
    expect(expandPattern('Ahrefs(Bot|SiteAudit)')).toEqual(['AhrefsBot', 'AhrefsSiteAudit']);
    expect(expandPattern('^curl')).toEqual(['^curl']);
    expect(expandPattern('(^| )sentry\\/')).toEqual(['sentry/']);
    expect(expandPattern('Face(book){0,1}[Bb]ot')).toEqual(['FaceBot', 'FacebookBot']);
    expect(expandPattern('AI2Bot\\s')).toEqual(['AI2Bot']);
  });

  test('is refused where it is more than names', () => {
    for (const source of ['a.b', 'x\\d', '[ab]c', 'a+', '(a|b', 'x$', 'Spider[\\s\\S]*x', '[^-]']) {
      expect(() => expandPattern(source), source).toThrow('by hand');
    }
  });
});

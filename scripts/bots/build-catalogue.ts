/**
 * Builds `src/bots/catalogue.json` from the local copies of its sources and from our own tables:
 * `behaviours.json` says what each bot comes for, `proofs.json` what proves its name, `patterns.json` has patterns that
 * are written by hand and entries of two sources that are one bot, `names.json` tokens, ids and bots of our own. It fails
 * when a source has something that no table covers. `--check` compares instead of writing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalogue, catalogue, type CatalogueBot, type RangeSource } from '../../src/bots/catalogue.ts';
import type { NamedBehaviour } from '../../src/contract/vocabulary.ts';
import { entryLines } from '../compact-json.ts';
import { expandPattern } from './expand-pattern.ts';

const OUT = 'src/bots/catalogue.json';

interface KnownBot {
  id: string;
  categories: string[];
  accepted: string[];
  forbidden: string[];
}
interface Agent {
  token: string;
  operator: string;
  function: string;
}
type Behaviours = NamedBehaviour[];
interface Tables {
  behaviours: Record<'categories' | 'functions' | 'bots' | 'agents', Record<string, Behaviours>>;
  patterns: Record<'patterns' | 'agents', Record<string, string[]>> & { sameAs: Record<string, string> };
  names: {
    tokens: Record<string, string[]>;
    ids: Record<string, string>;
    operators: Record<string, string>;
    additions: Omit<CatalogueBot, 'sources'>[];
  };
  proofs: {
    forms: Record<string, Omit<RangeSource, 'url'>>;
    groups: (Pick<CatalogueBot, 'ranges' | 'dns' | 'agents' | 'isComplete'> & { bots: string[] })[];
  };
}

const read = (name: string): unknown => JSON.parse(readFileSync(join('scripts/bots', name), 'utf8'));

const SOURCES: Catalogue['sources'] = {
  'well-known-bots': {
    url: 'https://github.com/arcjet/well-known-bots',
    version: 'aab29aa36e7b1261fe6262394e757056ecd50e07',
    licence: 'MIT',
    copyright: 'Copyright (c) 2017 Martin Monperrus',
  },
  'ai.robots.txt': {
    url: 'https://github.com/ai-robots-txt/ai.robots.txt',
    version: '0037a9e2c5ff58cf85b1be890b1d31d5e6a57470',
    licence: 'MIT',
    copyright: 'Copyright (c) 2024 ai.robots.txt',
  },
  gatehouse: {
    url: 'scripts/bots',
    version: 'this repository',
    licence: 'Apache-2.0',
    copyright: 'The Gatehouse authors',
  },
};

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');

const fold = (text: string): string => text.toLowerCase();
/** Texts without the sign in front and the slash behind, for comparison. */
const plain = (pattern: string): string => pattern.replace(/^[*^]/, '').replace(/\/$/, '').toLowerCase();

function buildCatalogue(): Catalogue {
  const knownBots = read('sources/well-known-bots.json') as KnownBot[];
  const agents = read('sources/ai-robots-txt.json') as Agent[];
  const behaviours = read('behaviours.json') as Tables['behaviours'];
  const patterns = read('patterns.json') as Tables['patterns'];
  const names = read('names.json') as Tables['names'];
  const proofs = read('proofs.json') as Tables['proofs'];

  /** By the name in its source. Several names can lead to one bot. */
  const entries = new Map<string, CatalogueBot>();
  for (const bot of knownBots) entries.set(bot.id, fromKnownBot(bot, { behaviours, patterns, names }));
  // Names of the same bot come after the names that they lead to.
  const isSame = ({ token }: Agent): number => Number(token in patterns.sameAs);
  for (const agent of agents.toSorted((a, b) => isSame(a) - isSame(b))) {
    addAgent(entries, agent, { behaviours, patterns, names });
  }
  for (const addition of names.additions) entries.set(addition.id, { ...addition, sources: ['gatehouse'] });

  for (const { bots, ...proof } of proofs.groups) {
    for (const name of bots) {
      const bot = entries.get(name);
      if (bot === undefined) throw new Error(`proofs.json names ${name}, which no source has`);
      Object.assign(bot, proof);
    }
  }
  for (const [name, id] of Object.entries(names.ids)) {
    const bot = entries.get(name);
    if (bot === undefined) throw new Error(`names.json names ${name}, which no source has`);
    bot.id = id;
  }
  const bots = [...new Set(entries.values())].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const [i, bot] of bots.entries()) {
    if (bot.id === bots[i + 1]?.id)
      throw new Error(`Two bots have the id ${bot.id}: ${bot.name}, ${bots[i + 1]?.name}`);
  }
  refuseDoubles(bots);
  const urls = [...new Set(bots.flatMap(({ ranges = [] }) => ranges))].toSorted((a, b) => (a < b ? -1 : 1));
  const rangeSources = urls.map((url): RangeSource => ({ url, form: 'prefixes', ...proofs.forms[url] }));
  return catalogue.parse({ sources: SOURCES, rangeSources, bots });
}

function fromKnownBot(bot: KnownBot, { behaviours, patterns, names }: Omit<Tables, 'proofs'>): CatalogueBot {
  const { id, categories, accepted } = bot;
  if (accepted.length > 1 && !(id in patterns.patterns)) throw new Error(`Write a pattern by hand for ${id}`);
  const texts = patterns.patterns[id] ?? accepted.flatMap(expandPattern);
  const own = behaviours.bots[id] ?? [...new Set(categories.flatMap((one) => behaviours.categories[one] ?? []))];
  const tokens = names.tokens[id] ?? (categories.includes('programmatic') ? [] : texts.map(tokenOf).filter(isToken));
  const operator = categories.map((one) => names.operators[one]).find((one) => one !== undefined);
  return {
    id: slug(tokens[0] ?? texts[0] ?? id),
    name: tokens[0] ?? texts[0] ?? id,
    ...(operator === undefined ? {} : { operator }),
    behaviours: own.length === 0 ? ['other'] : own,
    patterns: texts,
    tokens,
    sources: ['well-known-bots'],
  };
}

const tokenOf = (text: string): string => text.replace(/^\^/, '').replace(/\/$/, '');
const isToken = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(text);

function addAgent(entries: Map<string, CatalogueBot>, agent: Agent, tables: Omit<Tables, 'proofs'>): void {
  const { behaviours, patterns } = tables;
  const { token, operator } = agent;
  const texts = patterns.agents[token] ?? [token];
  const sameAs = patterns.sameAs[token];
  const same = sameAs === undefined ? withPattern(entries, texts, token) : entries.get(sameAs);
  if (sameAs !== undefined && same === undefined)
    throw new Error(`patterns.json has ${token} as ${sameAs}, which is not there`);
  if (same !== undefined) {
    entries.set(token, same);
    // A token is taken with its version cut off, as a crawler reads robots.txt.
    const short = token.replace(/\/.*$/, '');
    if (!same.tokens.some((one) => one.toLowerCase() === short.toLowerCase())) same.tokens.push(short);
    const isCovered = (text: string): boolean => same.patterns.some((one) => fold(text).startsWith(fold(one)));
    same.patterns.push(...texts.filter((text) => !isCovered(text)));
    if (operator !== '') same.operator ??= operator;
    if (!same.sources.includes('ai.robots.txt')) same.sources.push('ai.robots.txt');
    return;
  }
  const own = behaviours.agents[token] ?? behaviours.functions[agent.function];
  if (own === undefined) throw new Error(`behaviours.json has nothing for ${token}`);
  entries.set(token, {
    id: slug(token),
    name: token,
    ...(operator === '' ? {} : { operator }),
    behaviours: [...own],
    patterns: [...texts],
    tokens: [token],
    sources: ['ai.robots.txt'],
  });
}

/** The entry that has one of these patterns already. */
function withPattern(entries: Map<string, CatalogueBot>, texts: string[], token: string): CatalogueBot | undefined {
  const wanted = new Set([...texts, token].map(plain));
  return [...entries.values()].find((bot) => bot.patterns.some((pattern) => wanted.has(plain(pattern))));
}

/** One text names one bot. */
function refuseDoubles(bots: readonly CatalogueBot[]): void {
  const owners = new Map<string, string>();
  for (const { id, patterns } of bots) {
    for (const pattern of patterns) {
      const key = fold(pattern.replace(/^[*^]/, ''));
      const owner = owners.get(key);
      if (owner !== undefined) throw new Error(`${owner} and ${id} both have the pattern ${pattern}`);
      owners.set(key, id);
    }
  }
}

const built = `${entryLines(buildCatalogue(), 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(OUT, built);
else if (readFileSync(OUT, 'utf8') !== built) {
  console.error(`${OUT} is not what its sources and tables make. Run node scripts/bots/build-catalogue.ts.`);
  process.exitCode = 1;
}

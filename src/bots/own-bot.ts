/** A bot that an operator adds to the catalogue, with networks that are written out instead of published. */
import * as z from 'zod/mini';
import { namedBehaviours } from '../contract/vocabulary.ts';
import { patternText } from './bot-table.ts';
import { catalogueBotId, userAgentPattern } from './catalogue.ts';
import type { ListedBot } from './encode-bot-table.ts';
import { checkedNetwork } from './ranges/read-networks.ts';

export const OWN_BOT_PATTERNS_MAX = 16;
export const OWN_BOT_NETWORKS_MAX = 200;
const TOKENS_MAX = 16;
/** A shorter text is in user agents of browsers. */
const PATTERN_MIN_CHARS = 4;
const NETWORK_MAX_CHARS = 49;

/** A name that is in one of these would make a bot of every visitor. */
const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 OPR/125.0.0.0',
  'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.0.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
].map((one) => one.toLowerCase());

const isOfBrowsers = (pattern: string): boolean => {
  const text = patternText(pattern).toLowerCase();
  return BROWSERS.some((browser) => browser.includes(text));
};

const pattern = userAgentPattern.check(
  z.minLength(PATTERN_MIN_CHARS, `must have ${PATTERN_MIN_CHARS} characters at least`),
  z.refine(
    (text) => text.length < PATTERN_MIN_CHARS || !isOfBrowsers(text),
    'is in the user agents of browsers. Name a text that only the bot sends, such as OurBot/',
  ),
);

/** What is wrong with a network, and what to write instead. `null`: nothing. */
function networkFault(text: unknown): string | null {
  const checked = checkedNetwork(String(text));
  if (checked.ok) return null;
  switch (checked.error.kind) {
    case 'too-wide':
      return 'is too wide. Write networks of /8 (IPv6: /19) or narrower that are the bot’s alone';
    case 'reserved':
      return 'is private or reserved, and no request comes from there. Write a network of the internet, such as 198.41.128.0/24';
    default:
      return 'must be a network of the internet, such as 198.41.128.0/24';
  }
}

const unique = z.transform((values: string[]) => [...new Set(values)]);

/** One spelling for each network. */
const network = z.pipe(
  z.string().check(
    z.maxLength(NETWORK_MAX_CHARS),
    z.refine((text) => networkFault(text) === null, { error: ({ input }) => networkFault(input) ?? '' }),
  ),
  z.transform((text) => {
    const checked = checkedNetwork(text);
    return checked.ok ? checked.value : text;
  }),
);

export const ownBot = z
  .strictObject({
    id: catalogueBotId,
    behaviours: z.array(z.enum(namedBehaviours)).check(z.minLength(1), z.maxLength(namedBehaviours.length)),
    patterns: z.array(pattern).check(z.minLength(1), z.maxLength(OWN_BOT_PATTERNS_MAX)),
    tokens: z._default(
      z.array(z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/))).check(z.maxLength(TOKENS_MAX)),
      [],
    ),
    networks: z._default(z.pipe(z.array(network).check(z.maxLength(OWN_BOT_NETWORKS_MAX)), unique), []),
    /** Every request of the bot comes from these networks, so that others with its name are impostors. */
    isComplete: z._default(z.boolean(), false),
  })
  .check(
    z.refine(({ networks, isComplete }) => !isComplete || networks.length > 0, {
      path: ['isComplete'],
      error: 'needs networks: without them nothing proves the bot',
    }),
  );
export type OwnBot = z.infer<typeof ownBot>;

/** As an entry of the table, and its networks under a name that no published list has. */
export function listedOwnBot({ networks, isComplete, ...bot }: OwnBot): {
  bot: ListedBot;
  source: string;
  networks: string[];
} {
  const source = `own:${bot.id}`;
  const proof = networks.length === 0 ? {} : { ranges: [source], ...(isComplete ? { isComplete: true as const } : {}) };
  return { bot: { ...bot, ...proof }, source, networks };
}

/**
 * The schema of the catalogue of bots: who comes, what for, how its requests call themselves, and what proves the name.
 * `catalogue.json` is data that `scripts/bots/build-catalogue.ts` makes.
 */
import * as z from 'zod/mini';
import { namedBehaviours } from '../contract/vocabulary.ts';
import { hostMaskPattern } from './host-mask.ts';

const CATALOGUE_BOTS_MAX = 5000;
export const PATTERN_MAX_CHARS = 128;
export const PATTERNS_PER_BOT_MAX = 16;
const LIST_MAX = 32;

/** `bingbot`, `semrushbot`. */
export const catalogueBotId = z.string().check(z.regex(/^[a-z0-9][a-z0-9.-]{0,63}$/));
const httpsUrl = z
  .string()
  .check(z.maxLength(512), z.regex(/^https:\/\/[a-z0-9.-]+\.[a-z]{2,24}(:\d{1,5})?(\/[^\s#]*)?$/));

/**
 * A text in a user agent, in any letter case, at the beginning of a word: after nothing, or after a character that is
 * neither letter nor digit. `^text` is at the beginning of the user agent, `*text` anywhere.
 */
export const userAgentPattern = z
  .string()
  .check(z.maxLength(PATTERN_MAX_CHARS), z.regex(/^[*^]?[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/));

/** How a list of networks is written. `members`: where the lists are in a JSON document, `a.b` for `b` in `a`. */
export const rangeSource = z.strictObject({
  url: httpsUrl,
  form: z.enum(['prefixes', 'list', 'text', 'geofeed']),
  members: z.optional(z.array(z.string().check(z.regex(/^[\w-]{1,64}(\.[\w-]{1,64}){0,3}$/))).check(z.maxLength(8))),
});
export type RangeSource = z.infer<typeof rangeSource>;

const list = <Item extends z.ZodMiniType>(item: Item) => z.array(item).check(z.maxLength(LIST_MAX));

export const catalogueBot = z.strictObject({
  id: catalogueBotId,
  name: z.string().check(z.minLength(1), z.maxLength(128)),
  operator: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
  behaviours: list(z.enum(namedBehaviours)).check(z.minLength(1)),
  /** None for a token of robots.txt that no request carries, such as `Google-Extended`. */
  patterns: z.array(userAgentPattern).check(z.maxLength(PATTERNS_PER_BOT_MAX)),
  /** Product tokens of robots.txt. */
  tokens: list(z.string().check(z.maxLength(64), z.regex(/^[A-Za-z0-9][A-Za-z0-9 ._!/-]*$/))),
  /** Where the operator publishes the networks of its bot. */
  ranges: z.optional(list(httpsUrl)),
  /** Names of the bot's addresses (`host-mask.ts`). */
  dns: z.optional(list(z.string().check(z.regex(hostMaskPattern)))),
  /** `Signature-Agent` addresses whose signatures are the bot's. */
  agents: z.optional(list(httpsUrl)),
  /** The operator says that every request of the bot can be proved by what is listed here. */
  isComplete: z.optional(z.literal(true)),
  /** Names of `sources` that the entry comes from. */
  sources: list(z.string()).check(z.minLength(1)),
});
export type CatalogueBot = z.infer<typeof catalogueBot>;

export const catalogue = z.strictObject({
  sources: z.record(
    z.string(),
    z.strictObject({
      url: z.string(),
      version: z.string(),
      licence: z.enum(['MIT', 'Apache-2.0']),
      copyright: z.string(),
    }),
  ),
  rangeSources: z.array(rangeSource),
  bots: z.array(catalogueBot).check(z.maxLength(CATALOGUE_BOTS_MAX)),
});
export type Catalogue = z.infer<typeof catalogue>;

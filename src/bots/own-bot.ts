/** A bot that an operator adds to the catalogue, with networks that are written out instead of published. */
import * as z from 'zod/mini';
import { formatCidr, parseCidr } from '../address/ip.ts';
import { botBehaviours } from '../contract/vocabulary.ts';
import { botId, userAgentPattern } from './catalogue.ts';
import type { ListedBot } from './encode-bot-table.ts';
import { isReserved } from './ranges/reserved.ts';

/** A shorter text is in user agents of browsers. */
const PATTERN_MIN_CHARS = 4;
const NETWORKS_MAX = 200;

/** One spelling for each network. Reserved ones are refused: requests do not come from there. */
const network = z.pipe(
  z.string().check(
    z.maxLength(49),
    z.refine((text) => {
      const prefix = parseCidr(text);
      return prefix !== null && prefix.prefixLength >= 8 && !isReserved(prefix);
    }, 'must be a network of the internet, such as 198.41.128.0/24'),
  ),
  z.transform((text) => {
    const prefix = parseCidr(text);
    return prefix === null ? text : formatCidr(prefix);
  }),
);

export const ownBot = z.strictObject({
  id: botId,
  behaviours: z.array(z.enum(botBehaviours)).check(z.minLength(1), z.maxLength(botBehaviours.length)),
  patterns: z.array(userAgentPattern.check(z.minLength(PATTERN_MIN_CHARS))).check(z.minLength(1), z.maxLength(16)),
  tokens: z._default(
    z.array(z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/))).check(z.maxLength(16)),
    [],
  ),
  networks: z._default(z.array(network).check(z.maxLength(NETWORKS_MAX)), []),
  /** Every request of the bot comes from these networks, so that others with its name are impostors. */
  isComplete: z._default(z.boolean(), false),
});
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

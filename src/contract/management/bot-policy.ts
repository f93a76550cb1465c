/**
 * What an instance does with bots that say who they are: an action for each behaviour, and exceptions. Its paths follow
 * RFC 9309, so that robots.txt can say the same. See docs/bots.md.
 */
import * as z from 'zod/mini';
import { type BotAction, botActions, type BotBehaviour, botBehaviours, botPresets } from '../vocabulary.ts';

export const BOT_OVERRIDES_MAX = 200;

const action = z.enum(botActions);

export const policyBotId = z.string().check(z.regex(/^[a-z0-9][a-z0-9._:-]{0,127}$/));

/** As in robots.txt: `*` stands for any characters, `$` at the end for the end of the address. 8 stars at most. */
export const botPath = z.string().check(z.maxLength(256), z.regex(/^(?=[/*])(?:[!-"$-)+-~]*\*){0,8}[!-"$-)+-~]*$/));

const override = z
  .strictObject({
    bot: z.optional(policyBotId),
    behaviour: z.optional(z.enum(botBehaviours)),
    path: z.optional(botPath),
    action,
  })
  .check(
    z.refine(
      ({ bot, behaviour, path }) => (bot ?? behaviour ?? path) !== undefined,
      'must name a bot, behaviour or path',
    ),
    z.refine(({ bot, behaviour }) => bot === undefined || behaviour === undefined, 'must not name bot and behaviour'),
  );

const behaviours = z.strictObject(
  Object.fromEntries(botBehaviours.map((name) => [name, z.optional(action)])) as Record<
    BotBehaviour,
    z.ZodMiniOptional<typeof action>
  >,
);

export const botPolicy = z
  .strictObject({
    /** What each behaviour gets that `behaviours` does not name. */
    preset: z._default(z.enum(botPresets), 'search-only'),
    behaviours: z._default(behaviours, {}),
    /** A bot whose name is not proved gets this, or what its name gets where that is stricter. */
    claimed: z._default(action, 'inherit'),
    /** So does one that is provably not the bot of that name. */
    impostor: z._default(action, 'challenge'),
    /** The longest path that matches counts; of two for the same path, the one that names the bot. */
    overrides: z._default(z.array(override).check(z.maxLength(BOT_OVERRIDES_MAX)), []),
    /** What `charge` asks for. The gate settles nothing. */
    charge: z._default(
      z.nullable(
        z.strictObject({
          price: z.string().check(z.regex(/^[A-Z]{3} \d{1,9}(?:\.\d{1,9})?$/, 'must be like "USD 0.01"')),
          licenseUrl: z.string().check(z.maxLength(2048), z.regex(/^https:\/\/[!#-;=?-~]+$/)),
        }),
      ),
      null,
    ),
    robots: z._default(z.strictObject({ serve: z._default(z.boolean(), true) }), { serve: true }),
    /** `once`: a signature proves an agent only with a nonce that nobody used before. */
    signatures: z._default(z.strictObject({ nonce: z._default(z.enum(['ignore', 'once']), 'ignore') }), {
      nonce: 'ignore',
    }),
  })
  .check(
    z.refine(
      (policy) => policy.charge !== null || !everyAction(policy).includes('charge'),
      'must have a charge where an action is "charge"',
    ),
  );
export type BotPolicy = z.infer<typeof botPolicy>;

function everyAction(policy: {
  behaviours: Partial<Record<BotBehaviour, BotAction | undefined>>;
  claimed: BotAction;
  impostor: BotAction;
  overrides: readonly { action: BotAction }[];
}): (BotAction | undefined)[] {
  const { behaviours: named, claimed, impostor, overrides } = policy;
  return [...Object.values(named), claimed, impostor, ...overrides.map((one) => one.action)];
}

/**
 * The form of an instance's policy, as the edge's config carries it. The service takes only what `instance-policy.ts`
 * accepts, and fills in what is missing. The edge checks types, so that damage is refused, and carries neither bounds nor
 * defaults. Fields that it does not know are dropped, and words that it does not know count as the one that stands behind
 * the list, so that it accepts the policy of a newer service.
 */
import * as z from 'zod/mini';
import {
  botActions,
  botBehaviours,
  botPresets,
  challengeKinds,
  decisions,
  ipCategories,
  pathActions,
  pathTypes,
  pendingActions,
} from '../vocabulary.ts';
import { knownItems, knownWord } from '../known-words.ts';
import { botPolicyDefault } from './bot-policy-default.ts';
import type { InstancePolicy } from './instance-policy.ts';

const text = z.string();
const number = z.number();
const flag = z.boolean();
const pathType = knownWord(pathTypes, 'html');

/** An action for each of these names, or none. */
function actionsOf<Name extends string, Action extends z.ZodMiniType>(
  names: readonly Name[],
  one: Action,
): z.ZodMiniObject<Record<Name, z.ZodMiniOptional<Action>>, z.core.$strip> {
  return z.object(
    Object.fromEntries(names.map((name) => [name, z.optional(one)])) as Record<Name, z.ZodMiniOptional<Action>>,
  );
}

const botPolicyForm = z.object({
  preset: knownWord(botPresets, 'search-only'),
  behaviours: actionsOf(botBehaviours, knownWord(botActions, undefined)),
  claimed: knownWord(botActions, 'inherit'),
  impostor: knownWord(botActions, 'challenge'),
  // Without its behaviour, an override would be about every bot.
  overrides: knownItems(
    z.object({
      bot: z.optional(text),
      behaviour: z.optional(z.enum(botBehaviours)),
      path: z.optional(text),
      action: z.enum(botActions),
    }),
  ),
  charge: z.nullable(z.object({ price: text, licenseUrl: text })),
  robots: z.object({ serve: flag }),
  signatures: z.object({ nonce: knownWord(['ignore', 'once'], 'once') }),
});

const enforcement = z.object({
  onPending: knownWord(pendingActions, 'budget'),
  onChallenge: knownWord(decisions, 'challenge'),
  onError: knownWord(decisions, 'allow'),
});
const optionalText = z.optional(text);

export const policyForm = z.object({
  hosts: z.array(text),
  ipCategoryRules: actionsOf(ipCategories, knownWord(decisions, 'challenge')),
  challengeThreshold: number,
  blockThreshold: number,
  challengeDifficulty: z.array(
    z.object({
      minScore: number,
      captchaType: z.optional(knownWord(challengeKinds, undefined)),
      powDifficulty: z.optional(number),
    }),
  ),
  defaultPathType: pathType,
  endpointRules: z.array(z.object({ pattern: text, pathType })),
  pathRules: z.array(
    z.object({
      pattern: text,
      methods: z.optional(z.array(text)),
      action: knownWord(pathActions, 'inherit'),
      waiveSession: flag,
    }),
  ),
  enforcementPolicy: z.object({ html: enforcement, json: enforcement }),
  pendingBudget: number,
  // An older service meters no session.
  pace: z._default(z.object({ html: number, json: number }), { html: 0, json: 0 }),
  botPolicy: z._default(botPolicyForm, botPolicyDefault),
  sessionsEnabled: flag,
  autoInject: flag,
  monitor: flag,
  rollout: number,
  clearanceSeconds: number,
  clearanceLevel: number,
  branding: z.object({
    name: optionalText,
    logoUrl: optionalText,
    primaryColor: optionalText,
    backgroundColor: optionalText,
    textColor: optionalText,
    title: optionalText,
    message: optionalText,
    supportUrl: optionalText,
    privacyUrl: optionalText,
    contact: optionalText,
  }),
  submission: z.object({ tokenField: text, jsonPath: text, forwardToken: flag }),
}) satisfies z.ZodMiniType<InstancePolicy>;

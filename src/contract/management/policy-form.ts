/**
 * The form of an instance's policy, as the edge's config carries it. The service takes only what `instance-policy.ts`
 * accepts, and fills in what is missing. The edge checks types and words, so that damage is refused, and carries neither
 * bounds nor defaults. What it does not know is dropped, so that it accepts the policy of a newer service.
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
import { botPolicyDefault } from './bot-policy-default.ts';
import type { InstancePolicy } from './instance-policy.ts';

const text = z.string();
const number = z.number();
const flag = z.boolean();
const decision = z.enum(decisions);
const pathType = z.enum(pathTypes);
const action = z.enum(botActions);

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
  preset: z.enum(botPresets),
  behaviours: actionsOf(botBehaviours, action),
  claimed: action,
  impostor: action,
  overrides: z.array(
    z.object({ bot: z.optional(text), behaviour: z.optional(z.enum(botBehaviours)), path: z.optional(text), action }),
  ),
  charge: z.nullable(z.object({ price: text, licenseUrl: text })),
  robots: z.object({ serve: flag }),
  signatures: z.object({ nonce: z.enum(['ignore', 'once']) }),
});

const enforcement = z.object({ onPending: z.enum(pendingActions), onChallenge: decision, onError: decision });
const optionalText = z.optional(text);

export const policyForm = z.object({
  hosts: z.array(text),
  ipCategoryRules: actionsOf(ipCategories, decision),
  challengeThreshold: number,
  blockThreshold: number,
  challengeDifficulty: z.array(
    z.object({
      minScore: number,
      captchaType: z.optional(z.enum(challengeKinds)),
      powDifficulty: z.optional(number),
    }),
  ),
  defaultPathType: pathType,
  endpointRules: z.array(z.object({ pattern: text, pathType })),
  pathRules: z.array(
    z.object({ pattern: text, methods: z.optional(z.array(text)), action: z.enum(pathActions), waiveSession: flag }),
  ),
  enforcementPolicy: z.object({ html: enforcement, json: enforcement }),
  pendingBudget: number,
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

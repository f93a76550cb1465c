/**
 * The form of an instance's policies, as the edge's config carries them. The service takes only what `policy-set.ts`
 * accepts. The edge checks no more than it must to read them one by one: what one of them has that this edge does not know
 * leaves that one out, and never the config.
 */
import * as z from 'zod/mini';
import { knownItems, knownWord } from '../../known-words.ts';
import type { Policy } from './policy.ts';
import { limitActions, limitAlgorithms } from '../../vocabulary.ts';

const anyObject = z.looseObject({});

const policyEntry = z.object({
  name: z.string(),
  when: anyObject,
  then: anyObject,
  mode: knownWord(['enforce', 'monitor'], 'monitor'),
}) as unknown as z.ZodMiniType<Policy>;

/** `kind` and what belongs to it are read where the origin is called: one that this edge does not know fails alone. */
export const originForm = z.object({
  name: z.string(),
  kind: z.string(),
  url: z.optional(z.string()),
  binding: z.optional(z.string()),
  hosts: z.array(z.string()),
});
export type OriginForm = z.infer<typeof originForm>;

const text = z.string();

/**
 * The service takes only what `limit.ts` accepts. The edge checks types and words, and carries no bounds. It leaves out a
 * limit that does not fit.
 */
export const limitForm = z.object({
  name: text,
  key: z.array(text),
  count: z.number(),
  windowSeconds: z.number(),
  algorithm: z.enum(limitAlgorithms),
  on: text,
  then: z.enum(limitActions),
  exact: z.boolean(),
  ifUnreachable: z.optional(z.enum(['open', 'closed'])),
  mode: z.enum(['enforce', 'monitor']),
  loginFailed: z.optional(
    z.object({
      status: z.optional(z.array(z.number())),
      header: z.optional(z.object({ name: text, value: z.optional(text) })),
      usernameField: z.optional(text),
    }),
  ),
});
export type LimitForm = z.infer<typeof limitForm>;

export const policySetForm = z.object({
  version: z.number(),
  policies: z._default(z.array(policyEntry), []),
  limits: knownItems(limitForm),
  origins: z.optional(z.array(originForm)),
});

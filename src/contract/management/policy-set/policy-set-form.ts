/**
 * The form of an instance's policies, as the edge's config carries them. The service takes only what `policy-set.ts`
 * accepts. The edge checks no more than it must to read them one by one: what one of them has that this edge does not know
 * leaves that one out, and never the config.
 */
import * as z from 'zod/mini';
import { knownItems, knownWord } from '../../known-words.ts';
import { limitForm } from '../limit-form.ts';
import type { Policy } from './policy.ts';

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

export const policySetForm = z.object({
  version: z.number(),
  policies: z._default(z.array(policyEntry), []),
  limits: knownItems(limitForm),
  origins: z.optional(z.array(originForm)),
});

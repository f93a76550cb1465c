/**
 * The form of a limit, as the edge's config carries it. The service takes only what `policy-set/limit.ts` accepts. The edge
 * checks types and words, and carries no bounds. It leaves out a limit that does not fit.
 */
import * as z from 'zod/mini';
import { limitActions, limitAlgorithms } from '../vocabulary.ts';

const text = z.string();

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

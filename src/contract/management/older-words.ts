/**
 * A policy as an operator may write it: `captcha` for `challenge`, and `allow` for `pass`, are older words that the
 * management API accepts. What is stored, and what a service of this project sends to its edges, has the current words.
 */
import * as z from 'zod/mini';
import { decisions, pendingActions } from '../vocabulary.ts';
import { actionFields, instancePolicy } from './instance-policy.ts';

const action = z.pipe(
  z.pipe(
    z.enum([...decisions, 'captcha']),
    z.transform((value) => (value === 'captcha' ? ('challenge' as const) : value)),
  ),
  z.enum(decisions),
);

const pendingAction = z.pipe(
  z.pipe(
    z.enum([...pendingActions, 'allow', 'captcha']),
    z.transform((value) =>
      value === 'allow' ? ('pass' as const) : value === 'captcha' ? ('challenge' as const) : value,
    ),
  ),
  z.enum(pendingActions),
);

export const writtenPolicy = z.strictObject({ ...instancePolicy.shape, ...actionFields(action, pendingAction) });

/**
 * The behaviour of a Protect instance as the management API takes it. The API also accepts older words
 * (`older-words.ts`).
 */
import * as z from 'zod/mini';
import { botPolicy } from './bot-policy.ts';
import { botPolicyDefault } from './bot-policy-form.ts';
import { policyFields } from './policy-fields.ts';

export * from './policy-fields.ts';

/** All fields are optional on create and update. */
export const instancePolicy = z.strictObject(policyFields(z._default(botPolicy, botPolicyDefault), z.int));
export type InstancePolicy = z.infer<typeof instancePolicy>;

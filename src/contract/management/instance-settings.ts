/**
 * Everything that an operator sets for a Protect instance: what its edges enforce (`instancePolicy`), what only the service
 * applies, and its identity. Kept apart from `instance-policy.ts`, because an edge never needs it.
 */
import * as z from 'zod/mini';
import { riskDetectors } from '../edge/risk-detectors.ts';
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

/**
 * A policy as an operator may write it: `captcha` for `challenge`, and `allow` for `pass`, are older words that the
 * management API accepts. What is stored, and what a service of this project sends to its edges, has the current words.
 */
export const writtenPolicy = z.strictObject({ ...instancePolicy.shape, ...actionFields(action, pendingAction) });

/** All fields are optional on create and update. A field that a stored or foreign instance lacks gets its default. */
export const instanceSettings = z.strictObject({
  ...writtenPolicy.shape,
  /** Lifetime of a session. */
  jtiExpirySeconds: z._default(z.int().check(z.gte(300), z.lte(31_536_000)), 86_400),
  /** Cookie resets within the window that count as suspicious. */
  cookieCycling: z._default(
    z.strictObject({
      threshold: z.int().check(z.gte(1), z.lte(1000)),
      windowSeconds: z.int().check(z.gte(60), z.lte(86_400)),
    }),
    { threshold: 5, windowSeconds: 3600 },
  ),
  /** `counts`: allow verdicts are counted and not kept as rows. */
  allowVerdicts: z._default(z.enum(['rows', 'counts']), 'rows'),
  retentionDays: z._default(z.int().check(z.gte(1), z.lte(730)), 30),
  /** Detectors that count nothing here, because this site's own visitors trip them. See docs/risk.md. */
  ignoredDetectors: z._default(z.array(z.enum(riskDetectors)).check(z.maxLength(riskDetectors.length)), []),
});
export type InstanceSettings = z.infer<typeof instanceSettings>;

/**
 * What a new instance has where its creation says nothing: it enforces nothing until the operator has read the log, and
 * its pages carry the script that opens sessions, without which visitors could not submit a form. The API, the commands
 * and the local stack all create instances with this schema.
 */
export const newInstanceSettings = z.strictObject({
  ...instanceSettings.shape,
  monitor: z._default(z.boolean(), true),
  autoInject: z._default(z.boolean(), true),
});

export const instanceIdentity = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Host name of the protected site; unique among the active instances of an account. */
  cname: z.string().check(z.minLength(1), z.maxLength(255)),
  globalSiteKey: z.string().check(z.minLength(1), z.maxLength(256)),
});

export interface ProtectInstance extends z.infer<typeof instanceIdentity>, InstanceSettings {
  id: string;
  active: boolean;
  /** Client JWTs issued at or before this time are refused. Epoch milliseconds, or `null`. */
  clientJwtsRevokedBefore: number | null;
  version: number;
  createdAt: number;
  updatedAt: number;
}

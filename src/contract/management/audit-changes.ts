/** What a write changed, as the audit trail keeps it: which things, called as people call them, and what of each. */
import * as z from 'zod/mini';

/** What can change, in words. */
export const changedKinds = [
  'rule',
  'policy',
  'limit',
  'origin',
  'list',
  'instance',
  'attack mode',
  'site',
  'person',
  'API key',
  'alert channel',
  'bot',
  'access control rule',
] as const;
export type ChangedKind = (typeof changedKinds)[number];

/** `named`: the write was about it, and changed nothing that has a value here. */
export const madeChanges = ['added', 'changed', 'deleted', 'moved', 'named'] as const;

export const auditChanges = z.object({
  /** Name of the instance whose rules, policies or lists these are. */
  instance: z.nullable(z.string()),
  counts: z.array(z.object({ kind: z.enum(changedKinds), change: z.enum(madeChanges), count: z.int() })),
  /** The first ten. */
  items: z.array(
    z.object({
      kind: z.enum(changedKinds),
      name: z.string(),
      change: z.enum(madeChanges),
      /** Without `before`: there was none. Of a list with several values, those that went and those that came. */
      fields: z.array(z.object({ field: z.string(), before: z.optional(z.unknown()), after: z.optional(z.unknown()) })),
    }),
  ),
});
export type AuditChanges = z.infer<typeof auditChanges>;

/** Checks of conditions and tests of policies on one request. Nothing is written. */
import * as z from 'zod/mini';
import {
  conditionItem,
  conditionTree,
  limitsField,
  originsField,
  policiesField,
  type PolicySet,
} from '../../../../contract/management/policy-set/policy-set.ts';
import { printExpression } from '../../../../policies/text/print.ts';
import { protectOperation, type Operation, type OperationContext } from '../../define-operation.ts';
import { proposedOver, checkCondition, readPolicySet } from './read-set.ts';
import { policyAction, policyMode, type Policy } from '../../../../contract/management/policy-set/policy.ts';
import { requestReference } from '../../../../contract/management/verdict-query.ts';
import { compilePolicies } from '../../../../policies/compile/compile-policies.ts';
import type { PolicyRequest } from '../../../../policies/request.ts';
import { OperationError } from '../../operation-error.ts';
import { answeredBy, instanceOfCall, chosenSiteKey } from '../chosen-instance.ts';
import { findVerdict, type FoundVerdict } from '../verdicts/find-reference.ts';
import { givenRequest, describedRequest, loggedRequest, unloggedFields } from './policy-requests.ts';
import { currentGate } from '../replay/current-gate.ts';
import {
  isUntouchable,
  policyParts,
  type PolicyParts,
  replay,
  type ReplayedOutcome,
  replayedOutcomes,
} from '../replay/gate-replay.ts';
import { outcomeOfRecord } from '../replay/previewed-requests.ts';
import { SET_BODY_MAX_BYTES, setOfVersion } from './stored-set.ts';

export const policyTestOperations: readonly Operation[] = [
  /** One condition in both forms, or what is wrong with it and where. */
  protectOperation({
    name: 'check-policy',
    path: '/protect/policies/check',
    access: 'read',
    summary: 'Check a condition and return both of its forms',
    body: z.strictObject({ when: conditionItem }),
    response: z.object({
      ok: z.boolean(),
      /** In canonical form; `null` where `ok` is false. */
      when: z.nullable(conditionTree),
      text: z.nullable(z.string()),
      error: z.nullable(
        z.object({
          message: z.string(),
          /** Of the text form: in UTF-16 code units from its start. */
          offset: z.nullable(z.int()),
          line: z.nullable(z.int()),
          column: z.nullable(z.int()),
          /** Of the tree: the bad part, such as `and.0.value`. */
          path: z.nullable(z.string()),
        }),
      ),
    }),
    async handler({ body }) {
      const read = checkCondition(body.when);
      if (read.ok) return { ok: true, when: read.value, text: printExpression(read.value), error: null };
      const { message, place, path } = read.error;
      const { offset = null, line = null, column = null } = place ?? {};
      return { ok: false, when: null, text: null, error: { message, offset, line, column, path } };
    },
  }),
  /**
   * Which policies apply to one request, and what they say of it. The request is described by the caller, or it is a
   * logged one; of a logged one, headers, cookies and query are not known any more.
   */
  protectOperation({
    name: 'test-policies',
    path: '/protect/policies/test',
    access: 'read',
    summary: 'Test policies on one request',
    maxBodyBytes: SET_BODY_MAX_BYTES,
    body: z.strictObject({
      siteKey: chosenSiteKey,
      /** The policies to test. Absent: the current ones. */
      policies: policiesField,
      limits: limitsField,
      origins: originsField,
      request: z.optional(givenRequest),
      /** Of a logged request, instead of `request`. */
      requestId: z.optional(requestReference),
    }),
    response: z.object({
      /** The policies that apply, or may apply, in their order. The first enforced one that decides ends the search. */
      policies: z.array(
        z.object({ name: z.string(), applies: z.enum(['yes', 'unknown']), mode: policyMode, then: policyAction }),
      ),
      /** What the policies say together. Access rules, bots, risk and limits may decide otherwise. */
      result: z.object({
        verdict: z.nullable(z.object({ policy: z.string(), action: z.string(), level: z.int() })),
        redirect: z.nullable(z.object({ policy: z.string(), location: z.string(), status: z.int() })),
        skipSession: z.boolean(),
        limits: z.array(z.string()),
        origin: z.nullable(z.string()),
      }),
      /** Fields that are not known of this request. */
      unknown: z.array(z.string()),
      /**
       * Of a logged request: what was decided, and every decision that these policies could lead to. `null`, too, where the
       * log does not have what was decided from.
       */
      logged: z.nullable(
        z.object({
          before: z.enum(replayedOutcomes),
          after: z.array(z.enum(replayedOutcomes)),
          decidedBy: z.string(),
        }),
      ),
    }),
    async handler({ body: given, ...context }) {
      if ((given.request === undefined) === (given.requestId === undefined)) {
        throw new OperationError('API.INVALID_BODY', 'Send request or requestId', [
          { path: 'request', message: 'is required, or requestId, but not both' },
        ]);
      }
      const found = given.requestId === undefined ? null : await logged(context, given.requestId, given.siteKey);
      const instance = found?.instance ?? (await instanceOfCall(context, given.siteKey));
      const current = await setOfVersion(context, instance, instance.policyVersion);
      const set = readPolicySet(proposedOver(current, given));
      const request = found
        ? loggedRequest(found.record)
        : await describedRequest(context, instance, given.request as z.infer<typeof givenRequest>);
      const parts = policyParts(set);
      const outcome = found ? parts.policies.preview(request).outcome : parts.policies.evaluate(request);
      const { verdict, redirect, skipSession, limits, origin } = outcome;
      return {
        policies: set.policies.flatMap((policy) => appliesTo(policy, set, request)),
        result: {
          verdict: verdict && { policy: verdict.name, action: verdict.action, level: verdict.level },
          redirect: redirect && { policy: redirect.name, location: redirect.location, status: redirect.status },
          skipSession,
          limits: [...limits],
          origin,
        },
        unknown: found ? [...unloggedFields] : [],
        logged: found && (await replayed(context, found, parts)),
      };
    },
  }),
];

/** Each policy alone, as if it were enforced, so that none hides the ones behind it. */
function appliesTo(policy: Policy, { limits }: PolicySet, request: PolicyRequest): object[] {
  const { name, mode, then } = policy;
  const alone = compilePolicies([{ ...policy, mode: 'enforce' }], new Set(limits.map((limit) => limit.name)));
  const { outcome, unsure } = alone.preview(request);
  const isKnown = request.headers !== undefined;
  const fires = isKnown ? alone.evaluate(request).fired.length > 0 : outcome.fired.length > 0;
  if (fires) return [{ name, applies: 'yes', mode, then }];
  return unsure.length > 0 ? [{ name, applies: 'unknown', mode, then }] : [];
}

/** `null`: no policy can change what this request got, or the log does not have what was decided from. */
async function replayed(
  { store, nowMs }: Pick<OperationContext<unknown>, 'store' | 'nowMs'>,
  { record, instance }: FoundVerdict,
  parts: PolicyParts,
): Promise<{ before: ReplayedOutcome; after: ReplayedOutcome[]; decidedBy: string } | null> {
  if (record.inputs === undefined) return null;
  const gate = await currentGate(store, instance, nowMs);
  if (isUntouchable(record, gate)) return null;
  const { branches } = replay(record, { ...gate, ...parts });
  if (branches === null) return null;
  const after = new Set(branches.map(({ outcome }) => outcome));
  return { before: outcomeOfRecord(record), after: [...after], decidedBy: branches[0].decidedBy };
}

async function logged(
  context: Pick<OperationContext<unknown>, 'store' | 'account' | 'nowMs' | 'responseHeaders'>,
  requestId: string,
  wantedSiteKey: string | undefined,
): Promise<FoundVerdict> {
  const found = await findVerdict(context, requestId, wantedSiteKey);
  if (found === null) {
    throw new OperationError('API.NOT_FOUND', 'No verdict has this reference. A verdict arrives within seconds');
  }
  answeredBy(context, found.instance);
  return found;
}

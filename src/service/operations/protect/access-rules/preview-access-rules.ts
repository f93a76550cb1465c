/**
 * `POST /protect/access-rules/preview`: a dry run. It counts how many logged requests of a window the proposed rules
 * would have decided differently, next to the rules that fired then, with samples. It reads the newest records of the
 * window up to a limit, and says whether those were all.
 */
import * as z from 'zod/mini';
import { edgeRuleInput } from '../../../../contract/management/edge-rule.ts';
import { instant } from '../../../../contract/management/verdict-query.ts';
import { verdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { decisions } from '../../../../contract/vocabulary.ts';
import type { Decision } from '../../../../contract/vocabulary.ts';
import { RulesetCompiler } from '../../../../rules/compiler.ts';
import { createRuleset } from '../../../../rules/ruleset.ts';
import { openSnapshot } from '../../../../rules/snapshot.ts';
import type { EdgeRule } from '../../../../rules/types.ts';
import { everything } from '../../../../store/event-log/row-filter.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { RowKey } from '../../../../store/event-log/log-row.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { logTarget } from '../verdicts/verdict-log-query.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import { checkedRules } from './check-rules.ts';
import { siteKey } from './instance-rule-book.ts';
import { isoTime } from './rule-response.ts';
import { whatIf } from './what-if.ts';
import type { Proposal, WhatIf } from './what-if.ts';
import type { ServiceStore } from '../../../environment.ts';

const DAY_MS = 86_400_000;
/** A few seconds of work. Of a busy site these are the last minutes, of a quiet site the whole week. */
const EXAMINED_MAX_RECORDS = 20_000;
const PAGE_RECORDS = 1000;
/** Of each change, so that a frequent one does not hide a rare one. */
const SAMPLES_MAX = 10;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export const previewAccessRules = operation({
  name: 'preview-access-rules',
  method: 'POST',
  path: '/protect/access-rules/preview',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Try proposed access rules on logged requests',
  maxBodyBytes: MAX_BODY_BYTES,
  body: z.strictObject({
    siteKey,
    rules: z.array(z.union([z.unknown(), edgeRuleInput])).check(z.minLength(1)),
    /** ISO 8601 or epoch milliseconds; the default is a day ago. */
    since: z.optional(instant),
  }),
  response: z.object({
    since: z.string(),
    examined: z.int(),
    /** Whether every record since `since` was examined. */
    complete: z.boolean(),
    /** `false`: this instance keeps no rows of allowed requests, so the numbers do not include them. */
    allowedRequestsIncluded: z.boolean(),
    changed: z.int(),
    /** Distinct addresses of the changed requests. */
    changedAddresses: z.int(),
    /** Each way in which a decision changes. */
    changes: z.array(
      z.object({ from: z.enum(decisions), to: z.enum(decisions), requests: z.int(), addresses: z.int() }),
    ),
    /** The newest of each change. */
    samples: z.array(
      z.object({
        requestId: z.string(),
        timestamp: z.string(),
        ip: z.nullable(z.string()),
        asn: z.nullable(z.int()),
        country: z.nullable(z.string()),
        userAgent: z.string(),
        requestPath: z.string(),
        from: z.enum(decisions),
        to: z.enum(decisions),
        decidedBy: z.string(),
      }),
    ),
  }),
  async handler({ body, ...context }) {
    const rules = checkedRules(body.rules, context.nowMs);
    const target = await logTarget({ ...context, body }, body.siteKey);
    const since = Math.max(body.since ?? context.nowMs - DAY_MS, target.horizon);
    if (since > context.nowMs) {
      throw new OperationError('API.INVALID_BODY', 'The window is empty', [
        { path: 'since', message: 'is in the future' },
      ]);
    }
    const { changes, ...trial } = await examine(context.store, target, since, proposalOf(rules, target.instance.id));
    return {
      since: isoTime(since),
      ...trial,
      changed: changes.reduce((sum, { requests }) => sum + requests, 0),
      changedAddresses: new Set(changes.flatMap(({ addresses }) => [...addresses])).size,
      changes: changes.map((change) => ({ ...change, addresses: change.addresses.size })),
      allowedRequestsIncluded: target.instance.allowVerdicts === 'rows',
    };
  },
});

interface Change {
  from: Decision;
  to: Decision;
  requests: number;
  addresses: Set<string | null>;
}

interface Trial {
  examined: number;
  complete: boolean;
  changes: Change[];
  samples: object[];
}

async function examine(store: ServiceStore, target: LogTarget, since: number, proposal: Proposal): Promise<Trial> {
  const trial: Trial = { examined: 0, complete: false, changes: [], samples: [] };
  const filter = { ...everything, since };
  let before: RowKey | null = null;
  while (trial.examined < EXAMINED_MAX_RECORDS) {
    const page = await readPage(store, target.log, {
      filter,
      before,
      offset: 0,
      limit: PAGE_RECORDS,
      wantTotal: false,
    });
    for (const row of page.rows) {
      const record = verdictRecord.safeParse(JSON.parse(row.body));
      if (!record.success || record.data.source === 'error') continue;
      trial.examined += 1;
      note(trial, record.data, whatIf(record.data, proposal, target.instance));
    }
    before = page.next;
    if (before === null) return { ...trial, complete: true };
  }
  return trial;
}

function note(trial: Trial, record: VerdictRecord, { before, after, decidedBy }: WhatIf): void {
  if (before === after) return;
  const change = changeOf(trial, before, after);
  change.requests += 1;
  change.addresses.add(record.ip);
  if (change.requests > SAMPLES_MAX) return;
  trial.samples.push({
    requestId: record.request_id,
    timestamp: isoTime(record.timestamp),
    ip: record.ip,
    asn: record.asn,
    country: record.country,
    userAgent: record.user_agent,
    requestPath: record.request_path,
    from: before,
    to: after,
    decidedBy,
  });
}

function changeOf({ changes }: Trial, from: Decision, to: Decision): Change {
  const known = changes.find((change) => change.from === from && change.to === to);
  if (known !== undefined) return known;
  const change: Change = { from, to, requests: 0, addresses: new Set() };
  changes.push(change);
  return change;
}

function proposalOf(rules: readonly EdgeRule[], instanceId: string): Proposal {
  const compiler = new RulesetCompiler({ instanceId, version: 0, createdAtMs: 0 });
  for (const rule of rules) compiler.add(rule);
  const opened = openSnapshot(compiler.finish());
  if (!opened.ok) throw new Error(`The proposed rules cannot be opened: ${opened.error}`);
  return {
    ruleset: createRuleset(opened.value, null),
    ids: new Set(rules.map((rule) => `${rule.type}:${rule.value}`)),
  };
}

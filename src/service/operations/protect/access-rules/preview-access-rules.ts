/**
 * `POST /protect/access-rules/preview`: a dry run of a write. It takes the rules of `create`, the file of `import` or the
 * conditions of `delete`, says what would change, and what the requests of a window would have got, next to the rules
 * that fired then.
 */
import * as z from 'zod/mini';
import { EDGE_RULES_PER_CALL_MAX } from '../../../../contract/management/edge-rule-limits.ts';
import { edgeRuleCanonical, edgeRuleCondition, edgeRuleInput } from '../../../../contract/management/edge-rule.ts';
import { ruleFileFormats } from '../../../../contract/management/rule-file/rule-file.ts';
import { instant } from '../../../../contract/management/time.ts';
import { decisions } from '../../../../contract/vocabulary.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import type { RuleBookRpc } from '../../../../store/rule-book/rpc.ts';
import type { RuleKey, RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import { protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { changeSchemas } from '../replay/previewed-changes.ts';
import { previewReach, previewReachOf, previewWindow } from '../replay/previewed-requests.ts';
import type { Proposal } from '../replay/merged-match.ts';
import { tryRules } from '../replay/rules-trial.ts';
import { compiledProposal } from '../replay/compiled-proposal.ts';
import { logTarget } from '../verdicts/verdict-log-query.ts';
import { checkedConditions, checkedRules } from './check-rules.ts';
import { chosenSiteKey } from '../chosen-instance.ts';
import { plannedChanges, ruleChanges } from './planned-changes.ts';
import { readRuleFile, type RuleFile, ruleFileFields } from './rule-files.ts';
import { ruleId } from './rule-response.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;
/**
 * A file that is imported in ten calls is previewed in one, so that its effect is that of the whole file. They take up to
 * 50 MB of the isolate's 128 MB.
 */
const FILE_RULES_MAX = 100_000;
/** A list of every refused line can be saved as a file. */
const FILE_LIMITS = { rulesMax: FILE_RULES_MAX, refusedListedMax: EDGE_RULES_PER_CALL_MAX };

const { content, firstLine, ...fileFields } = ruleFileFields;
const body = z.strictObject({
  siteKey: chosenSiteKey,
  /** Rules to create or replace. */
  rules: z.optional(z.array(z.union([z.unknown(), edgeRuleInput])).check(z.minLength(1))),
  /** Rules to delete. */
  conditions: z.optional(z.array(z.union([z.unknown(), edgeRuleCondition])).check(z.minLength(1))),
  /** A file to import, instead of `rules`. The fields below belong to it. */
  content: z.optional(content),
  ...fileFields,
  firstLine,
  /** ISO 8601 or epoch milliseconds; the default is a day ago. */
  since: z.optional(instant),
  /** The default is now. For several previews of the same requests, such as those of a file in pieces. */
  until: z.optional(instant),
});

const { fields: changeFields, transition, sample } = changeSchemas(decisions);

export const previewAccessRules = protectOperation({
  name: 'preview-access-rules',
  path: '/protect/access-rules/preview',
  access: 'read',
  summary: 'Try proposed access rules on logged requests',
  maxBodyBytes: MAX_BODY_BYTES,
  body,
  response: z.object({
    ...previewReach,
    ...changeFields,
    /** What the write would do to the stored rules. */
    plan: z.object({ added: z.int(), changed: z.int(), unchanged: z.int(), removed: z.int(), refused: z.int() }),
    /** Of a file. */
    format: z.optional(z.enum(ruleFileFormats)),
    /** Lines of a file that are not rules. */
    refusedLines: z.array(z.object({ line: z.int(), reason: z.string() })),
    /** The first 1,000 rules that would be added, changed or removed, and what they are now. */
    differences: z.array(
      z.object({
        change: z.enum(['added', 'changed', 'removed']),
        rule: z.nullable(edgeRuleCanonical),
        before: z.nullable(edgeRuleCanonical),
      }),
    ),
    /** How many of the rules matched a request of the window. */
    rulesTouched: z.int(),
    /**
     * The 1,000 rules that touched most. A visitor is a session, or without one an address with its user agent. A request
     * that several of the rules match counts under each.
     */
    effects: z.array(
      z.object({
        rule: z.string(),
        change: z.enum(ruleChanges),
        /** The rule as it would be; `null` when it would be deleted. */
        proposed: z.nullable(edgeRuleCanonical),
        requests: z.int(),
        visitors: z.int(),
        /** What was decided, and what would have been; the same where another rule or input counts more. */
        changes: z.array(z.object(transition)),
        /** At most three; first of those that would be decided otherwise. */
        examples: z.array(sample),
      }),
    ),
  }),
  async handler(context) {
    const { body: given, nowMs } = context;
    const { rules, deleted, file } = proposed(given, nowMs);
    const target = await logTarget(context, given.siteKey);
    const window = previewWindow(given, target, nowMs);
    const book = ruleBook(context.store, target.instance.id);
    const proposal = await proposalOf(book, rules, deleted, target.instance.id);
    const { counts, differences, changeOf } = await plannedChanges(book, rules, deleted);
    const trial = await tryRules(context.store, target, window.filter, proposal, [...rules, ...deleted], nowMs);
    const { changes, effects, examinedSince, ...reach } = trial;
    const proposedOf = new Map(rules.map((rule) => [ruleId(rule), rule]));
    return {
      ...previewReachOf(window, examinedSince, target.instance),
      ...reach,
      ...changes.sums(),
      plan: { ...counts, refused: file?.refused ?? 0 },
      ...(file === null ? {} : { format: file.format }),
      refusedLines: file?.refusedLines ?? [],
      differences,
      ...effects.result(changeOf, proposedOf),
    };
  },
});

interface Proposed {
  /** One for each type and value: of two, the later counts. */
  rules: RuleWrite[];
  deleted: RuleKey[];
  file: RuleFile | null;
}

function proposed(given: z.infer<typeof body>, nowMs: number): Proposed {
  const { rules, conditions, content: text, siteKey: _siteKey, since: _since, until: _until, ...fields } = given;
  if ((rules === undefined) === (text === undefined) && (conditions === undefined || rules !== undefined)) {
    throw new OperationError('API.INVALID_BODY', 'Send rules, the content of a file, or conditions to delete', [
      { path: 'rules', message: 'is required, or content, but not both' },
    ]);
  }
  const file = text === undefined ? null : readRuleFile({ ...fields, content: text }, FILE_LIMITS, nowMs);
  const written = file?.rules ?? (rules === undefined ? [] : checkedRules(rules, nowMs));
  if (file !== null) checkUserAgents(file);
  const deleted = conditions === undefined ? [] : checkedConditions(conditions);
  return { rules: distinct(written), deleted: distinct(deleted), file };
}

/** Their automaton grows with their text, and unlike the others they are searched as one. */
function checkUserAgents({ rules }: RuleFile): void {
  const agents = rules.filter(({ type }) => type === 'userAgent').length;
  if (agents <= EDGE_RULES_PER_CALL_MAX) return;
  throw new OperationError(
    'API.TOO_MANY_ITEMS',
    `content has ${agents} userAgent rules, and a preview may have ${EDGE_RULES_PER_CALL_MAX}; send it in pieces`,
  );
}

function distinct<Key extends RuleKey>(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map((key) => [ruleId(key), key])).values()];
}

/** Entries of lists that the deleted rules hide count again. */
async function proposalOf(
  book: Pick<RuleBookRpc, 'matching'>,
  rules: readonly RuleWrite[],
  deleted: readonly RuleKey[],
  instanceId: string,
): Promise<Proposal> {
  const { entries } = deleted.length === 0 ? { entries: [] } : await book.matching([...deleted], '', deleted.length);
  return compiledProposal(instanceId, { rules, entries, replaced: [...rules, ...deleted] });
}

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
import { RulesetCompiler } from '../../../../rules/compiler.ts';
import { createRuleset } from '../../../../rules/ruleset.ts';
import { openSnapshot } from '../../../../rules/snapshot.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import type { RuleKey, RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import { protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { previewReach, previewReachOf, previewWindow, previewedRequest } from '../verdicts/previewed-requests.ts';
import { logTarget } from '../verdicts/verdict-log-query.ts';
import { checkedConditions, checkedRules } from './check-rules.ts';
import { chosenSiteKey } from '../chosen-instance.ts';
import { plannedChanges, ruleChanges } from './planned-changes.ts';
import { tryProposal } from './preview-trial.ts';
import { readRuleFile, type RuleFile, ruleFileFields } from './rule-files.ts';
import { ruleId } from './rule-response.ts';
import type { Proposal } from './what-if.ts';

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

const sample = z.object({
  ...previewedRequest,
  from: z.enum(decisions),
  to: z.enum(decisions),
  decidedBy: z.string(),
});
const transition = { from: z.enum(decisions), to: z.enum(decisions), requests: z.int() };

export const previewAccessRules = protectOperation({
  name: 'preview-access-rules',
  path: '/protect/access-rules/preview',
  access: 'read',
  summary: 'Try proposed access rules on logged requests',
  maxBodyBytes: MAX_BODY_BYTES,
  body,
  response: z.object({
    ...previewReach,
    changed: z.int(),
    /** Distinct addresses of the changed requests. */
    changedAddresses: z.int(),
    /** Each way in which a decision changes. */
    changes: z.array(z.object({ ...transition, addresses: z.int() })),
    /** The newest of each change. */
    samples: z.array(sample),
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
    const proposal = proposalOf(rules, deleted, target.instance.id);
    const book = ruleBook(context.store, target.instance.id);
    const { counts, differences, changeOf } = await plannedChanges(book, rules, deleted);
    const trial = await tryProposal(context.store, target, window.filter, proposal, rules, deleted);
    const { changes, effects, examinedSince, ...numbers } = trial;
    const proposedOf = new Map(rules.map((rule) => [ruleId(rule), rule]));
    return {
      ...previewReachOf(window, examinedSince, target.instance),
      ...numbers,
      changed: changes.reduce((sum, { requests }) => sum + requests, 0),
      changedAddresses: new Set(changes.flatMap(({ addresses }) => [...addresses])).size,
      changes: changes.map((change) => ({ ...change, addresses: change.addresses.size })),
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

function proposalOf(rules: readonly RuleWrite[], deleted: readonly RuleKey[], instanceId: string): Proposal {
  const compiler = new RulesetCompiler({ instanceId, version: 0, createdAtMs: 0 });
  for (const rule of rules) compiler.add(rule);
  const opened = openSnapshot(compiler.finish());
  if (!opened.ok) throw new Error(`The proposed rules cannot be opened: ${opened.error}`);
  return {
    ruleset: createRuleset(opened.value, null),
    ids: new Set([...rules, ...deleted].map(ruleId)),
  };
}

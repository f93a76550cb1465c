/**
 * `POST /protect/lists/preview`: a dry run of a list, new or known: reads it, says what it has, what it would change, and
 * what the requests of the last day would have got if it were enforced. It stores nothing.
 */
import * as z from 'zod/mini';
import { listDefaults } from '../../../../contract/management/list-defaults.ts';
import { listFields, listName, readingReport } from '../../../../contract/management/lists.ts';
import { decisions } from '../../../../contract/vocabulary.ts';
import { ruleOfKey } from '../../../../lists/entry-key.ts';
import type { SortedEntries } from '../../../../lists/entry-set.ts';
import { RulesetCompiler } from '../../../../rules/compiler.ts';
import { findList } from '../../../../store/d1/rule-lists.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import { addEntry } from '../../../../store/rule-book/compile-entry.ts';
import { countChanges } from '../../../lists/apply-entries.ts';
import { readOnce } from '../../../lists/read-once.ts';
import { type Principal, protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { chosenSiteKey } from '../chosen-instance.ts';
import { isoTime } from '../access-rules/rule-response.ts';
import { openedRules } from '../replay/compiled-proposal.ts';
import type { Proposal } from '../replay/merged-match.ts';
import { changeSchemas } from '../replay/previewed-changes.ts';
import { tryRules } from '../replay/rules-trial.ts';
import { logTarget } from '../verdicts/verdict-log-query.ts';
import { mergedSettings } from './lists.ts';
import { checkReadings, CONTENT_MAX_BODY_BYTES } from './read-lists.ts';

const DAY_MS = 86_400_000;
const EXAMPLES_MAX = 20;
/** More than an index of the log looks up at once. */
const LOOKED_UP_MAX = 101;

const { fields: changeFields } = changeSchemas(decisions);

export const previewRuleList = protectOperation({
  name: 'preview-rule-list',
  path: '/protect/lists/preview',
  access: 'read',
  summary: 'Try a list on logged requests before it is enforced',
  maxBodyBytes: CONTENT_MAX_BODY_BYTES,
  body: z.strictObject({
    siteKey: chosenSiteKey,
    /** A known list, whose settings count where none are sent; or the name that a new one would have. */
    name: listName,
    url: z.optional(listFields.url),
    format: z.optional(listFields.format),
    column: z.optional(listFields.column),
    selector: z.optional(listFields.selector),
    authorization: z.optional(listFields.authorization),
    verdict: z.optional(listFields.verdict),
    includeReserved: z.optional(listFields.includeReserved),
    /** Of a list that is a file. */
    content: z.optional(z.string()),
  }),
  response: z.object({
    entries: z.int(),
    report: readingReport,
    /** The first entries. */
    examples: z.array(z.string()),
    /** Entries that the list has now, and what would change. */
    present: z.int(),
    added: z.int(),
    removed: z.int(),
    since: z.string(),
    /** Logged requests that were tried. */
    examined: z.int(),
    /** Whether every request since `since` was examined. */
    complete: z.boolean(),
    examinedSince: z.string(),
    inWindow: z.int(),
    /** Requests that are left out: older edges did not record what they were decided from. */
    withoutInputs: z.int(),
    ...changeFields,
  }),
  async handler(context) {
    const { store, outbound, principal, nowMs, body } = context;
    const { siteKey: wanted, name, authorization, content, ...given } = body;
    const target = await logTarget(context, wanted);
    const known = await findList(store, target.instance.id, name);
    if (!mayChange(principal) && isOwnSource({ authorization, content, ...given })) {
      throw new OperationError(
        'API.INSUFFICIENT_PERMISSIONS',
        'With the permission readProtect, a list is previewed as it is. Send its name alone, or with a verdict',
      );
    }
    checkReadings(context);
    const { authorization: _none, ...defaults } = listDefaults;
    const settings = mergedSettings(known?.settings ?? defaults, given, outbound);
    if ((settings.url === null) !== (content !== undefined)) {
      throw new OperationError('API.INVALID_BODY', 'Send the url of a subscription, or the content of a file', [
        { path: settings.url === null ? 'content' : 'url', message: 'is required, and not both' },
      ]);
    }
    const read = await readOnce({ store, outbound }, { settings, known, authorization, content });
    if (!read.ok) throw new OperationError('API.INVALID_BODY', read.error, [{ path: 'url', message: read.error }]);
    const { entries, report } = read.value;
    const { present, added, removed } = await countChanges(ruleBook(store, target.instance.id), name, entries);
    const since = Math.max(nowMs - DAY_MS, target.horizon);
    const proposal = proposalOf(name, settings.verdict, entries, target.instance.id);
    const firstKeys = Array.from({ length: Math.min(entries.length, LOOKED_UP_MAX) }, (_, at) =>
      ruleOfKey(entries.key(at)),
    );
    // Requests that the list matches now are found by no index of what it would have.
    const keys = present === 0 ? firstKeys : [];
    const trial = await tryRules(store, target, { since }, proposal, keys, nowMs);
    const { changes, effects: _effects, examinedSince, ...reach } = trial;
    return {
      entries: entries.length,
      report,
      examples: firstKeys.slice(0, EXAMPLES_MAX).map(({ type, value }) => (type === 'asn' ? `AS${value}` : value)),
      present,
      added,
      removed,
      since: isoTime(since),
      examinedSince: isoTime(examinedSince),
      ...reach,
      ...changes.sums(),
    };
  },
});

function mayChange({ permissions }: Principal): boolean {
  return permissions.Protect?.includes('updateProtectSettings') ?? false;
}

/** Whether the caller chooses what the service fetches, or how much it has to read. */
function isOwnSource({ verdict: _verdict, ...source }: Record<string, unknown>): boolean {
  return Object.values(source).some((field) => field !== undefined);
}

/** The list alone, enforced. It replaces what it has now. */
function proposalOf(
  name: string,
  verdict: (typeof decisions)[number],
  entries: SortedEntries,
  instanceId: string,
): Proposal {
  const lists = [{ number: 1, name, verdict, mode: 'enforce' as const }];
  const compiler = new RulesetCompiler({ instanceId, version: 0, createdAtMs: 0, lists });
  for (let at = 0; at < entries.length; at += 1) addEntry(compiler, entries.key(at), { verdict, list: 1 });
  return { ruleset: openedRules(compiler), ids: new Set([`list:${name}`]) };
}

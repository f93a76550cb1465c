/**
 * Applies a proposal to the requests of a window, newest first. Proposals that an index of the log can find (one address,
 * networks, rules that fired) are exact over the whole window, however long it is. Any other one is applied to the newest
 * records up to a limit.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { verdictSources } from '../../../../contract/vocabulary.ts';
import type { Decision } from '../../../../contract/vocabulary.ts';
import { everything } from '../../../../store/event-log/row-filter.ts';
import type { RowFilter } from '../../../../store/event-log/row-filter.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { RowKey } from '../../../../store/event-log/log-row.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import type { ServiceStore } from '../../../environment.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import { PreviewEffects } from './preview-effects.ts';
import { isoTime } from './rule-response.ts';
import { ruleId } from './rule-hits.ts';
import { touchedRules, whatIf } from './what-if.ts';
import type { Proposal, WhatIf } from './what-if.ts';

/** A few seconds of work. Of a busy site these are the last minutes, of a quiet site the whole week. */
const EXAMINED_MAX_RECORDS = 50_000;
const PAGE_RECORDS = 1000;
/** Of each change, so that a frequent one does not hide a rare one. */
const SAMPLES_MAX = 10;
/** Values of one filter. */
const INDEXED_MAX = 100;
/** A failure policy decided the others, whatever the rules were. */
const sources = verdictSources.filter((source) => source !== 'error');

export interface Change {
  from: Decision;
  to: Decision;
  requests: number;
  addresses: Set<string | null>;
}

export interface Trial {
  /** Requests that were examined, or that the index of the log has shown to be untouched. */
  examined: number;
  complete: boolean;
  /** Every request from here on was examined; epoch milliseconds. */
  examinedSince: number;
  /** All requests of the window. */
  inWindow: number;
  changes: Change[];
  samples: object[];
  effects: PreviewEffects;
}

export async function tryProposal(
  store: ServiceStore,
  target: LogTarget,
  window: Pick<RowFilter, 'since'> & Partial<Pick<RowFilter, 'until'>>,
  proposal: Proposal,
  rules: readonly RuleKey[],
  deleted: readonly RuleKey[],
): Promise<Trial> {
  const filter: RowFilter = { ...everything, ...window, sources };
  const all = await readPage(store, target.log, { filter, before: null, offset: 0, limit: 1, wantTotal: true });
  const found = indexed(rules, deleted);
  const trial: Trial = {
    examined: 0,
    complete: false,
    examinedSince: window.since,
    inWindow: all.total,
    changes: [],
    samples: [],
    effects: new PreviewEffects(),
  };
  let before: RowKey | null = null;
  while (trial.examined < EXAMINED_MAX_RECORDS) {
    const page = await readPage(store, target.log, {
      filter: { ...filter, ...found },
      before,
      offset: 0,
      limit: PAGE_RECORDS,
      wantTotal: false,
    });
    for (const row of page.rows) examine(trial, JSON.parse(row.body) as VerdictRecord, proposal, target);
    trial.examined += page.rows.length;
    trial.examinedSince = page.rows.at(-1)?.timestamp ?? trial.examinedSince;
    before = page.next;
    if (before !== null) continue;
    return {
      ...trial,
      complete: true,
      examinedSince: window.since,
      examined: found === null ? trial.examined : Math.max(trial.inWindow, trial.examined),
    };
  }
  return trial;
}

/** What every request that the proposal can touch has; `null`: no index finds them. */
function indexed(rules: readonly RuleKey[], deleted: readonly RuleKey[]): Partial<RowFilter> | null {
  if (rules.length === 0 && deleted.length <= INDEXED_MAX) return { firedRules: deleted.map(ruleId) };
  const [first] = rules;
  if (first === undefined || deleted.length > 0 || rules.length > INDEXED_MAX) return null;
  if (rules.length === 1 && first.type === 'ip') return { ip: first.value };
  if (rules.every(({ type }) => type === 'asn')) return { asns: rules.map(({ value }) => Number(value)) };
  return null;
}

function examine(trial: Trial, record: VerdictRecord, proposal: Proposal, target: LogTarget): void {
  const touched = touchedRules(record, proposal);
  if (touched.size === 0) return;
  const outcome = whatIf(record, proposal, target.instance);
  trial.effects.note(touched, record, outcome, () => sampleOf(record, outcome));
  if (outcome.before === outcome.after) return;
  const change = changeOf(trial, outcome);
  change.requests += 1;
  change.addresses.add(record.ip);
  if (change.requests <= SAMPLES_MAX) trial.samples.push(sampleOf(record, outcome));
}

function sampleOf(record: VerdictRecord, { before, after, decidedBy }: WhatIf): object {
  return {
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
  };
}

function changeOf({ changes }: Trial, { before: from, after: to }: WhatIf): Change {
  const known = changes.find((change) => change.from === from && change.to === to);
  if (known !== undefined) return known;
  const change: Change = { from, to, requests: 0, addresses: new Set() };
  changes.push(change);
  return change;
}

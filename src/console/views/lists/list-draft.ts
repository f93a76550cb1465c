/** The fields of a list as people type them, and the settings that they mean. */
import { listDefaults } from '../../../contract/management/list-defaults.ts';
import type { ListSettings } from '../../../contract/management/lists.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { changedMembers } from '../../settings/save-over.ts';
import { inUnits, type FormSchemas } from '../../settings/setting-schema.ts';
import type { Schema } from '../../api/service-api.ts';

/** A list as the views know it. */
export type List = Schema<'RuleList'>;

const HOUR_SECONDS = 3600;

const formatWords: Readonly<Record<List['format'], string>> = {
  text: 'text: one value in a line',
  csv: 'csv: the values of a column',
  json: 'json: the values at a selector',
  ndjson: 'ndjson: one JSON object in each line',
  crowdsec: 'crowdsec: the decisions of a CrowdSec Local API',
};
export const formats = Object.entries(formatWords) as [List['format'], string][];

export interface ListDraft extends Pick<ListSettings, 'format' | 'verdict' | 'includeReserved'> {
  name: string;
  url: string;
  column: string;
  selector: string;
  intervalMinutes: string;
  /** Empty: never. */
  expiryHours: string;
  maxChangePercent: string;
}

/**
 * As the API bounds the fields. Those of the time until a list has no effect are in hours, of which a part is allowed. A
 * file is not fetched: what was typed for the time between fetches is not shown then, and must not hold the form back.
 */
export function listSchemas(draft: ListDraft): FormSchemas<ListDraft> {
  const { expirySeconds, intervalMinutes, ...others } = forms.list;
  const expiryHours = { ...inUnits(expirySeconds, HOUR_SECONDS), type: 'number' };
  return { ...others, expiryHours, ...(isFile(draft) ? {} : { intervalMinutes }) };
}

/** Without an address, the list is a file that somebody replaces as a whole. */
export const isFile = ({ url }: ListDraft): boolean => url.trim() === '';

export function listDraftOf(list: List | null): ListDraft {
  const settings: Omit<ListSettings, 'mode'> = list ?? listDefaults;
  const { url, column, selector, intervalMinutes, expirySeconds, maxChangePercent } = settings;
  const { format, verdict, includeReserved } = settings;
  return {
    format,
    verdict,
    includeReserved,
    name: list?.name ?? '',
    url: url ?? '',
    column: column ?? '',
    selector: selector ?? '',
    intervalMinutes: String(intervalMinutes),
    expiryHours: expirySeconds === null ? '' : String(expirySeconds / HOUR_SECONDS),
    maxChangePercent: String(maxChangePercent),
  };
}

/** Only CSV has a column and only JSON a selector, so the text of a field that is not shown does not count. */
export function settingsOf(draft: ListDraft): Omit<ListSettings, 'mode'> {
  const { url, format, column, selector, verdict, intervalMinutes, expiryHours, maxChangePercent } = draft;
  const hasSelector = format === 'json' || format === 'ndjson';
  return {
    url: textOf(url),
    format,
    column: format === 'csv' ? textOf(column) : null,
    selector: hasSelector ? textOf(selector) : null,
    verdict,
    intervalMinutes: isFile(draft) ? listDefaults.intervalMinutes : Number(intervalMinutes),
    expirySeconds: expiryHours.trim() === '' ? null : Math.round(Number(expiryHours) * HOUR_SECONDS),
    maxChangePercent: Number(maxChangePercent),
    includeReserved: draft.includeReserved,
  };
}

/** Settings that differ from those of the list. A file keeps the time between fetches that it had. */
export function changedSettings(list: List, draft: ListDraft): Partial<ListSettings> {
  const settings = settingsOf(draft);
  const names = Object.keys(settings).filter((name) => name !== 'intervalMinutes' || !isFile(draft));
  return changedMembers(names, list, settings);
}

function textOf(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

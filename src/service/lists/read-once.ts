/**
 * Reads a list for a preview, with the settings that it would have. No entry is stored. A Local API of CrowdSec takes the
 * preview for a reading, and tells changes once, so the next reading is of everything.
 */
import type { ListAuthorization, ListSettings } from '../../contract/management/lists.ts';
import { type ListError, listErrorText } from '../../lists/list-format.ts';
import { readDecisionStream } from '../../lists/read-decisions.ts';
import { type ReadList, readList } from '../../lists/read-list.ts';
import { failed, ok, type Result } from '../../result.ts';
import { forgetSync } from '../../store/d1/rule-list-readings.ts';
import { authorizationOf, type StoredList } from '../../store/d1/rule-lists.ts';
import type { ServiceStore } from '../environment.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { fetchList, streamUrl } from './fetch-list.ts';

interface PreviewSource {
  settings: ListSettings;
  known: StoredList | null;
  /** `undefined`: the one that is stored. */
  authorization: ListAuthorization | null | undefined;
  content: string | undefined;
}

const UNKNOWN = { etag: null, lastModified: null };

export async function readOnce(
  { store, outbound }: { store: ServiceStore; outbound: OutboundSettings },
  { settings, known, authorization: given, content = '' }: PreviewSource,
): Promise<Result<ReadList, string>> {
  const { url, format, verdict, includeReserved } = settings;
  if (url === null) return inWords(await readContent(content, settings));
  // Another address of the same host may be one that shows what the secret is for.
  const isKnown = known !== null && known.settings.url === url;
  const stored = isKnown && known.hasAuthorization ? await authorizationOf(store, known) : null;
  const authorization = given === undefined ? stored : given;
  const isStream = format === 'crowdsec';
  if (isStream && isKnown) await forgetSync(store, known);
  const answer = await fetchList(isStream ? streamUrl(url, true) : url, authorization, UNKNOWN, outbound);
  if (!answer.ok) return answer;
  if (answer.value.kind === 'unchanged') return failed('The publisher answers with status 304');
  if (!isStream) return inWords(await readPlainList(answer.value.body, settings));
  const read = await readDecisionStream(answer.value.body, verdict, includeReserved);
  return read.ok ? ok({ entries: read.value.added, report: read.value.report }) : failed(listErrorText(read.error));
}

function inWords<T>(read: Result<T, Parameters<typeof listErrorText>[0]>): Result<T, string> {
  return read.ok ? read : failed(listErrorText(read.error));
}

/** Reads a file that an operator sends, in the format of a list. */
export function readContent(content: string, settings: ListSettings): Promise<Result<ReadList, ListError>> {
  return readPlainList(new Blob([content]).stream() as ReadableStream<Uint8Array>, settings);
}

/** Any list that is not a stream of decisions. */
export async function readPlainList(
  body: ReadableStream<Uint8Array>,
  { format, column, selector, includeReserved }: ListSettings,
): Promise<Result<ReadList, ListError>> {
  if (format === 'crowdsec') return failed({ kind: 'not-json' });
  return readList(body, {
    format,
    column: column ?? undefined,
    selector: selector ?? undefined,
    includeReserved,
  });
}

/** Reads a list for a preview, with the settings that it would have. Nothing is noted and nothing is stored. */
import type { ListAuthorization, ListSettings } from '../../contract/management/lists.ts';
import { listErrorText } from '../../lists/list-format.ts';
import { readDecisions } from '../../lists/read-decisions.ts';
import type { ReadList } from '../../lists/read-list.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import { authorizationOf } from '../../store/d1/rule-lists.ts';
import type { StoredList } from '../../store/d1/rule-lists.ts';
import type { ServiceStore } from '../environment.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { fetchList, streamUrl } from './fetch-list.ts';
import { readContent, readPlainList } from './read-content.ts';
import { isSamePublisher } from './same-publisher.ts';

export interface PreviewSource {
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
  const isKnown = known?.hasAuthorization === true && isSamePublisher(known.settings, settings);
  const stored = isKnown ? await authorizationOf(store, known) : null;
  const authorization = given === undefined ? stored : given;
  const isStream = format === 'crowdsec';
  const answer = await fetchList(isStream ? streamUrl(url, true) : url, authorization, UNKNOWN, outbound);
  if (!answer.ok) return answer;
  if (answer.value.kind === 'unchanged') return failed('The publisher answers with status 304');
  if (!isStream) return inWords(await readPlainList(answer.value.body, settings));
  const read = await readDecisions(answer.value.body, verdict, includeReserved);
  return read.ok ? ok({ entries: read.value.added, report: read.value.report }) : failed(listErrorText(read.error));
}

function inWords<T>(read: Result<T, Parameters<typeof listErrorText>[0]>): Result<T, string> {
  return read.ok ? read : failed(listErrorText(read.error));
}

/** The rules that the address asks for, page by page. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { call, type Loaded, type Refusal } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import type { FilterField } from '../../components/filter-field.ts';
import { instances, siteOf } from '../../frame/instances.ts';
import type { Params } from '../../url/params.ts';
import type { Rule } from './rule.ts';

const RULES_PER_PAGE = 1000;
/** While somebody scrolls: a few milliseconds of reading, so that no frame waits for it. */
const RULES_PER_FURTHER_PAGE = 2000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** What is typed to find rules. All but the first are of a visitor. */
export const textFilters = [
  { param: 'value', label: 'Value begins with' },
  { param: 'ip', label: 'Visitor’s address', placeholder: '192.0.2.1' },
  { param: 'asn', label: 'Visitor’s AS number', placeholder: '64496' },
  { param: 'countryCode', label: 'Visitor’s country', placeholder: 'NL' },
  { param: 'ja4', label: 'Visitor’s JA4' },
  { param: 'userAgent', label: 'Visitor’s user agent', placeholder: 'Mozilla/5.0' },
] as const satisfies readonly FilterField[];

/** The call for the first page. Hits are those of the last week. */
export function rulesBody(params: Params): RequestOf<'/protect/access-rules'> {
  const { type, verdict, value } = params;
  const hitsSince = Math.floor((Date.now() - 7 * DAY_MS) / HOUR_MS) * HOUR_MS;
  const [, ...visitorFilters] = textFilters;
  const visitor = visitorFilters.flatMap(({ param }) => (params[param] ? [[param, params[param]] as const] : []));
  return {
    ...siteOf(params),
    limit: RULES_PER_PAGE,
    hitsSince,
    ...(type === undefined ? {} : { type }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(value === undefined ? {} : { valuePrefix: value }),
    ...(visitor.length === 0 ? {} : { matches: Object.fromEntries(visitor) }),
    // The service checks the values; a refused one is named on the page.
  } as RequestOf<'/protect/access-rules'>;
}

/** The file of the same rules. It can be imported again. */
export function ruleExportBody(params: Params): RequestOf<'/protect/access-rules/export'> {
  const { type, verdict } = rulesBody(params);
  return {
    ...siteOf(params),
    format: 'csv',
    ...(type === undefined ? {} : { type }),
    ...(verdict === undefined ? {} : { verdict }),
  };
}

interface Rules extends Loaded<readonly Rule[]> {
  hasMore: boolean;
  loadMore: () => void;
}

export function useRules(params: Params): Rules {
  const [rules, setRules] = useState<readonly Rule[] | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [isLoading, setIsLoading] = useState(false);
  const [cursor, setCursor] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  /** Only the newest question may answer. */
  const question = useRef(0);
  const isReady = instances.value.list !== null;
  const body = JSON.stringify(rulesBody(params));

  const load = async (after: string | null): Promise<void> => {
    const asked = ++question.current;
    setIsLoading(true);
    const answer = await call('/protect/access-rules', {
      ...(JSON.parse(body) as RequestOf<'/protect/access-rules'>),
      ...(after === null ? {} : { cursor: after, limit: RULES_PER_FURTHER_PAGE }),
    });
    if (asked !== question.current) return;
    setIsLoading(false);
    setError(answer.ok ? null : answer.error);
    if (!answer.ok) return;
    const { rules: page, nextCursor } = answer.value;
    setRules((former) => (after === null ? page : [...(former ?? []), ...page]));
    setCursor(nextCursor ?? null);
  };
  useEffect(() => {
    if (isReady) void load(null);
  }, [body, isReady, turn]);
  const reload = useCallback(() => setTurn((former) => former + 1), []);
  return {
    value: rules,
    error,
    isLoading,
    calls: [{ method: 'POST', path: '/protect/access-rules', body: rulesBody(params) }],
    hasMore: cursor !== null,
    loadMore: () => {
      if (!isLoading && cursor !== null) void load(cursor);
    },
    reload,
  };
}

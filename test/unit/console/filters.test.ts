/** What the API can be asked for, the console offers: every filter of a list has its place in the list's view. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { searchBody, searchFields } from '../../../src/console/views/captcha-search/search-form.ts';
import {
  breakdownBody,
  decisionFilter,
  sourceFilter,
  summaryBody,
} from '../../../src/console/views/overview/overview-body.ts';
import { rulesBody, textFilters } from '../../../src/console/views/rules/use-rules.ts';
import { sessionFields, sessionsBody } from '../../../src/console/views/sessions/sessions-body.ts';
import {
  exportBody,
  offeredFilters,
  searchFilters,
  tailBody,
  tailFilters,
  verdictCall,
} from '../../../src/console/views/verdicts/verdict-filters.ts';
import { viewWindow } from '../../../src/console/url/params.ts';
import { expectRows } from '../../support/rows.ts';

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
}
const { paths, components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  paths: Record<string, { post: { requestBody: { content: { 'application/json': { schema: Schema } } } } }>;
  components: { schemas: Record<string, Schema> };
};
const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolved(components.schemas[schema.$ref.split('/').at(-1)!]!);
const requestOf = (path: string): Schema => resolved(paths[path]!.post.requestBody.content['application/json'].schema);
const fieldsOf = (schema: Schema): string[] => Object.keys(resolved(schema).properties ?? {});

const now = Date.UTC(2027, 0, 1);
const window = viewWindow({}, now);
/** The frame chooses the instance, and the size of a page is the view's. */
const FRAME = ['siteKey', 'limit'];
/** An address of the view in which everything that it offers is set. */
const filled = (names: readonly string[], value = '1') => Object.fromEntries(names.map((name) => [name, value]));
const offered = filled(offeredFilters.map(({ param }) => param));
const { ip: _ip, jti: _jti, ...ofTheFile } = offered;
const ofTheSearch = searchFilters.map(({ param }) => param);
const captchas = searchBody(
  {
    ...filled(
      searchFields.map(({ param }) => param),
      'true',
    ),
    captchaSite: 'site',
    lastId: 'a',
    lastTimestamp: '1',
  },
  window,
);

describe('every filter is offered by', () => {
  test('the view of its list', () =>
    expectRows<[path: string, body: object, otherwise: string[]]>(
      [
        // A page is found by its cursor, at any depth.
        ['/protect/verdicts', verdictCall({ ...offered, cursor: 'c' }, window).body, ['offset']],
        ['/protect/verdicts/search', verdictCall({ ...filled(ofTheSearch), cursor: 'c' }, window).body, ['offset']],
        ['/protect/verdicts/export', exportBody(ofTheFile, window, 'parquet'), []],
        // The page keeps its cursor to itself.
        ['/protect/verdicts/tail', tailBody(filled(tailFilters.map(({ param }) => param))), ['cursor']],
        [
          '/protect/sessions',
          sessionsBody({ ...filled(sessionFields(null).map(({ param }) => param)), range: '1h', cursor: 'c' }, now),
          [],
        ],
        [
          '/protect/access-rules',
          rulesBody(filled(['type', 'verdict', ...textFilters.map(({ param }) => param)])),
          // Further pages are asked for by scrolling.
          ['cursor'],
        ],
        // Not both at once: the page of bots asks for a bot.
        ['/protect/traffic-summary', summaryBody({ [sourceFilter.param]: 'risk' }, window), ['bot']],
        ['/protect/traffic-by-dimension', breakdownBody('asn', { [decisionFilter.param]: 'block' }, window), []],
        ['/audit/searchcaptcharecords', captchas, []],
        // Neither has a filter yet.
        ['/audit-trail/get', { cursor: '' }, []],
        ['/protect/access-rules/history', { before: 0 }, []],
      ],
      ([path, body, otherwise]) => {
        expect([...new Set([...FRAME, ...Object.keys(body), ...otherwise])]).toEqual(
          expect.arrayContaining(fieldsOf(requestOf(path))),
        );
      },
    ));

  test('the search for captchas, of each criterion', () => {
    const { searchCriteria, pagination } = requestOf('/audit/searchcaptcharecords').properties!;
    expect(Object.keys(captchas.searchCriteria!).toSorted()).toEqual(fieldsOf(searchCriteria!).toSorted());
    expect(Object.keys(captchas.pagination!).toSorted()).toEqual(fieldsOf(pagination!).toSorted());
  });

  test('the rules, of each fact about a visitor', () => {
    const { matches } = requestOf('/protect/access-rules').properties!;
    const body = rulesBody(filled(textFilters.map(({ param }) => param)));
    expect(Object.keys(body.matches!).toSorted()).toEqual(fieldsOf(matches!).toSorted());
  });
});

describe('filters in the address', () => {
  const bodyOf = (params: Record<string, string>) => verdictCall(params, window).body;

  test('have their form of the API in the call', () =>
    expectRows(
      [
        [{ decision: 'block,challenge' }, { decision: ['block', 'challenge'] }],
        [{ decision: 'block' }, { decision: 'block' }],
        [{ asn: '64496, AS64497 64498' }, { asn: ['64496', 'AS64497', '64498'] }],
        [
          { bot: 'bingbot, gptbot', proof: 'range,dns' },
          { bot: ['bingbot', 'gptbot'], proof: ['range', 'dns'] },
        ],
        [{ rule: 'userAgent:a, b,asn:1, ip:192.0.2.1' }, { firedRules: ['userAgent:a, b', 'asn:1', 'ip:192.0.2.1'] }],
        [{ rules: '2' }, { minRulesFired: 2 }],
        [{ rules: 'many' }, { minRulesFired: 'many' }],
        [{ path: '/a,b' }, { requestPath: '/a,b' }],
        [{ source: ' , ' }, {}],
        [{ internal: 'shown' }, { includeInternal: true }],
        [{ source: 'internal' }, { sources: 'internal', includeInternal: true }],
      ],
      ([params, fields]) => {
        const { since: _since, until: _until, limit: _limit, ...rest } = bodyOf(params as Record<string, string>);
        expect(rest).toEqual({ includeInternal: false, ...fields });
      },
    ));

  test('all reach the service when a visitor is named, by the search or by the list', () => {
    const visitor = { ip: '192.0.2.1', asn: '1' };
    expect(verdictCall(visitor, window)).toMatchObject({ path: '/protect/verdicts/search', body: visitor });
    expect(verdictCall({ ...visitor, decision: 'block', rules: '2' }, window)).toMatchObject({
      path: '/protect/verdicts',
      body: { ...visitor, decision: 'block', minRulesFired: 2 },
    });
  });
});

/** The API reference that the service serves. */
import { expect, test } from 'vitest';
import { operations } from '../../../src/service/operations/operation-table.ts';
import { newAccount, send } from './service-under-test.ts';

test('the document has every operation and every public call', async () => {
  const document: any = await (await send('/openapi.json')).json();
  expect(document.openapi).toBe('3.1.0');
  for (const operation of operations) {
    const described = document.paths[operation.path][operation.method.toLowerCase()];
    expect(described).toMatchObject({ operationId: operation.name, 'x-permission': operation.permission });
  }
  for (const path of ['/siteverify', '/captcha/v1/challenge', '/captcha/v1/solution']) {
    expect(document.paths[path].post.operationId).toBeTruthy();
  }
});

test('a response that is not JSON is described by its content types', async () => {
  const document: any = await (await send('/openapi.json')).json();
  const typesOf = (path: string, method: string) => Object.keys(document.paths[path][method].responses['200'].content);
  expect(typesOf('/protect/metrics', 'get')).toEqual(['text/plain']);
  expect(typesOf('/protect/access-rules/export', 'post')).toEqual(['text/csv', 'application/x-ndjson', 'text/plain']);
  expect(typesOf('/protect/verdicts/export', 'post')).toEqual([
    'application/x-ndjson',
    'application/vnd.apache.parquet',
  ]);
  const { token } = await newAccount();
  const answer = await send('/protect/metrics', { headers: { authorization: `Bearer ${token}` } });
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain;/);
});

test('the document is served compact, and every reference in it has a target', async () => {
  const text = await (await send('/openapi.json')).text();
  const document = JSON.parse(text);
  // No white space: the service carries the document.
  expect(text).toBe(JSON.stringify(document));
  for (const [, group, name] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
    expect(document.components[group ?? ''][name ?? '']).toBeDefined();
  }
});

/**
 * A page with the protect script in it is another file than the origin's. Neither a cache nor a download that goes on
 * may join parts of the two or take one for the other.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { assetHashes } from '../../src/widget/bundle.generated.ts';
import { expectRows } from '../support/rows.ts';
import { asked, call, type OriginAnswer, originAnswers, useEdgeBeforeOrigin } from './edge-before-origin.ts';

const SCRIPT = `<script src="/__protect/protect.js?v=${assetHashes['protect.js']}" async></script>`;
const PAGE = `<!doctype html><html><head></head><body>${'text '.repeat(1000)}</body></html>`;
const WITH_SCRIPT = PAGE.replace('<head>', `<head>${SCRIPT}`);
const CHANGED = 'Sun, 22 Nov 2026 00:00:00 GMT';

useEdgeBeforeOrigin({ autoInject: true });

/** A file server: strong validators, ranges, conditions. */
function fileServer(type: string, etag: string | null = '"v1"') {
  return ({ method, headers }: IncomingMessage): OriginAnswer => {
    const about: OutgoingHttpHeaders = {
      'content-type': type,
      'last-modified': CHANGED,
      'accept-ranges': 'bytes',
      'cache-control': 'max-age=60',
      ...(etag === null ? {} : { etag }),
    };
    if (headers['if-none-match'] !== undefined) return { status: 304, headers: about };
    const length = { 'content-length': String(PAGE.length) };
    if (method === 'HEAD') return { headers: { ...about, ...length } };
    const isSame = [undefined, etag, CHANGED].includes(headers['if-range'] as string | undefined);
    const range = /^bytes=(\d+)-(\d*)(,)?/.exec((isSame && headers.range) || '');
    if (!range) return { headers: { ...about, ...length }, pieces: [PAGE] };
    const [first, last] = [Number(range[1]), range[2] ? Number(range[2]) : PAGE.length - 1];
    if (first >= PAGE.length) return { status: 416, headers: { 'content-range': `bytes */${PAGE.length}` } };
    if (range[3]) {
      const parts = `--x\r\ncontent-type: ${type}\r\ncontent-range: bytes 0-1/${PAGE.length}\r\n\r\n<!\r\n--x--\r\n`;
      return {
        status: 206,
        headers: { ...about, 'content-type': 'multipart/byteranges; boundary=x' },
        pieces: [parts],
      };
    }
    const part = { 'content-range': `bytes ${first}-${last}/${PAGE.length}` };
    return { status: 206, headers: { ...about, ...part }, pieces: [PAGE.slice(first, last + 1)] };
  };
}

describe('a page with the script', () => {
  test('has nothing that a range of the origin’s page could be joined on', async () => {
    originAnswers(fileServer('text/html'));
    const { headers, body } = await call();
    expect(body.toString()).toBe(WITH_SCRIPT);
    expect(headers).toMatchObject({ etag: 'W/"v1"', 'cache-control': 'max-age=60' });
    for (const name of ['accept-ranges', 'last-modified', 'content-length']) expect(headers).not.toHaveProperty(name);
  });

  test('answers any range with the whole page', () =>
    expectRows(
      [
        ['a range', { range: 'bytes=5070-' }],
        ['a range of a browser that goes on with a download', { range: 'bytes=100-', 'if-range': '"v1"' }],
        ['a range by date', { range: 'bytes=100-', 'if-range': CHANGED }],
        ['several ranges', { range: 'bytes=0-1,3-4' }],
        ['a range behind the end of the origin’s page', { range: `bytes=${PAGE.length + 20}-` }],
      ],
      async ([, headers]) => {
        originAnswers(fileServer('text/html; charset=utf-8'));
        const answer = await call(headers);
        expect([answer.status, answer.body.toString()]).toEqual([200, WITH_SCRIPT]);
        expect(answer.headers).not.toHaveProperty('content-range');
      },
    ));

  test('keeps its weak validator when a cache asks whether it is still the same', async () => {
    originAnswers(fileServer('text/html'));
    const { status, headers } = await call({ 'if-none-match': 'W/"v1"' });
    expect([status, headers.etag]).toEqual([304, 'W/"v1"']);
    for (const name of ['accept-ranges', 'last-modified']) expect(headers).not.toHaveProperty(name);
  });

  test.each([['"v1"'], [null]])('has the same validators for HEAD as for GET (%s)', async (etag) => {
    originAnswers(fileServer('text/html', etag));
    const [get, head] = [(await call()).headers, (await call({}, 'HEAD')).headers];
    for (const name of ['etag', 'last-modified', 'accept-ranges', 'content-length', 'cache-control', 'content-type']) {
      expect([name, head[name]]).toEqual([name, get[name]]);
    }
  });

  test('is the same page for every destination, so that a cache can keep one for all', () =>
    expectRows(['document', 'iframe', 'empty', 'object', 'embed', 'frame'], async (destination) => {
      originAnswers(fileServer('text/html'));
      expect((await call({ 'sec-fetch-dest': destination })).body.toString()).toBe(WITH_SCRIPT);
    }));
});

describe('anything else', () => {
  test.each([
    ['a file', 'application/pdf', {}],
    ['a page that may not be changed', 'text/html', { 'cache-control': 'no-transform' }],
    ['a page that is saved as a file', 'text/html', { 'content-disposition': 'attachment; filename=a.html' }],
  ])('keeps its ranges and validators: %s', async (_, type, more) => {
    const server = fileServer(type);
    originAnswers((request) => {
      const answer = server(request);
      return { ...answer, headers: { ...answer.headers, ...more } };
    });
    const whole = await call();
    expect(whole.headers).toMatchObject({ etag: '"v1"', 'last-modified': CHANGED, 'accept-ranges': 'bytes' });
    const part = await call({ range: 'bytes=10-19', 'if-range': '"v1"' });
    expect([part.status, part.body.toString()]).toEqual([206, PAGE.slice(10, 20)]);
    const parts = await call({ range: 'bytes=0-1,3-4' });
    expect([parts.status, parts.headers['content-type']]).toEqual([206, 'multipart/byteranges; boundary=x']);
    expect((await call({ range: 'bytes=99999-' })).status).toBe(416);
    expect((await call({ 'if-none-match': '"v1"' })).headers).toMatchObject({ etag: '"v1"', 'last-modified': CHANGED });
    expect((await call({}, 'HEAD')).headers).toMatchObject({ etag: '"v1"', 'content-length': String(PAGE.length) });
  });

  test('asks the origin once for a part of a file', async () => {
    originAnswers(fileServer('video/mp4'));
    await call({ range: 'bytes=10-19' });
    expect(asked.map(({ headers }) => headers.range)).toEqual(['bytes=10-19']);
  });
});

/**
 * The protect script breaks no page: what the gate hands on is the origin's bytes and the script, or the origin's bytes.
 * On workerd itself, with an origin that answers whatever a test gives it.
 */
import { buffer } from 'node:stream/consumers';
import { createHash, randomBytes } from 'node:crypto';
import {
  brotliCompressSync,
  brotliDecompressSync,
  createGunzip,
  createGzip,
  deflateSync,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { assetHashes } from '../../src/widget/bundle.generated.ts';
import { eventually } from '../support/eventually.ts';
import { expectRows } from '../support/rows.ts';
import { call, callInto, originAnswers, upstream, useEdgeBeforeOrigin } from './edge-before-origin.ts';

const SCRIPT = `<script src="/__protect/protect.js?v=${assetHashes['protect.js']}" async></script>`;
/** The places of a script, in a page that is written with marks for them. */
const MARK = '§';

useEdgeBeforeOrigin({ autoInject: true });

function get(headers: Record<string, string>, ...pieces: Buffer[]) {
  originAnswers({ headers, pieces });
  return call({ 'accept-encoding': 'gzip, br, zstd, deflate' });
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const ABOUT_BYTES = {
  etag: '"v1"',
  'content-digest': 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
  'repr-digest': 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
  digest: 'SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=',
  'content-md5': 'Q2hlY2sgSW50ZWdyaXR5IQ==',
};
const skipped = (reason: string) => upstream.counters[`scripts_not_injected{reason="${reason}"}`] ?? 0;
async function isCounted(reason: string, before: number): Promise<void> {
  await eventually(
    () => Promise.resolve(skipped(reason)),
    (count) => count > before,
  );
}

/** Labels that the Encoding standard knows, that only servers use, and that nobody knows. */
const LABELS = `
  utf-8 utf8 UTF-8 unicode-1-1-utf-8 utf8mb4 utf8mb3 utf_8 utf-8; iso-2022-jp hz-gb-2312 iso-8859-1 iso8859-1
  latin1 latin-1 l1 ISO_8859-15 ascii us-ascii ansi windows-1252 cp1252 windows-1251 cp1251 koi8-r x-mac-
  cyrillic macintosh macroman ibm437 tis-620 shift_jis shift-jis sjis cp932 ms932 windows-31j euc-jp gbk gb2312
  gb18030 cp936 big5 big5-hkscs cp950 euc-kr cp949 x-user-defined none binary null undefined *
  'utf-8' "utf-8"`
  .trim()
  .split(/\s+/);

describe('a page', () => {
  test('with any charset gets the script, and keeps every other byte', () =>
    expectRows(LABELS, async (label) => {
      const page = `<!doctype html>\n<html><head>${MARK}<title>\x83\\\xe9\x80\xff</title></head><body>\xa4\xe2\x5c</body></html>`;
      const type = `text/html; charset=${label}`;
      const { body } = await get({ 'content-type': type }, latin1(page.replace(MARK, '')));
      expect(body).toEqual(latin1(page.replace(MARK, SCRIPT)));
    }));

  test('with any markup gets the script and loses nothing', () =>
    expectRows(
      [
        ['a select with a style in it', '<html><head>§</head><body><select><style></select><p>rest</body></html>'],
        ['a select with a title in it', '<html><head>§</head><body><select><title></select><p>rest</body></html>'],
        ['a frameset with an xmp in it', '<html><head>§</head><frameset><xmp></frameset></html>rest'],
        ['a script that is never closed', '<html><head>§<script>var a = "<head>";</head><body>rest'],
        ['a table of markup errors', '<html><head>§</head><table><p></i></b><select><table><svg><math></html>'],
        ['no head', '<!doctype html><html>§<body><p>text</body></html>'],
        ['nothing but a doctype and text', '<!DOCTYPE html>\r\n§text'],
        ['comments in front', '<!-- <head> --><!doctype html><!--[if IE]><html class=ie><![endif]--><html><head>§<p>'],
        [
          'a processing instruction',
          '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML" "a"><html><HEAD>§</HEAD>',
        ],
        [
          'attributes that hold tags',
          '<html data-a=\'<head>\' data-b="x>y" c = "d>" e=f/><head profile="a>b" >§<title>x',
        ],
        ['a byte order mark', '\xef\xbb\xbf<html><head>§</head></html>'],
      ],
      async ([, page]) => {
        const { body } = await get({ 'content-type': 'text/html; charset=utf-8' }, latin1(page.replace(MARK, '')));
        expect(body.toString('latin1')).toBe(page.replace(MARK, SCRIPT));
      },
    ));

  test.each([
    ['200,000 elements in each other', `<body>${'<div>'.repeat(200_000)}end`],
    ['an attribute of 4 MB', `<body><p title="${'a'.repeat(4_000_000)}">end`],
    ['3 MB of comments', `<!--${'-'.repeat(3_000_000)}-->end`],
  ])('of %s arrives whole', async (_, rest) => {
    const { body } = await get({ 'content-type': 'text/html; charset=utf-8' }, latin1(`<html><head></head>${rest}`));
    expect(body.length).toBe(`<html><head>${SCRIPT}</head>${rest}`.length);
    expect(body.subarray(-rest.length).equals(latin1(rest))).toBe(true);
  });

  test('gets the script wherever the origin cuts it into pieces', async () => {
    const page = '<!doctype html><html lang="a>b"><!-- c --><head><title>x</title></head><body>y</body></html>';
    const whole = page.replace('<head>', `<head>${SCRIPT}`);
    for (let at = 1; at < page.indexOf('<title>') + 2; at += 3) {
      const { body } = await get({}, latin1(page.slice(0, at)), latin1(page.slice(at)));
      expect(body.toString()).toBe(whole);
    }
  });

  test('with the script has no digests of the bytes without it, and a weak ETag', async () => {
    const { headers, body } = await get(ABOUT_BYTES, latin1('<html><head></head><body>x</body></html>'));
    expect(body.toString()).toContain(SCRIPT);
    expect(headers).toMatchObject({ etag: 'W/"v1"' });
    for (const name of ['content-digest', 'repr-digest', 'digest', 'content-md5'])
      expect(headers[name]).toBeUndefined();
  });

  test('that the origin writes bit by bit, compressed, is not held back', async () => {
    const gzip = createGzip();
    // The runtime sends what it has compressed again in blocks, so this is more than a block.
    const begins = randomBytes(60_000).toString('base64');
    gzip.write(`<!doctype html><html><head></head><body>${begins}`);
    await new Promise<void>((flushed) => gzip.flush(() => flushed()));
    const first = gzip.read() as Buffer;
    let goOn = (): void => undefined;
    const rest = new Promise<void>((resolve) => (goOn = resolve)).then(() => buffer(gzip.end(' ends</body></html>')));
    originAnswers({ headers: { 'content-encoding': 'gzip' }, pieces: [first, rest] });
    const unpack = createGunzip();
    let text = '';
    unpack.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.length > 1000) goOn();
    });
    const whole = new Promise((resolve) => unpack.on('end', resolve));
    await callInto(unpack, { 'accept-encoding': 'gzip' });
    await whole;
    expect(text).toBe(`<!doctype html><html><head>${SCRIPT}</head><body>${begins} ends</body></html>`);
  });

  test.each([
    ['gzip', gzipSync, gunzipSync],
    ['br', brotliCompressSync, brotliDecompressSync],
  ] as const)('compressed with %s is still compressed with the script in it', async (encoding, pack, unpack) => {
    const page = `<html><head></head><body>${'text '.repeat(20_000)}</body></html>`;
    const { headers, body } = await get({ 'content-encoding': encoding }, pack(page));
    expect(headers['content-encoding']).toBe(encoding);
    expect(unpack(body).toString()).toBe(page.replace('<head>', `<head>${SCRIPT}`));
  });
});

describe('a page that the script would endanger', () => {
  const page = latin1('<!doctype html><html><head></head><body>text</body></html>');
  const long = latin1(`<html><head></head><body>${randomBytes(30_000).toString('base64')}</body></html>`);
  const damaged = (bytes: Buffer) => bytes.map((byte, at) => (at === bytes.length - 5_000 ? byte ^ 1 : byte));
  const packed = (body: Buffer) => ({ ...ABOUT_BYTES, 'content-length': String(body.length) });
  const digest = (body: Buffer) => createHash('sha256').update(body).digest('hex');

  test('passes untouched, to the byte, and is counted', () =>
    expectRows(
      [
        ['compressed with zstd', 'encoding', { 'content-encoding': 'zstd' }, zstdCompressSync(page)],
        ['compressed with deflate', 'encoding', { 'content-encoding': 'deflate' }, deflateSync(page)],
        ['compressed twice', 'encoding', { 'content-encoding': 'gzip, gzip' }, gzipSync(gzipSync(page))],
        [
          'in UTF-16',
          'markup',
          { 'content-type': 'text/html; charset=utf-16' },
          Buffer.from(page.toString(), 'utf16le'),
        ],
        ['in UTF-16 that nothing names', 'markup', {}, Buffer.from(`\ufeff${page.toString()}`, 'utf16le')],
        ['with a fragment only', 'markup', {}, latin1('<li>an item</li>')],
        ['with a compressed fragment only', 'markup', { 'content-encoding': 'gzip' }, gzipSync('<li>an item</li>')],
        [
          'with an attribute of 4 MB before the head',
          'markup',
          {},
          latin1(`<html a="${'a'.repeat(4_000_000)}"><head></head>`),
        ],
        [
          'with its charset at the end of what browsers look through',
          'charset',
          {},
          latin1(`<html><head><!--${'-'.repeat(960)}--><meta charset=utf-8></head>`),
        ],
        [
          'with its charset there, behind a script that has one of its own',
          'charset',
          {},
          latin1(
            `<html><head><script src=a charset=utf-8></script><!--${'-'.repeat(900)}--><meta charset=utf-8></head>`,
          ),
        ],
        ['that is empty and called gzip', 'markup', { 'content-encoding': 'gzip' }, Buffer.from('')],
        ['that is called gzip and is not', 'markup', { 'content-encoding': 'gzip' }, page],
        ['that is called br and is not', 'markup', { 'content-encoding': 'br' }, page],
        [
          'with something behind its gzip',
          'encoding',
          { 'content-encoding': 'gzip' },
          [gzipSync(long), latin1('more')],
        ],
        [
          'with something behind its br',
          'encoding',
          { 'content-encoding': 'br' },
          [brotliCompressSync(long), latin1('more')],
        ],
        ['whose gzip is cut off', 'encoding', { 'content-encoding': 'gzip' }, [gzipSync(long).subarray(0, -30)]],
        ['whose gzip is damaged', 'encoding', { 'content-encoding': 'gzip' }, [damaged(gzipSync(long))]],
      ],
      async ([, reason, headers, bytes]) => {
        const body = Buffer.concat([bytes].flat());
        const before = skipped(reason);
        const got = await get({ ...packed(body), ...headers }, body);
        expect([got.status, digest(got.body)]).toEqual([200, digest(body)]);
        expect(got.headers).toMatchObject(packed(body));
        await isCounted(reason, before);
      },
    ));
});

/** The parts of the browser code that need no browser. */
import { describe, expect, test } from 'vitest';
import { buildClient, checkClientSizes } from '../../../scripts/build-client.ts';
import { gateProblem } from '../../../src/widget/protect/recovery.ts';
import { safeReturnTarget } from '../../../src/widget/interstitial/return-target.ts';
import { expectRows } from '../../support/rows.ts';

const ORIGIN = 'https://shop.example';

describe('a return target', () => {
  test('is a path of this origin', () =>
    expectRows(
      [
        ['/', '/'],
        ['/a?b=1&c=2#d', '/a?b=1&c=2#d'],
        ['/a//b;c=%2F', '/a//b;c=%2F'],
        ['/ünï', '/%C3%BCn%C3%AF'],
        ['//echo/a?x=1', '//echo/a?x=1'],
        ['/.//evil.example', '//evil.example'],
        ['//evil.example', '//evil.example'],
        ['/\\evil.example', '//evil.example'],
        ['//@evil.example:1/', '//@evil.example:1/'],
        ['/../..//evil.example', '//evil.example'],
      ],
      ([candidate, path]) => {
        expect(safeReturnTarget(candidate, ORIGIN)).toBe(ORIGIN + path);
      },
    ));

  test('that leads elsewhere is replaced by the front page', () =>
    expectRows(
      [
        '\\/evil.example',
        '.evil.example',
        ':1/',
        '@evil.example/',
        'https:evil.example',
        'https://evil.example/',
        'javascript:alert(1)',
        ' javascript:alert(1)',
        '/\t/evil.example',
        '/\n/evil.example',
        '/a\r\nSet-Cookie: x=1',
        '%2f%2fevil.example',
        '',
        'a/b',
        '?x',
        'data:text/html,x',
      ],
      (candidate) => {
        expect(safeReturnTarget(candidate, ORIGIN)).toBe(`${ORIGIN}/`);
      },
    ));
});

const answer = (status: number, headers: Record<string, string>): Parameters<typeof gateProblem>[0] => ({
  status,
  header: (name) => headers[name] ?? null,
});

describe('a response of the gate', () => {
  test('differs from the site’s own 401 and 403', () => {
    expect(gateProblem(answer(401, { 'x-protect-status': 'no-session' }))).toBe('session');
    expect(gateProblem(answer(403, { 'x-protect-decision': 'challenge' }))).toBe('challenge');
    expect(gateProblem(answer(401, {}))).toBeNull();
    expect(gateProblem(answer(403, { 'x-protect-decision': 'allow' }))).toBeNull();
    expect(gateProblem(answer(403, { 'x-protect-decision': 'block' }))).toBeNull();
    expect(gateProblem(answer(200, { 'x-protect-status': 'no-session' }))).toBeNull();
  });
});

describe('the scripts', () => {
  test('stay below their size limits', async () => {
    expect(checkClientSizes(await buildClient())).toEqual([]);
  });

  test('of other products’ APIs have two kilobytes above the widget', () => {
    const sized = (gzipBytes: number) => ({ hash: '', body: '', gzipBytes });
    const assets = (above: number) => ({ 'widget.js': sized(8000), 'compat/hcaptcha.js': sized(8000 + above) });
    expect(checkClientSizes(assets(2048))).toEqual([]);
    expect(checkClientSizes(assets(2049))).toEqual(['hCaptcha script: 2049 bytes gzipped, limit 2048']);
  });

  test('use no eval, no WASM, no blob, no markup sinks and no other host', async () => {
    for (const [name, { body }] of Object.entries(await buildClient())) {
      expect(body, name).not.toMatch(
        /\beval\(|new Function|WebAssembly|createObjectURL|innerHTML|outerHTML|document\.write/,
      );
      expect(body.match(/https?:\/\/[^"'`\s]*/g) ?? [], name).toEqual(
        body.includes('w3.org') ? ['http://www.w3.org/2000/svg'] : [],
      );
    }
  });

  test('can be imported where there is no DOM', async () => {
    await expect(import('../../../src/widget/widget.ts')).resolves.toBeDefined();
  });
});

/** Where the protect script goes in a page. `test/e2e/edge-injection.test.ts` has the pages. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scriptPlace } from '../../../src/edge/origin/inject.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';

const piece = fc.constantFrom(
  '<!doctype html>',
  '<!-- c -->',
  '<!-->',
  '<!--',
  '-->',
  '<?xml?>',
  '<!x>',
  ' ',
  '\n',
  '<html>',
  '<html a="',
  '"',
  "'",
  '<head>',
  "<HEAD a='>'>",
  '<head',
  '<header>',
  '<body>',
  '</head>',
  '<title>',
  '<',
  '>',
  '=',
  '/',
  'text',
  '\xef\xbb\xbf',
);
const page = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

describe('the place of a script', () => {
  test('found in the beginning of a page is the place in the whole page', () => {
    fc.assert(
      fc.property(page, fc.nat(), (text, cut) => {
        const early = scriptPlace(text.slice(0, cut % (text.length + 1)));
        if (early !== 'need-more') expect(scriptPlace(text)).toBe(early);
      }),
      { numRuns: runs(5000) },
    );
  });

  test('is known from the beginning of the page', () =>
    expectRows(
      [
        ['<html', 'need-more'],
        ['<html>', 'need-more'],
        ['<!doctype html><html a="<head>', 'need-more'],
        ['<li>item</li>', 'no-document'],
        ['{"a": "<head>"}', 'no-document'],
        ['\xff\xfe<\0h\0t\0m\0l\0>\0', 'no-document'],
        ['<body>', 0],
        ['<html =">x', 9],
      ] as const,
      ([text, place]) => {
        expect(scriptPlace(text)).toBe(place);
      },
    ));
});

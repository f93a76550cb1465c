/** Which requests are for the page that a redirect leads to. */
import { expect, test } from 'vitest';
import { canonicalTarget, isAt } from '../../../src/decide/request-target.ts';
import { expectRows } from '../../support/rows.ts';

const at = (url: string, location: string): boolean => isAt(canonicalTarget(url)!, location);

test('a location that a browser asks for as the same page is the page', () =>
  expectRows(
    [
      ['/closed', '/closed'],
      ['/closed#why', '/closed'],
      ['/a/../closed', '/closed'],
      ['/%7Eclosed', '/~closed'],
      ["/closed?why='now'", '/closed?why=%27now%27'],
      ['/closed?', '/closed'],
      ['https://shop.example', '/'],
      ['https://Shop.example/closed', '/closed'],
      ['https://shop.example:443/closed', '/closed'],
      ['https://shop.example/closed?a=1', '/closed?a=1'],
    ],
    ([location, received]) => {
      expect(at(`https://shop.example${received}`, location)).toBe(true);
      // Behind a proxy that speaks http to the Worker.
      expect(at(`http://shop.example${received}`, location)).toBe(true);
    },
  ));

test('a location that differs from the page is not the page', () =>
  expectRows(
    [
      ['/closed', 'https://shop.example/'],
      ['/closed', 'https://shop.example/Closed'],
      ['/closed?a=1', 'https://shop.example/closed'],
      ['/closed', 'https://shop.example/closed?a=1'],
      ['/closed', 'https://shop.example/closed;x'],
      ['/closed', 'https://shop.example/closed%2f..%2fadmin'],
      ['https://other.example/closed', 'https://shop.example/closed'],
      ['https://shop.example:8443/closed', 'https://shop.example/closed'],
      ['/closed', 'https://999.999.999.999/closed'],
    ],
    ([location, url]) => {
      expect(at(url, location)).toBe(false);
    },
  ));

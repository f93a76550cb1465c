import { expect, test } from 'vitest';
import { browserName } from '../../../src/console/format/browser-name.ts';
import { expectRows } from '../../support/rows.ts';

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

test('a browser is named with its system', () =>
  expectRows(
    [
      [`Mozilla/5.0 (X11; Linux x86_64) ${chrome}`, 'Chrome on Linux'],
      [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Edg/150.0.0.0`, 'Edge on Windows'],
      [`Mozilla/5.0 (Linux; Android 10; K) ${chrome.replace('Safari', 'Mobile Safari')}`, 'Chrome on Android'],
      [`${iphone} Version/19.1 Mobile/15E148 Safari/604.1`, 'Safari on iPhone'],
      [`${iphone} CriOS/150.0.0.0 Mobile/15E148 Safari/604.1`, 'Chrome on iPhone'],
      ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on macOS'],
      ['curl/8.5.0', null],
      ['', null],
    ],
    ([userAgent, name]) => {
      expect(browserName(userAgent)).toBe(name);
    },
  ));

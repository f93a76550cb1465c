import { expect, test } from 'vitest';
import { flagFields, nameLists, textFields, textMaps } from '../../../../src/policies/import/cloudflare/fields.ts';
import { looksLikeCloudflare } from '../../../../src/policies/import/cloudflare/recognise.ts';
import { expectRows } from '../../../support/rows.ts';

test('an expression with a field of Cloudflare is recognised', () =>
  expectRows(
    [
      '(ip.src in {1.2.3.0/24} and http.request.uri.path contains "/wp-login")',
      'not ssl',
      '!cf.client.bot',
      'lower(http.host) eq "a"',
      ...[textFields, textMaps, nameLists, flagFields].flatMap((fields) => Object.keys(fields)),
    ],
    (text) => {
      expect(looksLikeCloudflare(text)).toBe(true);
    },
  ));

test('a condition of a policy is not, nor a text with such a name', () =>
  expectRows(
    [
      'path startsWith "/http.host"',
      'host equals "ip.src.example"',
      'header["cf.client"] exists',
      'ip exists',
      'path = "\\" ssl',
    ],
    (text) => {
      expect(looksLikeCloudflare(text)).toBe(false);
    },
  ));

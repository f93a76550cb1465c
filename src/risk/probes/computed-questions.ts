/**
 * Questions whose answer the standard of the language decides, so that the service can work it out: with other parameters
 * in each load, and no end of them. Approximations, which engines may choose, are left out. Every engine that can run the
 * page's script answers them alike, except for the texts of errors, which only Chromium shares with the service.
 */
import type { ProbeExpression } from '../../contract/edge/probes.ts';
import type { Draw } from './draw.ts';
import { argument, body, call, construct, get, list, parsed, realm } from './expressions.ts';

type Question = (draw: Draw) => ProbeExpression;

const math = realm('Math');
const numbers = (draw: Draw, count: number, most: number): number[] => draw.list(count, () => draw.number(0, most));
const date = (draw: Draw): ProbeExpression =>
  construct('Date', call(realm('Date'), 'UTC', draw.number(1950, 2090), draw.number(-40, 40), draw.number(-90, 90)));
const fraction = (draw: Draw): number => draw.number(1, 999_999) / 10 ** draw.number(1, 7);
const words = (draw: Draw): string => draw.list(4, () => draw.word()).join(' ');

export const standardQuestions: readonly Question[] = [
  (draw) => call(math, 'imul', draw.number(0, 2 ** 31), draw.number(0, 2 ** 31)),
  (draw) => call(math, 'fround', fraction(draw)),
  (draw) => call(draw.number(2 ** 20, 2 ** 50), 'toString', draw.number(2, 36)),
  (draw) => call(fraction(draw), draw.of(['toFixed', 'toExponential']), draw.number(0, 8)),
  (draw) => call(fraction(draw), 'toPrecision', draw.number(1, 9)),
  (draw) => call(realm('globalThis'), 'parseInt', draw.word(9, '0123456789abz'), draw.number(11, 36)),
  (draw) => call(realm('Number'), 'parseFloat', `${fraction(draw)}e-${draw.number(3, 40)}${draw.word()}`),
  (draw) => call(date(draw), draw.of(['toISOString', 'toUTCString', 'getUTCDay', 'toJSON'])),
  (draw) => call(date(draw), 'setUTCHours', draw.number(-99, 99), draw.number(-99, 99), draw.number(-99, 99)),
  (draw) =>
    call(realm('Date'), 'parse', `20${draw.number(10, 60)}-0${draw.number(1, 9)}-11T05:17:41+0${draw.number(1, 9)}:30`),
  (draw) => call(words(draw), 'replace', construct('RegExp', `([${draw.word(4)}])(.)`, 'g'), '$2<$1$&>'),
  (draw) => call(words(draw), 'split', construct('RegExp', `([${draw.word(3)}])`), draw.number(2, 9)),
  (draw) => call(words(draw), 'match', construct('RegExp', `\\b[${draw.word(9)}]+?(?=\\w)`, 'gi')),
  (draw) => call(words(draw), 'search', construct('RegExp', `[^${draw.word(12)} ]\\w*$`)),
  (draw) =>
    call(
      realm('JSON'),
      'stringify',
      parsed({ [draw.word()]: numbers(draw, 3, 99), [draw.number(1, 99)]: draw.word() }),
      null,
      draw.number(1, 4),
    ),
  (draw) =>
    call(
      realm('Object'),
      'keys',
      call(
        realm('JSON'),
        'parse',
        `{${draw.list(7, () => `"${draw.of([draw.word(2), draw.number(0, 99)])}":0`).join()}}`,
      ),
    ),
  (draw) => call(list(...numbers(draw, 8, 2000)), 'sort'),
  (draw) =>
    call(list(...numbers(draw, 6, 2 ** 30)), 'map', body(call(math, 'imul', argument(0), draw.number(3, 2 ** 30)))),
  (draw) => call(list(...numbers(draw, 6, 2 ** 20)), 'reduce', body(call(math, 'imul', argument(0), argument(1)))),
  (draw) =>
    call(list(...numbers(draw, 9, 30)), 'copyWithin', draw.number(-5, 5), draw.number(-5, 5), draw.number(-5, 9)),
  (draw) => call(list(...numbers(draw, 9, 30)), 'splice', draw.number(-9, 9), draw.number(1, 9)),
  (draw) => call(words(draw), draw.of(['slice', 'substring', 'substr']), draw.number(-20, 20), draw.number(-20, 20)),
  (draw) => call(draw.word(), 'padStart', draw.number(9, 20), draw.word(3)),
  (draw) => call(realm('globalThis'), 'encodeURIComponent', draw.word(6, 'äß€ %&/=') + draw.word()),
  (draw) => call(realm('globalThis'), 'escape', draw.word(6, 'äß€ę %&/=')),
  (draw) => call(draw.word(6, 'äößéñçå'), 'normalize', draw.of(['NFD', 'NFKD'])),
  (draw) => call(draw.word(6, 'äßŉǰfi'), 'toUpperCase'),
  (draw) => construct('Uint8Array', get(construct('Float64Array', list(fraction(draw), fraction(draw))), 'buffer')),
  (draw) => construct('Uint8ClampedArray', list(fraction(draw), -fraction(draw), fraction(draw), draw.number(0, 400))),
  (draw) => construct('Int16Array', list(...numbers(draw, 4, 2 ** 31))),
];

/** Texts of errors that the recorded versions of Chromium have had. */
export const chromiumQuestions: readonly Question[] = [
  (draw) => ['error', get(null, draw.word())],
  (draw) => ['error', get(get(list(), draw.word()), draw.word())],
  (draw) => ['error', call(draw.word(), 'repeat', -draw.number(1, 9999))],
  (draw) => ['error', call(realm('Object'), 'fromEntries', draw.number(1, 9999))],
  (draw) => ['error', construct('Set', draw.number(1, 9999))],
  (draw) => ['error', call(realm('globalThis'), 'BigInt', fraction(draw))],
  (draw) => ['error', ['has', draw.word(), draw.word()]],
  (draw) => ['error', construct('RegExp', `${draw.word()}(${draw.word()}`)],
  (draw) => ['error', call(realm('Object'), 'setPrototypeOf', list(), draw.number(1, 9999))],
];

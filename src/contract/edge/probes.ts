/**
 * The questions that a page answers about its engine before it opens a session. A question is a small expression over the
 * interfaces of a browser, as data: no policy of a page forbids it. Each load numbers the operations in another way. The
 * page evaluates the expressions, and so does the service for what the standard of the language decides.
 */
import type { EnvironmentReport } from './page-reports.ts';

/**
 * `realm`, `page`: a global of an empty frame, or of the page. `function`, `argument`: a function with the expression as
 * its body, and one of its arguments. `error`: the text of the error that the expression throws. `report`: the page's report.
 */
export const probeOperations = [
  'realm',
  'page',
  'get',
  'set',
  'call',
  'new',
  'list',
  'function',
  'argument',
  'type',
  'has',
  'error',
  'report',
] as const;
type Operation = (typeof probeOperations)[number];

/** A value as it is, or a list of an operation and what it takes. `Name`: the operation's name, or its number on the wire. */
export type ProbeExpression<Name = Operation> =
  | string
  | number
  | boolean
  | null
  | readonly [Name, ...ProbeExpression<Name>[]];

export interface Probes {
  /** For each number of an operation its place in `probeOperations`. */
  operations: readonly number[];
  salt: string;
  questions: readonly ProbeExpression<number>[];
}

export interface ProbeWorld {
  realm: object;
  page: object;
  report: string;
}

/** Never throws: a question that throws is answered with its error. */
export function answersTo({ operations, salt, questions }: Probes, world: ProbeWorld): string[] {
  return questions.map((question) => saltedAnswer(salt, answerTo(question, operations, world)));
}

/** What the salt of a load makes of an answer, so that it fits no other load. Answers are recorded without a salt. */
export function saltedAnswer(salt: string, answer: string): string {
  return salt === '' ? answer : shortHash(`${salt} ${answer}`);
}

/** The same in every load. */
export function answerTo(question: ProbeExpression<number>, operations: readonly number[], world: ProbeWorld): string {
  return shortHash(textOf(() => evaluated(question, [])));

  function evaluated(expression: ProbeExpression<number>, given: readonly unknown[]): unknown {
    if (typeof expression !== 'object' || expression === null) return expression;
    const [number, ...parts] = expression;
    const operation = probeOperations[operations[number]!];
    const first = parts[0]!;
    if (operation === 'function') return (...values: unknown[]) => evaluated(first, values);
    if (operation === 'error') return errorOf(() => evaluated(first, given));
    const values = parts.map((part) => evaluated(part, given));
    const [target, key, ...more] = values as [Loose, string, ...unknown[]];
    switch (operation) {
      case 'realm':
      case 'page':
        return (world[operation] as Loose)[values[0] as string];
      case 'get':
        return target[key];
      case 'set':
        target[key] = more[0];
        return target;
      case 'call':
        return Reflect.apply(target[key] as Callable, target, more);
      case 'new':
        return Reflect.construct(values[0] as Callable, values.slice(1));
      case 'list':
        return values;
      case 'argument':
        return given[values[0] as number];
      case 'type':
        return typeof target;
      case 'has':
        return key in target;
      case 'report':
        return world.report;
      default:
        return undefined;
    }
  }
}

type Loose = Record<string, unknown>;
type Callable = (...values: unknown[]) => unknown;

function textOf(evaluate: () => unknown): string {
  try {
    return String(evaluate());
  } catch (error) {
    return `throws ${String(error)}`;
  }
}

function errorOf(evaluate: () => unknown): string {
  try {
    evaluate();
    return 'none';
  } catch (error) {
    return String(error);
  }
}

/** Everything that a page reports, in one order: a report that was changed on its way has another text. */
export function reportText(report: Omit<EnvironmentReport, 'answers'>): string {
  const { traits, engine, marks, features, userAgent, system, hints, renderer, signs } = report;
  const { brands, mobile, platform } = hints ?? {};
  return [traits, engine, marks, features, userAgent, system, brands, mobile, platform, renderer, signs].join('|');
}

/** FNV-1a, mixed as in MurmurHash3, of which four letters are kept: one guess in a million is right. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0).toString(36).slice(-4);
}

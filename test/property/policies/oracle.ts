/**
 * What conditions mean, as the documentation says it, and in no hurry: standard parsers, regular expressions, addresses as
 * big integers. It shares no code with the engine.
 */
import type { Expression, PolicyTest } from '../../../src/policies/expression.ts';
import type { PolicyRequest } from '../../../src/policies/request.ts';

/** `path`: one reading of the request's path. `isFolded`: path and values are compared in lower case. */
export interface Reading {
  request: PolicyRequest;
  path: string;
  isFolded: boolean;
}

export function readingsOf(request: PolicyRequest): Reading[] {
  return (request.paths ?? []).flatMap((path) => [
    { request, path, isFolded: false },
    { request, path: path.toLowerCase(), isFolded: true },
  ]);
}

export function holds(expression: Expression, reading: Reading): boolean {
  if ('and' in expression) return expression.and.every((part) => holds(part, reading));
  if ('or' in expression) return expression.or.some((part) => holds(part, reading));
  if ('not' in expression) return !holds(expression.not, reading);
  return testHolds(expression, reading);
}

export function testHolds(test: PolicyTest, reading: Reading): boolean {
  const facts = factsOf(test, reading);
  const { operator, value, field } = test;
  if (operator === 'exists') return facts.length > 0;
  const values = (Array.isArray(value) ? value : [value]).map((one) => spelled(test, one as string | number, reading));
  const [first] = values;
  return facts.some((fact) => {
    switch (operator) {
      case 'equals':
      case 'in':
        return values.includes(fact);
      case 'greaterThan':
        return (fact as number) > (first as number);
      case 'startsWith':
        return String(fact).slice(0, String(first).length) === first;
      case 'endsWith':
        return String(fact).split('').toReversed().join('').startsWith(String(first).split('').toReversed().join(''));
      case 'contains':
        return String(fact).split(String(first)).length > 1;
      case 'matches':
        return globOf(String(first), field === 'path').test(String(fact));
      case 'ipIn':
        return values.some((network) => isWithin(String(fact), String(network)));
    }
  });
}

function factsOf({ field, name = '' }: PolicyTest, { request, path }: Reading): (string | number)[] {
  switch (field) {
    case 'path':
      return [path];
    case 'header': {
      const value = request.headers?.get(name.toLowerCase()) ?? null;
      return value === null ? [] : [value];
    }
    case 'query':
      return new URLSearchParams(request.query).getAll(name);
    case 'cookie':
      return cookieValues(request.cookie ?? '', name);
    case 'userAgent':
      return request.userAgent === '' ? [] : [request.userAgent.toLowerCase().replaceAll('ς', 'σ')];
    case 'ipCategory':
      return [...request.ipCategories];
    case 'bot': {
      if (request.bot === null) return [];
      const { id, behaviours, proof } = request.bot;
      return name === '' ? [id] : name === 'proof' ? [proof] : [...behaviours];
    }
    default: {
      const fact = request[field];
      return fact === null ? [] : [fact];
    }
  }
}

/** Cut at semicolons, and also at semicolons and commas. */
function cookieValues(header: string, name: string): string[] {
  return [/;/, /[;,]/].flatMap((end) =>
    header.split(end).flatMap((piece) => {
      const [key = '', ...rest] = piece.split('=');
      const value = rest.join('=').trim();
      return header !== '' && key.trim() === name
        ? [/^".*"$/.test(value) && value !== '"' ? value.slice(1, -1) : value]
        : [];
    }),
  );
}

function spelled({ field }: PolicyTest, value: string | number, { isFolded }: Reading): string | number {
  if (typeof value === 'number') return value;
  if (field === 'path') {
    const path = value.replaceAll(' ', '%20').replaceAll('ä', '%C3%A4');
    return isFolded ? path.toLowerCase() : path;
  }
  return field === 'host' || field === 'userAgent' ? value.toLowerCase() : value;
}

const globs = new Map<string, RegExp>();

function globOf(glob: string, isPath: boolean): RegExp {
  const key = `${isPath} ${glob}`;
  let pattern = globs.get(key);
  if (!pattern) {
    const parts = glob.split(/(\*+)/).map((part) => {
      if (!part.startsWith('*')) return part.replace(/[^\w]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
      return isPath && part === '*' ? '[^/]*' : '[^]*';
    });
    pattern = new RegExp(`^${parts.join('')}$`, 'u');
    globs.set(key, pattern);
  }
  return pattern;
}

function isWithin(address: string, network: string): boolean {
  const [base = '', length] = network.split('/');
  if (base.includes(':') !== address.includes(':')) return false;
  const bits = base.includes(':') ? 128 : 32;
  const shift = BigInt(bits - Number(length ?? bits));
  return numberOf(address) >> shift === numberOf(base) >> shift;
}

function numberOf(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  const [head = '', tail = ''] = address.split('::');
  const [before, after] = [head, tail].map((half) => half.split(':').filter((group) => group !== ''));
  const groups = [...before!, ...Array<string>(8 - before!.length - after!.length).fill('0'), ...after!];
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

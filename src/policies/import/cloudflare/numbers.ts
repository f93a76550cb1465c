/** Comparisons of Cloudflare's numbers and addresses, which stand without quotes. */
import { parseCidr, parseIp } from '../../../address/ip.ts';
import { ASN_MAX } from '../../../contract/management/policy-set/policy-fields.ts';
import { all, any, atLeast, below, type Condition, negated, oneOf } from '../condition.ts';
import { NotExpressible } from '../report.ts';
import type { Reader } from '../scan.ts';

export function compareNumber(reader: Reader, operator: string): Condition {
  if (operator === 'in') {
    const words = readSet(reader);
    const single = words.filter((word) => !word.includes('..')).map(wholeNumber);
    const ranges = words.filter((word) => word.includes('..')).map(numberRange);
    return any([...(single.length > 0 ? [oneOf({ field: 'asn' }, 'in', single)] : []), ...ranges]);
  }
  const value = wholeNumber(readWord(reader, 'a number'));
  const equal: Condition = { field: 'asn', operator: 'equals', value };
  if (operator === 'eq') return equal;
  if (operator === 'ne') return negated(equal);
  if (operator === 'gt') return atLeast('asn', value + 1);
  if (operator === 'ge') return atLeast('asn', value);
  if (operator === 'lt') return below('asn', value);
  if (operator === 'le') return below('asn', value + 1);
  throw new NotExpressible(`a number cannot be compared with ${operator.slice(0, 20)}`);
}

export function compareAddress(reader: Reader, operator: string): Condition {
  const words = operator === 'in' ? readSet(reader) : [readWord(reader, 'an address')];
  const bad = words.find((word) => parseIp(word) === null && parseCidr(word) === null);
  if (bad !== undefined) {
    const isRange = bad.includes('..');
    throw new NotExpressible(`${bad.slice(0, 60)} is ${isRange ? 'a range; write it as networks' : 'no address'}`);
  }
  const found = oneOf({ field: 'ip' }, 'ipIn', words);
  if (operator === 'eq' || operator === 'in') return found;
  if (operator === 'ne') return negated(found);
  throw new NotExpressible(`an address cannot be compared with ${operator.slice(0, 20)}`);
}

/** `{a b c}`, or a list of the account, which the file does not have. */
function readSet(reader: Reader): string[] {
  if (reader.next.value.startsWith('$')) {
    const name = reader.next.value.slice(0, 60);
    throw new NotExpressible(
      `the list ${name} is kept by Cloudflare and is not in the file; write its values, or make access rules of them`,
    );
  }
  reader.needs('{');
  const words: string[] = [];
  while (!reader.skips('}')) words.push(readWord(reader, 'a value or "}"'));
  return words;
}

function readWord(reader: Reader, wanted: string): string {
  if (reader.next.kind !== 'word') throw reader.unexpected(wanted);
  return reader.take().value;
}

function wholeNumber(word: string): number {
  const number = /^\d{1,10}$/.test(word) ? Number(word) : Number.NaN;
  if (!(number <= ASN_MAX)) throw new NotExpressible(`${word.slice(0, 60)} is no number of a network`);
  return number;
}

function numberRange(word: string): Condition {
  const [first = '', last = '', ...more] = word.split('..');
  if (more.length > 0) throw new NotExpressible(`${word.slice(0, 60)} is no range`);
  return all([atLeast('asn', wholeNumber(first)), negated(atLeast('asn', wholeNumber(last) + 1))]);
}

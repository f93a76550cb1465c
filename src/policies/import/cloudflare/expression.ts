/**
 * Reads an expression of Cloudflare's Rules language as the condition of a policy. `not` binds closer than `and`, `and`
 * closer than `xor`, `xor` closer than `or`. What a policy cannot say, in whole, is refused with the reason.
 */
import { all, any, type Condition, negated } from '../condition.ts';
import { NotExpressible, SOURCE_MAX_CHARS } from '../report.ts';
import { Reader, scan } from '../scan.ts';
import type { Differences } from '../text-subject.ts';
import { readComparison } from './comparison.ts';
import { cloudflareLexicon } from './lexicon.ts';

/** @throws NotExpressible */
export function readCloudflareExpression(source: string, differences: Differences): Condition {
  if (source.length > SOURCE_MAX_CHARS) {
    throw new NotExpressible(`the expression is longer than ${SOURCE_MAX_CHARS} characters`);
  }
  const reader = new Reader(scan(source, cloudflareLexicon));
  const condition = readOr(reader, differences);
  if (reader.next.kind !== 'end') throw reader.unexpected('"and", "or" or the end');
  return condition;
}

function readOr(reader: Reader, differences: Differences): Condition {
  const parts = [readXor(reader, differences)];
  while (reader.skips('or', '||')) parts.push(readXor(reader, differences));
  return any(parts);
}

function readXor(reader: Reader, differences: Differences): Condition {
  let left = readAnd(reader, differences);
  while (reader.skips('xor', '^^')) {
    const right = readAnd(reader, differences);
    left = any([all([left, negated(right)]), all([negated(left), right])]);
  }
  return left;
}

function readAnd(reader: Reader, differences: Differences): Condition {
  const parts = [readNot(reader, differences)];
  while (reader.skips('and', '&&')) parts.push(readNot(reader, differences));
  return all(parts);
}

function readNot(reader: Reader, differences: Differences): Condition {
  return reader.nested(() => {
    if (reader.skips('not', '!')) return negated(readNot(reader, differences));
    if (!reader.skips('(')) return readComparison(reader, differences);
    const inner = readOr(reader, differences);
    reader.needs(')');
    return inner;
  });
}

/** One rule of an Anubis policy: matchers that all have to fit, and an action. */
import { parseNetwork } from '../../../address/ip.ts';
import { isJsonObject } from '../../../bytes/json.ts';
import { ASN_MAX } from '../../../contract/management/policy-set/policy-fields.ts';
import type { PolicyAction } from '../../../contract/management/policy-set/policy.ts';
import { all, any, type Condition, isEmpty, negated, oneOf } from '../condition.ts';
import { NotExpressible } from '../report.ts';
import type { ReadRule } from '../taken-rule.ts';
import { compareRegex, type DifferenceNotes, type TextSubject } from '../text-subject.ts';
import { readCel } from './cel.ts';

const LIST_MAX = 5000;

type Matcher = (value: unknown, differences: DifferenceNotes) => Condition;

const matchers: Readonly<Record<string, Matcher>> = {
  user_agent_regex: (value, differences) => matched({ field: 'userAgent', letterCase: 'exact' }, value, differences),
  path_regex: (value, differences) => matched({ field: 'path', letterCase: 'exact' }, value, differences),
  headers_regex: headersMatched,
  remote_addresses: addressesMatched,
  expression: expressionMatched,
  geoip: countriesMatched,
  asns: networksMatched,
};
/** Fields of a rule that are read elsewhere. */
const otherFields: readonly string[] = ['name', 'action', 'weight', 'challenge', 'import'];

export function readAnubisRule(
  rule: Record<string, unknown>,
  mode: ReadRule['mode'],
  differences: DifferenceNotes,
): ReadRule {
  if (rule['import'] !== undefined) {
    throw new NotExpressible('it names another file of Anubis; import that file by itself');
  }
  const unknown = Object.keys(rule).find((key) => !otherFields.includes(key) && !Object.hasOwn(matchers, key));
  if (unknown !== undefined) throw new NotExpressible(`a policy has nothing like ${unknown.slice(0, 60)}`);
  const then = readAction(rule, differences);
  const given = Object.keys(matchers).filter((key) => rule[key] !== undefined && rule[key] !== null);
  if (given.length === 0) throw new NotExpressible('it has no matcher');
  return { when: all(given.map((key) => matchers[key]!(rule[key], differences))), then, mode };
}

function readAction({ action, challenge }: Record<string, unknown>, differences: DifferenceNotes): PolicyAction {
  switch (action) {
    case 'ALLOW':
      differences.add('it ends the search for a policy, and access rules, bots and risk still decide');
      return { action: 'allow' };
    case 'DENY':
      return { action: 'block' };
    case 'CHALLENGE':
      differences.add(
        isJsonObject(challenge)
          ? "the challenge is Gatehouse's; its algorithm and difficulty are the site's"
          : "the challenge is Gatehouse's",
      );
      return { action: 'challenge' };
    case 'WEIGH':
      throw new NotExpressible('it adds to a weight, and policies decide by themselves; see risk');
    default:
      throw new NotExpressible(`a policy has no action like ${String(action).slice(0, 60)}`);
  }
}

/** A header that is missing is an empty text there. */
function matched(subject: TextSubject, value: unknown, differences: DifferenceNotes): Condition {
  if (typeof value !== 'string') throw new NotExpressible('a regular expression must be a text');
  return compareRegex(subject, value.trim(), differences);
}

function headersMatched(value: unknown, differences: DifferenceNotes): Condition {
  if (!isJsonObject(value)) throw new NotExpressible('headers_regex must have a regular expression for each header');
  const headers = Object.entries(value).map(([key, regex]): Condition => {
    const name = key.trim();
    // Anubis reads this as a header that says something.
    if (regex === '.*') return negated(isEmpty({ field: 'header', name }));
    return matched({ field: 'header', name, letterCase: 'exact' }, regex, differences);
  });
  if (headers.length > 0) differences.add('a header that is sent several times is compared as one text, with commas');
  return all(headers);
}

function addressesMatched(value: unknown): Condition {
  const networks = listOf(value, 'remote_addresses').map(String);
  const bad = networks.find((network) => parseNetwork(network) === null);
  if (bad !== undefined) throw new NotExpressible(`${bad.slice(0, 60)} is no network`);
  return oneOf({ field: 'ip' }, 'ipIn', networks);
}

/** One expression, or `all:` or `any:` with several. */
function expressionMatched(value: unknown, differences: DifferenceNotes): Condition {
  if (typeof value === 'string') return readCel(value, differences);
  const fields = isJsonObject(value) ? Object.entries(value) : [];
  const [kind, expressions] = fields[0] ?? [];
  if (fields.length !== 1 || (kind !== 'all' && kind !== 'any')) {
    throw new NotExpressible('expression must be a text, or a list under all or any');
  }
  const parts = listOf(expressions, kind).map((one) => readCel(String(one), differences));
  return kind === 'all' ? all(parts) : any(parts);
}

function countriesMatched(value: unknown): Condition {
  const countries = listOf(isJsonObject(value) ? value['countries'] : undefined, 'geoip.countries');
  const codes = countries.map((code) => String(code).toUpperCase());
  return oneOf({ field: 'country' }, 'in', codes);
}

function networksMatched(value: unknown): Condition {
  const numbers = listOf(isJsonObject(value) ? value['match'] : undefined, 'asns.match');
  if (!numbers.every((asn) => Number.isInteger(asn) && (asn as number) >= 0 && (asn as number) <= ASN_MAX)) {
    throw new NotExpressible('asns.match must have numbers of networks');
  }
  return oneOf({ field: 'asn' }, 'in', numbers as number[]);
}

function listOf(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new NotExpressible(`${name} must be a list with values`);
  if (value.length > LIST_MAX) throw new NotExpressible(`${name} has more than ${LIST_MAX} values`);
  return value;
}

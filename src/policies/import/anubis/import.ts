/** Reads a policy file of Anubis: the rules under `bots`, in YAML or JSON. */
import { isJsonObject } from '../../../bytes/json.ts';
import { POLICIES_MAX, type PolicyAction } from '../../../contract/management/policy-set/policy.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { NotExpressible, PolicyNames, type ImportReport, type ImportSettings, type ImportedRule } from '../report.ts';
import { type ReadRule, takenRule } from '../taken-rule.ts';
import { Composer, Lexer, Parser, type CST } from 'yaml';
import { parseNetwork } from '../../../address/ip.ts';
import { ASN_MAX } from '../../../contract/management/policy-set/policy-fields.ts';
import { all, any, isEmpty, negated, oneOf, type Condition } from '../condition.ts';
import { compareRegex, type DifferenceNotes, type TextSubject } from '../text-subject.ts';
import { readCel } from './cel.ts';

const NOTES_MAX = 20;

/** Fails for a file that holds no rules. A rule that cannot be taken is in the report. */
export function importAnubisPolicy(content: string, { mode }: ImportSettings): Result<ImportReport, string> {
  const document = readYaml(content);
  if (!document.ok) return document;
  const bots = isJsonObject(document.value) ? document.value['bots'] : document.value;
  if (!Array.isArray(bots)) return failed('has no list of rules under "bots"');
  if (bots.length === 0) return failed('has no rule');
  if (bots.length > POLICIES_MAX) {
    return failed(`has ${bots.length} rules, and a policy set has at most ${POLICIES_MAX}`);
  }
  const names = new PolicyNames();
  const rules = bots.map((rule, index): ImportedRule => {
    const fields = isJsonObject(rule) ? rule : {};
    const name = typeof fields['name'] === 'string' ? fields['name'] : '';
    const source = name || (typeof fields['import'] === 'string' ? `import: ${fields['import']}` : '');
    const place = `rule ${index + 1}`;
    return takenRule({ place, source, name, fallbackName: `rule-${index + 1}` }, names, (differences) => {
      if (!isJsonObject(rule)) throw new NotExpressible('it is no rule');
      return readAnubisRule(rule, mode, differences);
    });
  });
  return ok({ rules, notes: notesOn(document.value) });
}

function notesOn(document: unknown): string[] {
  const others = isJsonObject(document) ? Object.keys(document).filter((key) => key !== 'bots') : [];
  return others.slice(0, NOTES_MAX).map((key) => `"${key.slice(0, 60)}" has no counterpart and is left out`);
}

/** Files with a hundred rules have 20,000. */
const CONTENT_MAX_CHARS = 128 * 1024;
const DEPTH_MAX = 30;
const tooDeep = `is nested deeper than ${DEPTH_MAX} levels`;

/**
 * Reads YAML of unknown origin. References (`*name`) are not followed, so that a short file cannot stand for a long one.
 * Length and depth are bounded before the tree is built: the library builds it by calling itself, and takes time with the
 * square of the depth.
 */
function readYaml(content: string): Result<unknown, string> {
  if (content.length > CONTENT_MAX_CHARS) return failed(`is longer than ${CONTENT_MAX_CHARS} characters`);
  if (isDeepInALine(content)) return failed(tooDeep);
  const tokens = [...new Parser().parse(content)];
  if (tokens.some((token) => depthOf(token) > DEPTH_MAX)) return failed(tooDeep);
  const documents = [...new Composer({ schema: 'core', merge: false, logLevel: 'error' }).compose(tokens)];
  const [document] = documents;
  if (document === undefined) return failed('is empty');
  if (documents.length > 1) return failed('has more than one YAML document');
  const [error] = document.errors;
  if (error) return failed(`is no YAML: ${error.message.split('\n', 1)[0]!.slice(0, 200)}`);
  try {
    return ok(document.toJS({ maxAliasCount: 0 }));
  } catch (thrown) {
    return failed(`is no plain YAML: ${(thrown instanceof Error ? thrown.message : String(thrown)).slice(0, 200)}`);
  }
}

/** Brackets open at once, and indicators such as `- - -` on one line. Depth by indentation needs many lines. */
function isDeepInALine(content: string): boolean {
  let open = 0;
  let onLine = 0;
  for (const lexeme of new Lexer().lex(content)) {
    if (lexeme === '[' || lexeme === '{') open += 1;
    else if (lexeme === ']' || lexeme === '}') open -= 1;
    else if (lexeme === '-' || lexeme === '?') onLine += 1;
    else if (lexeme === '\n' || lexeme === '\r\n') onLine = 0;
    if (open > DEPTH_MAX || onLine > DEPTH_MAX) return true;
  }
  return false;
}

/** In a loop, because a stack would not hold the depth that it looks for. */
function depthOf(root: CST.Token): number {
  let deepest = 0;
  const waiting: [token: CST.Token, depth: number][] = [[root, 1]];
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const [token, depth] = visit;
    deepest = Math.max(deepest, depth);
    if (deepest > DEPTH_MAX) return deepest;
    if (token.type === 'document' && token.value) waiting.push([token.value, depth]);
    if (!('items' in token)) continue;
    for (const { key, value } of token.items) {
      if (key) waiting.push([key, depth + 1]);
      if (value) waiting.push([value, depth + 1]);
    }
  }
  return deepest;
}

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

/** One rule: matchers that all have to fit, and an action. */
function readAnubisRule(rule: Record<string, unknown>, mode: ReadRule['mode'], differences: DifferenceNotes): ReadRule {
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

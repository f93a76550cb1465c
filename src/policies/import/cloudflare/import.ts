/**
 * Reads rules of Cloudflare: expressions, one a line (`#` begins a comment), or the JSON of a ruleset as its API exports
 * it, of older firewall rules too.
 */
import { isJsonObject, parseJson } from '../../../bytes/json.ts';
import {
  POLICIES_MAX,
  redirectLocation,
  type Policy,
  type PolicyAction,
} from '../../../contract/management/policy-set/policy.ts';
import { failed, ok, type Result } from '../../../result.ts';
import {
  IMPORT_MAX_CHARS,
  NotExpressible,
  PolicyNames,
  type ImportReport,
  type ImportSettings,
  type ImportedRule,
} from '../report.ts';
import { takenRule } from '../taken-rule.ts';
import { readCloudflareExpression } from './expression.ts';
import type { DifferenceNotes } from '../text-subject.ts';

/** Fails for a file that holds no rules. A rule that cannot be taken is in the report. */
export function importCloudflareRules(content: string, settings: ImportSettings): Result<ImportReport, string> {
  if (content.length > IMPORT_MAX_CHARS) return failed(`is longer than ${IMPORT_MAX_CHARS} characters`);
  return /^\s*[[{]/.test(content) ? importRuleset(content, settings) : importLines(content, settings);
}

function importLines(content: string, { action, mode }: ImportSettings): Result<ImportReport, string> {
  const lines = content
    .split(/\r\n|\r|\n/)
    .map((text, index) => ({ text: text.trim(), number: index + 1 }))
    .filter(({ text }) => text !== '' && !text.startsWith('#'));
  if (lines.length === 0) return failed('has no expression');
  if (lines.length > POLICIES_MAX) return failed(tooMany(lines.length));
  const names = new PolicyNames();
  const rules = lines.map(({ text, number }): ImportedRule => {
    const name = `line-${number}`;
    const source = { place: `line ${number}`, source: text, name, fallbackName: name };
    return takenRule(source, names, (differences) => ({
      when: readCloudflareExpression(text, differences),
      then: { action },
      mode,
    }));
  });
  return ok({ rules, notes: [] });
}

function importRuleset(content: string, settings: ImportSettings): Result<ImportReport, string> {
  const found = rulesOf(parseJson(content));
  if (found === null) return failed('is neither expressions, one a line, nor the JSON of a ruleset with rules');
  if (found.length === 0) return failed('has no rule');
  if (found.length > POLICIES_MAX) return failed(tooMany(found.length));
  const names = new PolicyNames();
  return ok({ rules: found.map((rule, index) => importRule(rule, index + 1, names, settings)), notes: [] });
}

function tooMany(count: number): string {
  return `has ${count} rules, and a policy set has at most ${POLICIES_MAX}`;
}

/** Of a ruleset, of the API's response with one, or of the list that older firewall rules are. */
function rulesOf(document: unknown): unknown[] | null {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) return null;
  const inner = document['result'] ?? document;
  if (Array.isArray(inner)) return inner;
  const rules = isJsonObject(inner) ? inner['rules'] : undefined;
  return Array.isArray(rules) ? rules : null;
}

function importRule(rule: unknown, number: number, names: PolicyNames, settings: ImportSettings): ImportedRule {
  const fields = isJsonObject(rule) ? rule : {};
  const filter = isJsonObject(fields['filter']) ? fields['filter'] : {};
  const expression = fields['expression'] ?? filter['expression'];
  const description = typeof fields['description'] === 'string' ? fields['description'] : undefined;
  const source = {
    place: `rule ${number}`,
    source: description || (typeof expression === 'string' ? expression : ''),
    name: description ?? '',
    fallbackName: `rule-${number}`,
    description,
  };
  return takenRule(source, names, (differences) => {
    if (typeof expression !== 'string') throw new NotExpressible('the rule has no expression');
    if (fields['ratelimit'] !== undefined) {
      throw new NotExpressible('the rule counts requests; make a limit and a policy that applies it');
    }
    const action = fields['action'];
    const { then, mode } =
      typeof action === 'string' ? readAction(action, fields['action_parameters'], differences) : noAction(settings);
    const isOff = fields['enabled'] === false || fields['paused'] === true;
    if (isOff) differences.add('the rule is turned off there; the policy is in monitor mode');
    return {
      when: readCloudflareExpression(expression, differences),
      then,
      mode: isOff ? 'monitor' : (mode ?? settings.mode),
    };
  });
}

function noAction({ action }: ImportSettings): ReturnType<typeof readAction> {
  return { then: { action } };
}

/** What an action of Cloudflare is in a policy. */
interface ReadAction {
  then: PolicyAction;
  /** Of a rule that only writes to the log. */
  mode?: Policy['mode'];
}

const allowDifference =
  'Cloudflare skips chosen products; here the search for a policy ends, and access rules, bots and risk still decide';

function readAction(action: string, parameters: unknown, differences: DifferenceNotes): ReadAction {
  switch (action) {
    case 'block':
      return { then: { action: 'block' } };
    case 'managed_challenge':
    case 'js_challenge':
      differences.add("the challenge is Gatehouse's");
      return { then: { action: 'challenge' } };
    case 'challenge':
      differences.add("the challenge is Gatehouse's, by image or puzzle");
      return { then: { action: 'challenge', level: 2 } };
    case 'skip':
    case 'allow':
    case 'bypass':
      differences.add(allowDifference);
      return { then: { action: 'allow' } };
    case 'log':
      differences.add('the policy is a blocking one in monitor mode, which only records');
      return { then: { action: 'block' }, mode: 'monitor' };
    case 'redirect':
      return { then: readRedirect(parameters, differences) };
    default:
      throw new NotExpressible(`a policy has no action like ${action.slice(0, 60)}`);
  }
}

function readRedirect(parameters: unknown, differences: DifferenceNotes): PolicyAction {
  const from = isJsonObject(parameters) ? parameters['from_value'] : undefined;
  const target = isJsonObject(from) ? from['target_url'] : undefined;
  const location = isJsonObject(target) ? target['value'] : undefined;
  if (!isJsonObject(from) || typeof location !== 'string') {
    throw new NotExpressible('a policy redirects to one fixed address only');
  }
  if (!redirectLocation.safeParse(location).success) {
    throw new NotExpressible('a policy redirects to a path of the same site or to an https address only');
  }
  if (from['preserve_query_string'] === true) differences.add('the query is not added to the address');
  const status = from['status_code'];
  if (status === 302 || status === 303 || status === 307 || status === 308) {
    return { action: 'redirect', location, status };
  }
  if (status !== undefined) differences.add('the status is 302: browsers keep a permanent redirect for good');
  return { action: 'redirect', location, status: 302 };
}

/**
 * What is typed for policies: conditions, actions, requests, and files of them. It is checked here, so that an error points
 * at its place before anything is sent.
 */
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { expressionProblem } from '../../contract/management/policy-set/expression.ts';
import { policyAction, type PolicyAction } from '../../contract/management/policy-set/policy.ts';
import { canonicalExpression } from '../../policies/canonical.ts';
import type { Expression } from '../../policies/expression.ts';
import { readPasted, type GivenRequest } from '../../policies/pasted/pasted-request.ts';
import { parseExpression, type TextError } from '../../policies/text/parse.ts';
import { CommandError } from '../command-line.ts';
import { contentOf, fileName } from '../flag-values.ts';

/** Of the line in which an error is, so that it fits on a screen. */
const SHOWN_BEFORE_CHARS = 60;
const SHOWN_AFTER_CHARS = 30;
/** Of a file. The service takes no more either. */
const FILE_MAX_BYTES = 4 * 1024 * 1024;

/** @throws CommandError that points at the error */
export function typedCondition(text: string, of = ''): Expression {
  const subject = `The condition${of === '' ? '' : ` of ${of}`}`;
  if (text.trimStart().startsWith('{')) return readTree(parseJson(text), subject);
  const parsed = parseExpression(text);
  if (parsed.ok) return parsed.value;
  throw new CommandError(`${subject} is not valid: ${parsed.error.message}\n\n${pointedAt(text, parsed.error)}`);
}

function readTree(tree: unknown, subject: string): Expression {
  const problem = expressionProblem(tree);
  if (problem) throw new CommandError(`${subject} is not valid: ${problem.path.join('.')} ${problem.message}`);
  const canonical = canonicalExpression(tree as Expression);
  if (canonical.ok) return canonical.value;
  throw new CommandError(`${subject} is not valid: ${canonical.error.path.join('.')} ${canonical.error.message}`);
}

/** The line with the error, and a caret below its place. */
export function pointedAt(text: string, { line, column }: TextError): string {
  const whole = text.split('\n')[line - 1] ?? '';
  const start = Math.max(0, column - 1 - SHOWN_BEFORE_CHARS);
  const shown = whole.slice(start, column - 1 + SHOWN_AFTER_CHARS).replace(/[\t\r]/g, ' ');
  const lead = start > 0 ? '…' : '';
  const where = text.includes('\n') ? `line ${line}\n` : '';
  return `${where}  ${lead}${shown}\n  ${' '.repeat(lead.length + column - 1 - start)}^`;
}

interface SetFile {
  policies: unknown[] | undefined;
  limits: unknown[] | undefined;
  origins: object | undefined;
}

/** The file of a policy set: `{"policies": […], "limits": […], "origins": {…}}`, or the list of policies alone. */
export function readSetFile(path: string): SetFile {
  const document = parseJson(policyFileText(path));
  const file = Array.isArray(document) ? { policies: document } : document;
  if (!isSetFile(file)) {
    throw new CommandError(
      `${fileName(path)} is no JSON of a policy set: {"policies": […], "limits": […], "origins": {…}}`,
    );
  }
  const { policies, limits, origins } = file;
  for (const [index, policy] of (policies ?? []).entries()) {
    if (!isJsonObject(policy) || typeof policy['when'] !== 'string') continue;
    const { name } = policy;
    typedCondition(policy['when'], typeof name === 'string' ? `the policy "${name}"` : `policy ${index + 1}`);
  }
  return { policies, limits, origins };
}

function isSetFile(file: unknown): file is SetFile {
  if (!isJsonObject(file) || !isListOrAbsent(file['policies']) || !isListOrAbsent(file['limits'])) return false;
  return file['origins'] === undefined || isJsonObject(file['origins']);
}

function isListOrAbsent(value: unknown): boolean {
  return value === undefined || Array.isArray(value);
}

/** `-`: standard input. */
export function policyFileText(path: string): string {
  return contentOf(path, FILE_MAX_BYTES);
}

const FORMS = 'allow, challenge [LEVEL], block, redirect LOCATION [STATUS], skipSession, limit NAME, origin NAME';

/** A policy's action as a few words, such as `challenge 2` or `redirect /maintenance 302`. @throws CommandError */
export function readAction(text: string): PolicyAction {
  const [action, first, second, ...more] = text.trim().split(/\s+/);
  const fields =
    action === 'challenge'
      ? { level: numberOf(first) }
      : action === 'redirect'
        ? { location: first, status: numberOf(second) }
        : action === 'limit'
          ? { limit: first }
          : action === 'origin'
            ? { origin: first }
            : {};
  const used = Object.keys(fields).length;
  const given = [first, second, ...more].filter((word) => word !== undefined).length;
  const known = Object.entries({ action, ...fields }).filter(([, value]) => value !== undefined);
  const read = policyAction.safeParse(Object.fromEntries(known));
  if (read.success && given <= used) return read.data;
  throw new CommandError(`"${text}" is no action. Use one of: ${FORMS}`);
}

function numberOf(word: string | undefined): number | undefined {
  return word === undefined ? undefined : Number(word);
}

export function printAction(then: PolicyAction): string {
  if (then.action === 'challenge') return then.level === undefined ? 'challenge' : `challenge ${then.level}`;
  if (then.action === 'redirect') return `redirect ${then.location} ${then.status}`;
  if (then.action === 'origin') return `origin ${then.origin}`;
  return then.action === 'limit' ? `limit ${then.limit}` : then.action;
}

/** A request to test policies on: its reference in the log, an address, or a file (`-`: standard input). @throws CommandError */
export function readRequest(word: string): GivenRequest {
  const asWritten = readPasted(word);
  const read = asWritten.ok ? asWritten : readPasted(policyFileText(word));
  if (read.ok) return read.value;
  throw new CommandError(read.error);
}

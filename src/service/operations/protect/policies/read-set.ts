/**
 * Policies, limits and origins as a caller sends them, checked and in canonical form. A condition may be its text form: the error
 * then has the line and column. The first 100 problems are named, and nothing is written.
 */
import type { ErrorDetail } from '../../../../contract/errors.ts';
import { expressionProblem } from '../../../../contract/management/policy-set/expression.ts';
import { type PolicySet, policySet } from '../../../../contract/management/policy-set/policy-set.ts';
import { isJsonObject } from '../../../../bytes/json.ts';
import { canonicalExpression, canonicalPolicySet } from '../../../../policies/canonical.ts';
import type { Expression } from '../../../../policies/expression.ts';
import { parseExpression, type TextError } from '../../../../policies/text/parse.ts';
import { failed, type Result } from '../../../../result.ts';
import { OperationError } from '../../operation-error.ts';

const DETAILS_MAX = 100;
const KEY_MAX_CHARS = 128;

interface ConditionError {
  message: string;
  /** Of the text form. */
  place: TextError | null;
  /** Of the tree: the bad part, such as `and.0.value`. */
  path: string | null;
}

/** What a caller sent, and where it sent nothing, what is stored. */
interface GivenSet {
  policies: readonly unknown[];
  limits: readonly unknown[];
  origins: unknown;
}

/** Absent: as in the stored set. */
type ProposedFields = { [Field in keyof GivenSet]?: GivenSet[Field] | undefined };

export function proposedOver(set: PolicySet, { policies, limits, origins }: ProposedFields): GivenSet {
  return { policies: policies ?? set.policies, limits: limits ?? set.limits, origins: origins ?? set.origins };
}

/** A condition in either form. */
export function checkCondition(given: unknown): Result<Expression, ConditionError> {
  if (typeof given === 'string') {
    const parsed = parseExpression(given);
    return parsed.ok ? parsed : failed({ message: parsed.error.message, place: parsed.error, path: null });
  }
  const problem = expressionProblem(given);
  const canonical = problem === null ? canonicalExpression(given as Expression) : failed(problem);
  if (canonical.ok) return canonical;
  const { message, path } = canonical.error;
  return failed({ message, place: null, path: path.join('.') });
}

/** Of a set with one policy that the caller sent: problems of that one are problems of the field `policy`. */
export function readSetWith(given: GivenSet, place: number): PolicySet {
  try {
    return readPolicySet(given);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    const prefix = `policies[${place}]`;
    const details = error.details?.map(({ path, message, index }) =>
      path.startsWith(prefix)
        ? { path: `policy${path.slice(prefix.length)}`, message }
        : { path, message, ...(index === undefined ? {} : { index }) },
    );
    throw new OperationError(error.key, error.message, details);
  }
}

/** @throws OperationError 400 with what is wrong, and where. */
export function readPolicySet({ policies, limits, origins }: GivenSet): PolicySet {
  const details: ErrorDetail[] = [];
  const read = policies.map((given, index) => {
    if (!isJsonObject(given) || typeof given['when'] !== 'string') return given;
    const condition = checkCondition(given['when']);
    if (condition.ok) return { ...given, when: condition.value };
    if (details.length < DETAILS_MAX) details.push(textDetail(index, condition.error));
    return given;
  });
  if (details.length > 0) throw refused(details);
  const parsed = policySet.safeParse({ policies: read, limits, origins });
  if (!parsed.success) throw refused(parsed.error.issues.slice(0, DETAILS_MAX).flatMap(issueDetail));
  const canonical = canonicalPolicySet(parsed.data);
  if (canonical.ok) return canonical.value;
  throw refused([detailOf(canonical.error.path, canonical.error.message)]);
}

function refused(details: readonly ErrorDetail[]): OperationError {
  return new OperationError('API.INVALID_BODY', 'The policy set is not valid; nothing was stored', details);
}

function textDetail(index: number, { message, place }: ConditionError): ErrorDetail {
  const where = place === null ? '' : `line ${place.line}, column ${place.column}: `;
  return { index, path: `policies[${index}].when`, message: `${where}${message}` };
}

function issueDetail({
  path,
  message,
  keys,
}: {
  path: PropertyKey[];
  message: string;
  keys?: string[];
}): ErrorDetail[] {
  if (keys === undefined) return [detailOf(path, message)];
  return keys.slice(0, 1).map((key) => detailOf([...path, key.slice(0, KEY_MAX_CHARS)], 'is not a known field'));
}

/** Such as `policies[3].then.limit`. */
function detailOf(path: readonly PropertyKey[], message: string): ErrorDetail {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  const index = path.find((step) => typeof step === 'number');
  return { ...(index === undefined ? {} : { index }), path: text.replace(/^\./, '').slice(0, 512), message };
}

/**
 * What an instance says about a path, compiled once per config: its type (`endpointRules`), the first matching `pathRules`
 * entry, and the paths that are never challenged. Matched against the canonical path and every other reading of it, also
 * without regard to letter case, because many origins open `/Admin` as `/admin`. The strictest applies.
 */
import type { InstancePolicy } from '../contract/management/instance-policy.ts';
import type { PathType } from '../contract/vocabulary.ts';
import { compilePathTest, type TestedPath, YES } from '../policies/compile/compile-test.ts';
import type { CanonicalTarget } from './request-target.ts';

export type PathAction = InstancePolicy['pathRules'][number]['action'];

export interface PathPolicy {
  pathType: PathType;
  /** The path rule's action. `inherit` leaves it to the path type's enforcement policy. */
  action: PathAction;
  /** Pattern of the rule behind `action`, or `null`. */
  pattern: string | null;
  waiveSession: boolean;
  /** `robots.txt`, the icon and `/.well-known/`: never challenged, and they need no session. */
  exempt: boolean;
}

export type PathPolicyFor = (target: CanonicalTarget, method: string) => PathPolicy;

/** Answers remembered, of all methods together. Many different paths only empty the memory. */
const REMEMBERED_PATHS_MAX = 4000;
/** Of path and query, because a remembered path keeps the text it was cut from. With the count: 2 MB at most. */
const REMEMBERED_TARGET_MAX_CHARS = 512;
const strictness: Record<PathAction, number> = { allow: 0, inherit: 1, challenge: 2, block: 3 };

export function compilePathPolicy(policy: InstancePolicy): PathPolicyFor {
  const evaluateRules = compileRules(policy);
  const remembered = new Map<string, Map<string, PathPolicy>>();
  let rememberedPaths = 0;

  function evaluate(path: string, method: string): PathPolicy {
    return stricter(
      evaluateRules({ path, isFolded: false }, method),
      evaluateRules({ path: path.toLowerCase(), isFolded: true }, method),
    );
  }

  function strictest(target: CanonicalTarget, method: string): PathPolicy {
    const others = target.readings?.map((reading) => evaluate(reading, method)) ?? policiesOfAnyPath(policy, method);
    const result = others.reduce(stricter, evaluate(target.path, method));
    return target.ambiguous ? { ...result, exempt: false } : result;
  }

  function remember(path: string, method: string, policyOfPath: PathPolicy): void {
    if (rememberedPaths >= REMEMBERED_PATHS_MAX) {
      remembered.clear();
      rememberedPaths = 0;
    }
    let paths = remembered.get(method);
    if (!paths) remembered.set(method, (paths = new Map()));
    paths.set(path, policyOfPath);
    rememberedPaths++;
  }

  return function pathPolicy(target, method) {
    if (target.ambiguous || target.readings?.length !== 0) return strictest(target, method);
    const known = remembered.get(method)?.get(target.path);
    if (known) return known;
    const made = evaluate(target.path, method);
    if (target.received.length <= REMEMBERED_TARGET_MAX_CHARS) remember(target.path, method, made);
    return made;
  };
}

function compilePattern(pattern: string): (reading: TestedPath) => boolean {
  const test = compilePathTest({ field: 'path', operator: 'matches', value: pattern });
  return (reading) => test?.(reading) === YES;
}

/** The policy of a path for a method. A pattern is a condition like those of the instance's policies. */
function compileRules(policy: InstancePolicy) {
  const endpoints = policy.endpointRules.map((rule) => ({ ...rule, applies: compilePattern(rule.pattern) }));
  const rules = policy.pathRules.map((rule) => ({ ...rule, applies: compilePattern(rule.pattern) }));
  return (reading: TestedPath & { path: string }, method: string): PathPolicy => {
    const endpoint = endpoints.find(({ applies }) => applies(reading));
    const rule = rules.find(({ applies, methods }) => (methods?.includes(method) ?? true) && applies(reading));
    return {
      pathType: endpoint?.pathType ?? policy.defaultPathType,
      action: rule?.action ?? 'inherit',
      pattern: rule?.pattern ?? null,
      waiveSession: rule?.waiveSession ?? false,
      exempt: isExempt(reading.path, method),
    };
  };
}

/** For a path that could be any: whatever some rule says of this method. */
function policiesOfAnyPath(
  { endpointRules, pathRules, defaultPathType }: InstancePolicy,
  method: string,
): PathPolicy[] {
  const isJson = [defaultPathType, ...endpointRules.map((rule) => rule.pathType)].includes('json');
  const strict = { pathType: isJson ? 'json' : 'html', waiveSession: false, exempt: false } as const;
  const rules = pathRules.filter(({ methods }) => methods?.includes(method) ?? true);
  return [{ action: 'allow' as const, pattern: null }, ...rules].map((rule) => ({ ...rule, ...strict }));
}

function stricter(one: PathPolicy, other: PathPolicy): PathPolicy {
  const { action, pattern } = strictness[other.action] > strictness[one.action] ? other : one;
  return {
    // A json path needs a session where a page would pass without one.
    pathType: one.pathType === 'json' ? 'json' : other.pathType,
    action,
    pattern,
    waiveSession: one.waiveSession && other.waiveSession,
    exempt: one.exempt && other.exempt,
  };
}

function isExempt(path: string, method: string): boolean {
  if (path.startsWith('/.well-known/')) return true;
  return (path === '/robots.txt' || path === '/favicon.ico') && (method === 'GET' || method === 'HEAD');
}

/**
 * What an instance says about a path, compiled once per config: its type (`endpointRules`), the first matching `pathRules`
 * entry, and the paths that are never challenged. Matched against the canonical path and every other reading of it; the
 * strictest applies.
 */
import type { InstancePolicy } from '../../contract/management/instance-policy.ts';
import type { PathType } from '../../contract/vocabulary.ts';
import type { CanonicalTarget } from '../request/canonical-path.ts';
import { compilePattern } from './path-pattern.ts';

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
  const endpoints = policy.endpointRules.map((rule) => ({ matches: compilePattern(rule.pattern), ...rule }));
  const rules = policy.pathRules.map((rule) => ({
    ...rule,
    matches: compilePattern(rule.pattern),
    methods: rule.methods ? new Set(rule.methods) : null,
  }));
  const remembered = new Map<string, Map<string, PathPolicy>>();
  let rememberedPaths = 0;

  function evaluate(path: string, method: string): PathPolicy {
    const endpoint = endpoints.find((rule) => rule.matches(path));
    const rule = rules.find((candidate) => candidate.matches(path) && (candidate.methods?.has(method) ?? true));
    return {
      pathType: endpoint?.pathType ?? policy.defaultPathType,
      action: rule?.action ?? 'inherit',
      pattern: rule?.pattern ?? null,
      waiveSession: rule?.waiveSession ?? false,
      exempt: isExempt(path, method),
    };
  }

  function strictest(target: CanonicalTarget, method: string): PathPolicy {
    let result = evaluate(target.path, method);
    for (const reading of target.readings) {
      const other = evaluate(reading, method);
      const stricter = strictness[other.action] > strictness[result.action] ? other : result;
      result = {
        ...result,
        // A json path needs a session where a page would pass without one.
        pathType: result.pathType === 'json' ? 'json' : other.pathType,
        action: stricter.action,
        pattern: stricter.pattern,
        waiveSession: result.waiveSession && other.waiveSession,
        exempt: result.exempt && other.exempt,
      };
    }
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
    if (target.ambiguous || target.readings.length > 0) return strictest(target, method);
    const known = remembered.get(method)?.get(target.path);
    if (known) return known;
    const made = evaluate(target.path, method);
    if (target.received.length <= REMEMBERED_TARGET_MAX_CHARS) remember(target.path, method, made);
    return made;
  };
}

function isExempt(path: string, method: string): boolean {
  if (path.startsWith('/.well-known/')) return true;
  return (path === '/robots.txt' || path === '/favicon.ico') && (method === 'GET' || method === 'HEAD');
}

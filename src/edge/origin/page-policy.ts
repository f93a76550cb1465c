/**
 * What a page's own Content-Security-Policy (CSP 3) says of the protect script: the nonce to give it, and the directive
 * without which it could not open a session. Where this is in doubt, nothing is said against the script.
 */
import { protectPrefix } from '../../contract/edge/headers.ts';
import type { CanonicalTarget } from '../../decide/request-target.ts';

/** What to add to a directive that keeps the script from opening a session. */
export const policyRemedies = {
  sandbox: 'allow-scripts allow-same-origin',
  'script-src': "'self'",
  'connect-src': "'self'",
  'trusted-types': 'gatehouse',
} as const;
export type PolicyObstacle = keyof typeof policyRemedies;

type Directives = ReadonlyMap<string, readonly string[]>;

const NONCE = /^'nonce-([A-Za-z0-9+/_-]+={0,2})'$/i;
/** Scheme, wildcard, name and path of a host source. Its port is not compared. */
const HOST_SOURCE = /^(?:https?:\/\/)?(\*\.)?([^:/']+)(?::[\d*]+)?(\/.*)?$/i;

/** `header`: all policies of the page, joined by commas. Each of them has to allow the script. */
export function readPagePolicy(
  header: string | null,
  { host }: Pick<CanonicalTarget, 'host'>,
): { nonce?: string | undefined; obstacle: PolicyObstacle | null } {
  if (header === null) return { obstacle: null };
  const policies = header.split(',').map(directivesOf);
  const nonce = policies
    .flatMap((policy) => scriptSources(policy) ?? [])
    .map((source) => NONCE.exec(source)?.[1])
    .find((value) => value !== undefined);
  const isTypeRequired = policies.some((policy) => policy.get('require-trusted-types-for')?.includes("'script'"));
  for (const policy of policies) {
    const sandbox = policy.get('sandbox');
    if (sandbox && !policyRemedies.sandbox.split(' ').every((flag) => sandbox.includes(flag))) {
      return { obstacle: 'sandbox' };
    }
    if (!allowsScript(scriptSources(policy), nonce, host)) return { obstacle: 'script-src' };
    if (!allowsHost(policy.get('connect-src') ?? policy.get('default-src'), host)) return { obstacle: 'connect-src' };
    const types = isTypeRequired ? policy.get('trusted-types') : undefined;
    if (types && !types.includes('gatehouse') && !types.includes('*')) return { obstacle: 'trusted-types' };
  }
  return { nonce, obstacle: null };
}

/** The first directive of a name counts. */
function directivesOf(policy: string): Directives {
  const directives = policy.split(';').map((text) => text.trim().split(/[\t\n\f\r ]+/));
  return new Map(directives.toReversed().map(([name = '', ...values]) => [name.toLowerCase(), values]));
}

/** The sources from which a page may load a `<script>` (CSP 3, section 6.8.1). `undefined`: the policy allows all. */
function scriptSources(policy: Directives): readonly string[] | undefined {
  return policy.get('script-src-elem') ?? policy.get('script-src') ?? policy.get('default-src');
}

function allowsScript(sources: readonly string[] | undefined, nonce: string | undefined, host: string): boolean {
  if (nonce !== undefined && sources?.some((source) => NONCE.exec(source)?.[1] === nonce)) return true;
  // Then hosts say nothing.
  return !sources?.some((source) => /^'strict-dynamic'$/i.test(source)) && allowsHost(sources, host);
}

function allowsHost(sources: readonly string[] | undefined, host: string): boolean {
  if (sources === undefined) return true;
  const ownName = host.replace(/:\d+$/, '').toLowerCase();
  return sources.some((source) => {
    if (/^(?:\*|'self'|https?:)$/i.test(source)) return true;
    const [isHost, wildcard, name = '', path = '/'] = HOST_SOURCE.exec(source) ?? [];
    if (isHost === undefined || !(protectPrefix.startsWith(path) || path.startsWith(protectPrefix))) return false;
    return wildcard ? ownName.endsWith(`.${name.toLowerCase()}`) : ownName === name.toLowerCase();
  });
}

/**
 * The address of a script beside the running one. It carries the script's content hash, so that a cached widget never
 * runs with a worker of another release. Under `require-trusted-types-for 'script'` it passes the one Trusted Types
 * policy of Gatehouse, which lets through no other address.
 */

/** Content hashes of the scripts that other scripts load, filled in by `scripts/build-client.ts`. */
declare const GATEHOUSE_ASSET_VERSIONS: Record<string, string> | undefined;

interface ScriptUrlPolicy {
  createScriptURL(url: string): unknown;
}
interface TrustedTypesFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptUrlPolicy;
}

const POLICY_NAME = 'gatehouse';
/** Scripts of one page share the policy: a page's `trusted-types` directive may allow its name only once. */
const SHARED = Symbol.for('gatehouse.policy');

/** A TrustedScriptURL where the browser knows them, else the address itself. */
export function assetUrl(base: string, name: string): string {
  const versions = typeof GATEHOUSE_ASSET_VERSIONS === 'undefined' ? {} : GATEHOUSE_ASSET_VERSIONS;
  const url = `${base}/${name}.js?v=${versions[name] ?? ''}`;
  const scope = globalThis as unknown as { trustedTypes?: TrustedTypesFactory; [SHARED]?: ScriptUrlPolicy };
  if (scope.trustedTypes === undefined) return url;
  try {
    scope[SHARED] ??= scope.trustedTypes.createPolicy(POLICY_NAME, {
      createScriptURL(candidate) {
        if (!/^[^?#]*\/[a-z-]+\.js\?v=[0-9a-f]*$/.test(candidate)) throw new TypeError('Not a Gatehouse script');
        return candidate;
      },
    });
  } catch {
    // The page allows other policies only. Where it does not require trusted types, the address works as it is.
    return url;
  }
  return scope[SHARED].createScriptURL(url) as string;
}

/**
 * The one Trusted Types policy of Gatehouse's browser code. Under `require-trusted-types-for
 * 'script'` a worker's or script's address must come from a policy; ours lets through nothing but
 * files beside the script that is already running. Shared by all our scripts on a page, since a
 * policy name may be used only once where the page's `trusted-types` directive lists it.
 */

interface ScriptUrlPolicy {
  createScriptURL(url: string): unknown;
}
interface TrustedTypesFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptUrlPolicy;
}

const POLICY_NAME = 'gatehouse';
const SHARED = Symbol.for('gatehouse.policy');

/** The address as the sink wants it: a TrustedScriptURL where the browser knows them, else the string. */
export function scriptUrl(base: string, file: string): string {
  const url = `${base}/${file}`;
  const scope = globalThis as unknown as { trustedTypes?: TrustedTypesFactory; [SHARED]?: ScriptUrlPolicy };
  if (scope.trustedTypes === undefined) return url;
  scope[SHARED] ??= scope.trustedTypes.createPolicy(POLICY_NAME, {
    createScriptURL(candidate) {
      if (!/^[^?#]*\/[a-z-]+\.js\?v=[0-9a-f]*$/.test(candidate)) throw new TypeError('Not a Gatehouse script');
      return candidate;
    },
  });
  return scope[SHARED].createScriptURL(url) as string;
}

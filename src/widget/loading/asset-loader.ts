/**
 * Loads a script beside the running one on demand: languages, picture tasks, the solver for pages where no worker may
 * run. Each leaves its exports under a registered symbol. A script element is used because it needs no more of the
 * page's CSP than the running script does.
 */
import type { ScriptLocation } from './script-location.ts';

type Exports = Record<symbol, unknown>;
const loading = new Map<string, Promise<unknown>>();

/** Called by a loaded script to leave its exports. */
export function provide(name: string, value: unknown): void {
  (globalThis as unknown as Exports)[Symbol.for(`gatehouse.${name}`)] = value;
}

/** Rejects when the script cannot be loaded; the next call tries again. */
export function loadAsset<T>(location: ScriptLocation, name: string): Promise<T> {
  const symbol = Symbol.for(`gatehouse.${name}`);
  const provided = globalThis as unknown as Exports;
  if (provided[symbol] !== undefined) return Promise.resolve(provided[symbol] as T);
  let pending = loading.get(name) as Promise<T> | undefined;
  if (pending === undefined) {
    pending = new Promise<T>((resolve, reject) => {
      const script = document.createElement('script');
      script.async = true;
      script.nonce = location.nonce;
      script.addEventListener('load', () => resolve(provided[symbol] as T));
      script.addEventListener('error', () => {
        loading.delete(name);
        script.remove();
        reject(new Error(`Cannot load ${name}`));
      });
      script.src = assetUrl(location.base, name);
      document.head.append(script);
    });
    loading.set(name, pending);
  }
  return pending;
}

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

/**
 * The address of a script beside the running one. It carries the script's content hash, so that a cached widget never runs
 * with a worker of another release. Under `require-trusted-types-for 'script'` it passes the one Trusted Types policy of
 * Gatehouse, which lets through no other address. A TrustedScriptURL where the browser knows them, else a text.
 */
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

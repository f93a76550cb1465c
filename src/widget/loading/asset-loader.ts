/**
 * Loads a script beside the running one on demand: languages, picture tasks, the solver for pages where no worker may
 * run. Each leaves its exports under a registered symbol. A script element is used because it needs no more of the
 * page's CSP than the running script does.
 */
import { assetUrl } from './asset-url.ts';
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

/**
 * Loads a sister script on demand (languages, picture tasks, the solver for pages where no worker
 * may run). Each puts its exports under a registered symbol; a script element is used because it
 * needs no more of the page's CSP than the script that is already running.
 */
import { assetFile } from './asset-versions.ts';
import type { ScriptLocation } from './script-location.ts';
import { scriptUrl } from './trusted-url.ts';

type Shelf = Record<symbol, unknown>;
const loading = new Map<string, Promise<unknown>>();

/** What a loaded script calls to hand over its exports. */
export function provide(name: string, value: unknown): void {
  (globalThis as unknown as Shelf)[Symbol.for(`gatehouse.${name}`)] = value;
}

/** Rejects when the script cannot be loaded; the next call tries again. */
export function loadAsset<T>(location: ScriptLocation, name: string): Promise<T> {
  const symbol = Symbol.for(`gatehouse.${name}`);
  const shelf = globalThis as unknown as Shelf;
  if (shelf[symbol] !== undefined) return Promise.resolve(shelf[symbol] as T);
  let pending = loading.get(name) as Promise<T> | undefined;
  if (pending === undefined) {
    pending = new Promise<T>((resolve, reject) => {
      const script = document.createElement('script');
      script.async = true;
      script.nonce = location.nonce;
      script.addEventListener('load', () => resolve(shelf[symbol] as T));
      script.addEventListener('error', () => {
        loading.delete(name);
        script.remove();
        reject(new Error(`Cannot load ${name}`));
      });
      script.src = scriptUrl(location.base, assetFile(name));
      document.head.append(script);
    });
    loading.set(name, pending);
  }
  return pending;
}

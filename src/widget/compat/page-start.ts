/**
 * What happens when a compatibility script runs: the widget is defined, unless a script before did it, the API is put on
 * `window`, marked places become widgets, and the page's `onload` function is called. A script that a page loads twice
 * keeps the first API with its widgets.
 */
import { ELEMENT_NAME } from '../element/gatehouse-api.ts';
import { GatehouseWidget, script } from '../element/widget-element.ts';
import { callPage } from './compat-widget.ts';

export const { params } = script;

/** After the page's markup, and after the `load` event of the script, for which some loaders wait. */
export function whenReady(run: () => void): void {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => run(), { once: true });
  else setTimeout(run);
}

export interface Started<Api> {
  api: Api;
  /** Renders the marked places, and skips those with a widget. */
  renderMarked(): void;
}

/** `name`: of the API on `window`. */
export function startApi<Api>(name: string, create: () => Started<Api>): Api {
  if (customElements.get(ELEMENT_NAME) === undefined) customElements.define(ELEMENT_NAME, GatehouseWidget);
  const scope = globalThis as unknown as Record<symbol, Started<Api> | undefined> & Record<string, Api>;
  const started = (scope[Symbol.for(`gatehouse.${name}`)] ??= create());
  scope[name] = started.api;
  whenReady(() => {
    if (params.get('render') !== 'explicit') started.renderMarked();
    const onload = params.get('onload') ?? '';
    const call = (): unknown => callPage(onload);
    // A script that comes after this one may define it.
    if (onload in globalThis || document.readyState === 'complete') call();
    else addEventListener('load', call, { once: true });
  });
  return started.api;
}

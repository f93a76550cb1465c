/**
 * `window.gatehouse`: the API for pages that render by script, with the function names of other widgets. Every function
 * takes a widget id, the element, or nothing for the only widget of the page.
 */
import type { GatehouseWidget } from './widget-element.ts';
import { type RenderOptions, settingNames } from './settings.ts';

export const ELEMENT_NAME = 'gatehouse-widget';
export const AUTO_RENDER_CLASS = 'gatehouse-captcha';

type WidgetReference = string | Element | undefined;

export interface GatehouseApi {
  /** Runs `callback` as soon as the page can use the widget. */
  ready(callback: () => void): void;
  /** Puts a widget into the container (element or selector) and returns its id. */
  render(container: Element | string, options: RenderOptions): string;
  reset(widget?: WidgetReference): void;
  remove(widget?: WidgetReference): void;
  /** Solves and resolves with the token. */
  execute(widget?: WidgetReference): Promise<string>;
  /** The token, or an empty string. */
  getResponse(widget?: WidgetReference): string;
}

declare global {
  interface Window {
    gatehouse?: GatehouseApi;
  }
  interface HTMLElementTagNameMap {
    'gatehouse-widget': GatehouseWidget;
  }
}

/** Ids of widgets. A page that removes widgets without `remove` must not keep them in memory. */
const widgets = new Map<string, WeakRef<GatehouseWidget>>();
/** Places whose widget the page removed by `remove`: they stay empty. */
const emptied = new WeakSet<Element>();
let lastId = 0;

export const gatehouse: GatehouseApi = {
  ready(callback) {
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', callback, { once: true });
    else queueMicrotask(callback);
  },
  render(container, options) {
    const parent = typeof container === 'string' ? document.querySelector(container) : container;
    if (parent === null) throw new Error('No such element to render into');
    const widget = document.createElement(ELEMENT_NAME);
    for (const name of settingNames) {
      const value: unknown = options[name];
      if (typeof value === 'function') widget.callbacks[name] = value as () => void;
      else if (typeof value === 'string') widget.setAttribute(name, value);
    }
    const id = `gatehouse-${++lastId}`;
    for (const [known, kept] of widgets) if (kept.deref() === undefined) widgets.delete(known);
    widgets.set(id, new WeakRef(widget));
    parent.append(widget);
    return id;
  },
  reset(reference) {
    find(reference).reset();
  },
  remove(reference) {
    const widget = find(reference);
    for (const [id, known] of widgets) if (known.deref() === widget) widgets.delete(id);
    if (widget.parentElement !== null) emptied.add(widget.parentElement);
    widget.remove();
  },
  execute(reference) {
    return find(reference).execute();
  },
  getResponse(reference) {
    return find(reference).response;
  },
};

function find(reference: WidgetReference): GatehouseWidget {
  const byId = typeof reference === 'string' ? widgets.get(reference)?.deref() : undefined;
  if (byId !== undefined) return byId;
  const scope = typeof reference === 'string' ? document.querySelector(reference) : (reference ?? document);
  if (scope instanceof Element && scope.localName === ELEMENT_NAME) return scope as GatehouseWidget;
  const widget = scope?.querySelector(ELEMENT_NAME);
  if (widget == null) throw new Error('No such Gatehouse widget');
  return widget;
}

/**
 * Turns every `<div class="gatehouse-captcha" data-sitekey="…">` into a widget: those on the page, and those that the
 * page adds or empties later.
 */
export function autoRender(): void {
  renderPlaces();
  // It lives as long as the page, as the script does.
  new MutationObserver(renderPlaces).observe(document, { childList: true, subtree: true });
}

function renderPlaces(): void {
  for (const place of document.querySelectorAll(`.${AUTO_RENDER_CLASS}[data-sitekey]`)) {
    if (emptied.has(place) || place.querySelector(ELEMENT_NAME) !== null) continue;
    const options: Record<string, string> = {};
    for (const name of settingNames) {
      const value = place.getAttribute(`data-${name}`);
      if (value !== null) options[name] = value;
    }
    gatehouse.render(place, options as unknown as RenderOptions);
  }
}

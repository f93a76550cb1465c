/**
 * The widgets that a page rendered under one product's API. A page that removes a place without `remove` does not keep
 * its widget in memory.
 */
import { createCompatWidget, widgetOptions, textOf, type CompatWidget, type Dialect } from './compat-widget.ts';

/** What an API takes as a widget: its id, its place or a selector of the place, or nothing for the first one. */
export type Reference = string | number | Element | null | undefined;

export class WidgetRegistry {
  readonly #dialect: Dialect;
  readonly #idOf: (number: number) => string | number;
  readonly #known = new Map<string | number, WeakRef<CompatWidget>>();
  #count = 0;

  constructor(dialect: Dialect, idOf: (number: number) => string | number) {
    this.#dialect = dialect;
    this.#idOf = idOf;
  }

  /** @throws Error without a place or a site key. `inherits`: attributes of the place count. */
  render(given: Element | string, parameters?: object, inherits = true): CompatWidget {
    const place = placeOf(given);
    if (place === null) throw new Error('There is no such element to render into');
    const options = widgetOptions(place, parameters, inherits);
    if (textOf(options, 'sitekey') === '') throw new Error('Missing required parameters: sitekey');
    const number = this.#count++;
    const id = this.#idOf(number);
    const widget = createCompatWidget(this.#dialect, place, options, id, number);
    for (const [known, kept] of this.#known) if (kept.deref() === undefined) this.#known.delete(known);
    this.#known.set(id, new WeakRef(widget));
    return widget;
  }

  find(reference: Reference): CompatWidget | undefined {
    const byId = this.#known.get(reference as string)?.deref();
    if (byId !== undefined) return byId;
    const place = reference == null || typeof reference === 'number' ? null : placeOf(reference);
    return this.all().find((widget) =>
      reference == null ? widget.element.isConnected : widget.place === place && widget.element.parentNode !== null,
    );
  }

  /** @throws Error if there is no such widget. */
  need(reference: Reference): CompatWidget {
    const widget = this.find(reference);
    if (widget === undefined) throw new Error('There is no such widget');
    return widget;
  }

  /** Renders into every place that the selector finds. One that cannot be rendered does not stop the others. */
  renderMarked(selector: string): void {
    for (const place of document.querySelectorAll(selector)) {
      try {
        if (this.find(place) === undefined) this.render(place);
      } catch (error) {
        console.error(error);
      }
    }
  }

  remove(reference: Reference): void {
    const widget = this.need(reference);
    this.#known.delete(widget.id);
    widget.remove();
  }

  all(): CompatWidget[] {
    return [...this.#known.values()].flatMap((kept) => kept.deref() ?? []);
  }
}

/** By id, as all these products do, or by selector. */
export function placeOf(given: Element | string): Element | null {
  if (typeof given !== 'string') return given instanceof Element ? given : null;
  try {
    return document.getElementById(given) ?? document.querySelector(given);
  } catch {
    return null;
  }
}

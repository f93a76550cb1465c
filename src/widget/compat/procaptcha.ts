/** `window.procaptcha`, for pages and plugins that were written for Procaptcha. See docs/compatibility.md. */
import type { Dialect } from './compat-widget.ts';
import { startApi, whenReady } from './page-start.ts';
import { type Reference, WidgetRegistry } from './widget-registry.ts';

const dialect: Dialect = {
  fields: () => ['procaptcha-response'],
  fieldTag: 'input',
  // Plugins take the field's presence for a solved captcha.
  hidesEmptyFields: true,
  language: null,
  onError(widget, code, detail) {
    if (code === 'expired') widget.call('chalexpired-callback');
    else if (code === 'failed') widget.call('failed-callback');
    else if (code !== 'cancelled') widget.call('error-callback', detail || code);
  },
};

export const procaptcha = startApi('procaptcha', () => {
  const registry = new WidgetRegistry(dialect, (number) => `procaptcha-${number}`);
  const execute = (reference?: Reference): void => void registry.need(reference).solve();
  const api = {
    ready: whenReady,
    render: (place: Element | string, parameters?: object) =>
      String((registry.find(place) ?? registry.render(place, parameters)).id),
    execute,
    start: execute,
    /** All of them without a reference, as the original does. */
    reset: (reference?: Reference): void => {
      for (const { element } of reference == null ? registry.all() : [registry.need(reference)]) element.reset();
    },
    remove: (reference?: Reference) => registry.remove(reference),
    getResponse: (reference?: Reference) => registry.need(reference).element.response,
  };
  return { api, renderMarked: () => registry.renderMarked('.procaptcha') };
});

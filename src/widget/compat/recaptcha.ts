/** `window.grecaptcha`, for pages and libraries that were written for reCAPTCHA 2 or 3. See docs/compatibility.md. */
import { createCompatWidget, widgetOptions, type Dialect } from './compat-widget.ts';
import { params, startApi, whenReady } from './page-start.ts';
import { WidgetRegistry, placeOf, type Reference } from './widget-registry.ts';

const dialect: Dialect = {
  fields: () => ['g-recaptcha-response'],
  fieldTag: 'textarea',
  language: params.get('hl'),
  onError(widget, code) {
    if (code !== 'cancelled') widget.call('error-callback');
  },
};

interface Execution {
  action?: string;
}
type Queue = { fns?: unknown } | undefined;

startApi('grecaptcha', () => {
  const registry = new WidgetRegistry(dialect, (number) => number);
  /** Version 3: a widget for this one token, which nobody sees unless the service asks for a task. */
  function tokenFor(sitekey: string, action: string): Promise<string> {
    const options = widgetOptions(document.body, { sitekey, action, size: 'invisible' }, false);
    const widget = createCompatWidget({ ...dialect, fields: () => [] }, document.body, options, -1, 0);
    return widget.solve().finally(widget.remove);
  }
  /** Without a place, the page has an invisible widget, which `execute` finds by its number. */
  function renderInvisible(parameters: object): number {
    const place = document.createElement('div');
    const { id } = registry.render(place, { ...parameters, size: 'invisible' }, false);
    document.body.append(place);
    return Number(id);
  }
  const api = {
    ready: whenReady,
    render(place: Element | string | object, parameters?: object, inherits = parameters === undefined): number {
      if (typeof place === 'object' && place !== null && !(place instanceof Element)) return renderInvisible(place);
      const found = placeOf(place);
      // Pages look for these texts.
      if (found === null) throw new Error('reCAPTCHA placeholder element must be an element or id');
      if (registry.find(found) !== undefined) throw new Error('reCAPTCHA has already been rendered in this element');
      return Number(registry.render(found, parameters, inherits).id);
    },
    execute(given?: Reference, { action = '' }: Execution = {}): Promise<string> {
      const widget = registry.find(given);
      if (widget === undefined && typeof given === 'string') return tokenFor(given, action);
      const { element, solve } = widget ?? registry.need(given);
      if (action !== '') element.setAttribute('action', action);
      return solve();
    },
    reset: (reference?: Reference) => registry.need(reference).element.reset(),
    getResponse: (reference?: Reference) => registry.need(reference).element.response,
  };
  // Pages put functions there to have them called when the API is ready.
  const queue = (globalThis as unknown as Record<string, Queue>)['___grecaptcha_cfg']?.fns;
  if (Array.isArray(queue)) for (const run of queue) if (typeof run === 'function') whenReady(run as () => void);
  return { api: Object.assign(api, { enterprise: api }), renderMarked: () => registry.renderMarked('.g-recaptcha') };
});

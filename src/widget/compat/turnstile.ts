/** `window.turnstile`, for pages and libraries that were written for Turnstile. See docs/compatibility.md. */
import type { CaptchaErrorCode } from '../token/captcha-error.ts';
import { type CompatWidget, type Dialect, textOf } from './compat-widget.ts';
import { params, startApi, whenReady } from './page-start.ts';
import { WidgetRegistry, type Reference } from './widget-registry.ts';

/** What the original waits before it tries again. */
const RETRY_INTERVAL_MS = 8000;
const RETRY_INTERVAL_MAX_MS = 900_000;
/** The wait doubles with each failure, up to a minute: a page that never succeeds must not load the service for hours. */
const DOUBLINGS_MAX = 6;

/** `?compat=recaptcha`: the original takes the places and the name of reCAPTCHA too. */
const isForRecaptcha = params.get('compat') === 'recaptcha';

const isAuto = ({ options }: Pick<CompatWidget, 'options'>, name: string): boolean =>
  (options.get(name) ?? 'auto') === 'auto';

const dialect: Dialect = {
  fields(options) {
    if (textOf(options, 'response-field') === 'false') return [];
    const name = textOf(options, 'response-field-name') || 'cf-turnstile-response';
    return isForRecaptcha ? [name, 'g-recaptcha-response'] : [name];
  },
  fieldTag: 'input',
  theme: 'auto',
  language: null,
  start: (options) => (options.get('execution') === 'execute' ? 'submit' : 'load'),
  renews: (options) => isAuto({ options }, 'refresh-expired'),
  onEvent(widget, event) {
    const { element, options, call } = widget;
    const appearance = options.get('appearance');
    const isInteractive = event === 'waiting' || event === 'open';
    const isOver = event === 'verified' || event === 'reset';
    const isInvisible = options.get('size') === 'invisible';
    if (!isInvisible && (appearance === 'execute' ? event === 'start' : isInteractive)) element.hidden = false;
    if (isOver && appearance === 'interaction-only') element.hidden = true;
    if (isInteractive && !interactive.has(widget)) {
      interactive.add(widget);
      call('before-interactive-callback');
      // There is no box that the visitor could press.
      if (isInvisible) void widget.solve();
    }
    if (isOver && interactive.delete(widget)) call('after-interactive-callback');
    if (event === 'expired' && isAuto(widget, 'refresh-expired')) {
      // A page that nobody looks at does no work.
      const seen = new AbortController();
      const { signal } = seen;
      const onEvent = (): void => {
        if (document.hidden) return;
        seen.abort();
        restart(widget, 0);
      };
      for (const type of ['pointerdown', 'keydown', 'visibilitychange'])
        document.addEventListener(type, onEvent, { signal });
    }
  },
  onError(widget, code, detail) {
    if (code === 'cancelled') return;
    // `unsupported-callback` and `timeout-callback`; there are none for other codes.
    widget.call(`${code === 'expired' ? 'timeout' : code}-callback`);
    const number = errorNumber(code, detail);
    // The original reads the result the same way.
    if (!widget.call('error-callback', number)) warn(`error ${number}`);
    // The setup of the page, and the browser, are the same at the next try.
    if (!isAuto(widget, code === 'expired' ? 'refresh-timeout' : 'retry') || /^110[1-5]/.test(number)) return;
    restart(widget, Math.min(Number(widget.options.get('retry-interval')) || RETRY_INTERVAL_MS, RETRY_INTERVAL_MAX_MS));
  },
};
/** Widgets that wait for the visitor. */
const interactive = new WeakSet<CompatWidget>();

const warn = (text: string): void => console.warn(`Turnstile API of Gatehouse: ${text}`);

/** The original's numbers for what happened. */
function errorNumber(code: CaptchaErrorCode, detail: string): string {
  if (detail.includes('SITE_KEY')) return '110100';
  if (detail.includes('ORIGIN')) return '110200';
  if (detail.includes('INVALID_BODY')) return '110420';
  return { unsupported: '110500', expired: '110600', network: '300010', server: '300010' }[code as string] ?? '600010';
}

/** The more often it failed, the later it begins, also where the page asks for it. */
function restart({ element, options, failures }: CompatWidget, waitMs: number): void {
  if (options.get('execution') === 'execute') return;
  const pauseMs = 1000 * (2 ** Math.min(failures, DOUBLINGS_MAX) - 1);
  setTimeout(() => element.isConnected && element.begin(), Math.max(pauseMs, waitMs));
}

const turnstile = startApi('turnstile', () => {
  const registry = new WidgetRegistry(dialect, (number) => `cf-chl-widget-${number}`);
  function render(place: Element | string, parameters?: object): string {
    const before = registry.find(place);
    if (before !== undefined) warn('this element has a widget already');
    return String((before ?? registry.render(place, parameters)).id);
  }
  const renderMarked = (): void => {
    registry.renderMarked(isForRecaptcha ? '.cf-turnstile,.g-recaptcha' : '.cf-turnstile');
  };
  const api = {
    ready: whenReady,
    implicitRender: renderMarked,
    render,
    execute(reference?: Reference, parameters?: object) {
      if (parameters !== undefined && registry.find(reference) === undefined)
        render(reference as Element, { ...parameters, execution: 'execute' });
      void registry.need(reference).solve();
    },
    reset(reference?: Reference) {
      const widget = registry.need(reference);
      widget.element.reset();
      restart(widget, 0);
    },
    remove: (reference?: Reference) => registry.remove(reference),
    getResponse: (reference?: Reference) => registry.find(reference)?.element.response || undefined,
    isExpired: (reference?: Reference) => registry.find(reference)?.isExpired === true,
  };
  return { api, renderMarked };
});
if (isForRecaptcha) (globalThis as unknown as Record<string, unknown>)['grecaptcha'] = turnstile;

/**
 * One widget under another product's API. The widget of this project does the work; this writes the form fields of the
 * original with the bare token, and calls the page's callbacks. The widget's own field has no name, so no form sends it,
 * and no form waits for the token, because forms that were written for the original send themselves.
 */
import type { CaptchaErrorCode } from '../token/captcha-error.ts';
import { ELEMENT_NAME } from '../element/gatehouse-api.ts';
import type { GatehouseWidget } from '../element/widget-element.ts';
import type { StartMode } from '../element/settings.ts';

export interface Dialect {
  /** Names of the form fields. The first widget of a page has them as ids too, further ones with a number. */
  fields(options: Options): readonly string[];
  /** Pages look for the fields by tag. */
  fieldTag: 'input' | 'textarea';
  /** Whether the fields exist only while there is a token. */
  hidesEmptyFields?: boolean;
  /** By default `light`. */
  theme?: 'auto';
  /** Default language, from the script's address. */
  language: string | null;
  /** By default a click, or the submit where nobody sees the widget. */
  start?(options: Options): StartMode;
  /** By default never. */
  renews?(options: Options): boolean;
  onEvent?(widget: CompatWidget, event: string): void;
  onError(widget: CompatWidget, code: CaptchaErrorCode, detail: string): void;
}

export interface CompatWidget {
  readonly id: string | number;
  readonly place: Element;
  readonly options: Options;
  readonly element: GatehouseWidget;
  isExpired: boolean;
  isOpen: boolean;
  /** Errors since the last token. */
  failures: number;
  /** Calls the page's callback of this name. */
  call: (callback: string, ...values: unknown[]) => unknown;
  /** Solves in any case: a token is handed out once. */
  solve: () => Promise<string>;
  remove: () => void;
}

export function createCompatWidget(
  dialect: Dialect,
  place: Element,
  options: Options,
  id: string | number,
  number: number,
): CompatWidget {
  const element = document.createElement(ELEMENT_NAME);
  const isButton = place.matches('button,input');
  const text = (name: string): string => textOf(options, name);
  const isInvisible = isButton || text('size') === 'invisible';
  const start = isInvisible ? 'submit' : 'click';
  const language = text('language') || text('hl') || (dialect.language ?? '');
  const settings = {
    sitekey: text('sitekey'),
    action: text('action'),
    cdata: text('cdata'),
    theme: text('theme') || (dialect.theme ?? 'light'),
    size: isInvisible ? '' : text('size'),
    language: language === 'auto' ? '' : language,
    start: isButton ? start : (dialect.start?.(options) ?? start),
    renew: dialect.renews?.(options) === true ? '' : 'never',
  };
  for (const [name, value] of Object.entries(settings)) if (value !== '') element.setAttribute(name, value);
  // Two of them are Turnstile's, and show themselves later. The widget's own invisible size would tell the visitor of a
  // failure, and wait for them, where the page expects an error.
  element.hidden = isInvisible || /^(execute|interaction-only)$/.test(text('appearance'));
  element.setAttribute('field', '');
  element.setAttribute('form', '');

  const fields = dialect.fields(options).map((name) => {
    const field = document.createElement(dialect.fieldTag);
    field.name = name;
    field.id = number === 0 ? name : `${name}-${number}`;
    field.setAttribute('type', 'hidden');
    field.style.display = 'none';
    return field;
  });
  const put = (...nodes: Element[]): void => (isButton ? place.before(...nodes) : place.append(...nodes));
  function write(token: string): void {
    for (const field of fields) {
      field.value = token;
      if (dialect.hidesEmptyFields !== true) continue;
      if (token === '') field.remove();
      else put(field);
    }
  }
  const onClick = (event: Event): void => {
    event.preventDefault();
    void widget.solve();
  };
  const widget: CompatWidget = {
    id,
    place,
    options,
    element,
    isExpired: false,
    isOpen: false,
    failures: 0,
    call: (callback, ...values) => callPage(options.get(callback), ...values),
    solve() {
      if (element.response !== '') element.reset();
      const solved = element.execute();
      // The page hears of errors by its callback, and need not wait for this promise.
      solved.catch(() => undefined);
      return solved;
    },
    remove() {
      element.remove();
      for (const field of fields) field.remove();
      place.removeEventListener('click', onClick);
    },
  };

  for (const name of ['ready', 'start', 'waiting', 'verified', 'expired', 'error', 'reset', 'open', 'close']) {
    element.addEventListener(`gatehouse:${name}`, (event) => {
      const { token, code, detail } = (event as CustomEvent<Record<string, string>>).detail;
      if (name === 'open' || name === 'close') widget.isOpen = name === 'open';
      widget.isExpired = name === 'expired';
      write(element.response);
      if (name === 'error') widget.failures++;
      dialect.onEvent?.(widget, name);
      if (name === 'error') dialect.onError(widget, code as CaptchaErrorCode, detail ?? '');
      else if (name !== 'verified') widget.call(`${name}-callback`);
      else {
        widget.failures = 0;
        widget.call('callback', token);
      }
    });
  }
  if (isButton) place.addEventListener('click', onClick);
  put(element);
  if (dialect.hidesEmptyFields !== true) put(...fields);
  return widget;
}

/**
 * The parameters of a widget: the `data-` attributes of its place, and the object that the page gave to `render`, which
 * wins. They are copied, because some pages render several widgets with one object that they change in between. Names are
 * in lower case: pages write `cData`, `data-cdata` and `siteKey`.
 */
export type Options = ReadonlyMap<string, unknown>;

export function widgetOptions(place: Element, given: object | undefined, inherits: boolean): Options {
  const options = new Map<string, unknown>();
  if (inherits)
    for (const { name, value } of place.attributes) if (name.startsWith('data-')) options.set(name.slice(5), value);
  for (const [name, value] of Object.entries(given ?? {})) if (value != null) options.set(name.toLowerCase(), value);
  return options;
}

/** The value as text; empty where it is missing or has none. */
export function textOf(options: Options, name: string): string {
  const value = options.get(name);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Calls a function of the page, given itself or by its name on `window`. What is no function is not called. */
export function callPage(named: unknown, ...values: unknown[]): unknown {
  const found = typeof named === 'string' ? (globalThis as unknown as Record<string, unknown>)[named] : named;
  return typeof found === 'function' ? (found as (...all: unknown[]) => unknown)(...values) : undefined;
}

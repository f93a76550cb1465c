/** `window.hcaptcha`, for pages and libraries that were written for hCaptcha. See docs/compatibility.md. */
import type { CaptchaErrorCode } from '../token/captcha-error.ts';
import type { Dialect } from './compat-widget.ts';
import { params, startApi, whenReady } from './page-start.ts';
import { type Reference, WidgetRegistry } from './widget-registry.ts';

/** Whether the page reads reCAPTCHA's names too, as it does unless it says otherwise. */
const isForRecaptcha = params.get('recaptchacompat') !== 'off';

/** What the original says, to the callback or to who waits for `execute`. */
const errors: Record<CaptchaErrorCode, string> = {
  network: 'network-error',
  server: 'network-error',
  refused: 'invalid-data',
  failed: 'challenge-error',
  expired: 'challenge-expired',
  unsupported: 'challenge-error',
  cancelled: 'challenge-closed',
};

const dialect: Dialect = {
  fields: () => (isForRecaptcha ? ['g-recaptcha-response', 'h-captcha-response'] : ['h-captcha-response']),
  fieldTag: 'textarea',
  language: params.get('hl'),
  onError(widget, code) {
    if (code === 'expired') widget.call('chalexpired-callback');
    else if (code !== 'cancelled') widget.call('error-callback', errors[code]);
  },
};

interface Execution {
  async?: boolean;
}

const hcaptcha = startApi('hcaptcha', () => {
  const registry = new WidgetRegistry(dialect, (number) => `hcaptcha-${number}`);
  async function solved(reference: Reference): Promise<{ response: string; key: string }> {
    const widget = registry.find(reference);
    if (widget === undefined) throw reference == null ? 'missing-captcha' : 'invalid-captcha-id'; // oxlint-disable-line no-throw-literal -- the original rejects with texts
    try {
      return { response: await widget.solve(), key: '' };
    } catch (error) {
      throw errors[(error as { code: CaptchaErrorCode }).code] ?? 'internal-error'; // oxlint-disable-line no-throw-literal -- as above
    }
  }
  const api = {
    ready: whenReady,
    render(place: Element | string, parameters?: object): string {
      const before = registry.find(place);
      if (before !== undefined) console.warn('hCaptcha API of Gatehouse: this element has a widget already');
      return String((before ?? registry.render(place, parameters)).id);
    },
    execute(first?: Reference | Execution, second?: Execution) {
      const isReference = typeof first !== 'object' || first === null || first instanceof Element;
      const reference = isReference ? first : undefined;
      if ((isReference ? second : first)?.async === true) return solved(reference);
      void registry.need(reference).solve();
      return undefined;
    },
    reset: (reference?: Reference) => registry.need(reference).element.reset(),
    close(reference?: Reference) {
      const { isOpen, element } = registry.need(reference);
      if (isOpen) element.reset();
    },
    remove: (reference?: Reference) => registry.remove(reference),
    getResponse: (reference?: Reference) => registry.need(reference).element.response,
    getRespKey: () => '',
    setData: () => undefined,
  };
  return { api, renderMarked: () => registry.renderMarked('.h-captcha') };
});
if (isForRecaptcha) (globalThis as unknown as Record<string, unknown>)['grecaptcha'] ??= hcaptcha;

/**
 * `<gatehouse-widget>`: a form-associated element. It writes the hidden field `captcha-response` with `{"token": …}` and
 * reports to the page by events and callbacks. The auto-rendered `div` and the render API create this element.
 */
import { tokenField } from '../../contract/edge/headers.ts';
import { loadAsset } from '../loading/asset-loader.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import { holdForm } from './form-hold.ts';
import { createHoneypot } from '../token/honeypot.ts';
import { obtainToken } from '../token/obtain-token.ts';
import { startEngine } from '../pow/frame-engine.ts';
import { scriptLocation } from '../loading/script-location.ts';
import { readSetting, type SettingName } from './settings.ts';
import { TokenKeeper } from './token-keeper.ts';
import type { VisualModule } from '../visual/visual-module.ts';
import { loadMessages } from '../loading/load-messages.ts';
import { createView, type WidgetView } from './widget-view.ts';

export const script = scriptLocation();

type Callback = (...values: string[]) => void;

/** A server has no HTMLElement, and importing this file there must not throw. */
const Base = typeof HTMLElement === 'undefined' ? (Object as unknown as typeof HTMLElement) : HTMLElement;

export class GatehouseWidget extends Base {
  static readonly formAssociated = true;
  static readonly observedAttributes = [
    'size',
    'theme',
    'data-theme',
    'language',
    'data-language',
    'sitekey',
    'data-sitekey',
  ];

  /** Functions given to `render`. Attributes name functions on `window`, which are looked up at each call. */
  readonly callbacks: Partial<Record<SettingName, Callback>> = {};
  #view: WidgetView | undefined;
  #input: HTMLInputElement | undefined;
  #honeypot: ReturnType<typeof createHoneypot> | undefined;
  #release: (() => void) | undefined;
  #form: HTMLFormElement | null = null;
  readonly #keeper = new TokenKeeper({
    request: (signal, quiet) => this.#obtain(signal, quiet),
    onWorking: () => {
      this.#view?.progress(0);
      this.#view?.show('working');
      this.#notify('start');
    },
    onToken: (token) => {
      this.#writeField(token);
      this.#view?.show('verified');
      this.#notify('verified', 'callback', token);
    },
    onExpired: () => {
      this.#writeField(null);
      this.#view?.show('expired');
      this.#notify('expired', 'expired-callback');
    },
    onError: ({ code, detail, state }) => {
      this.#writeField(null);
      this.#view?.show(state);
      this.#notify('error', 'error-callback', code, detail);
    },
  });

  connectedCallback(): void {
    this.#view ??= createView(this, () => void this.execute().catch(() => undefined));
    this.#applySettings();
    this.#holdForm();
    addEventListener('pageshow', this.#onPageShow);
    this.addEventListener('focusin', this.#onInteraction);
    if (this.#start === 'load') this.#onInteraction();
    this.#notify('ready');
  }

  disconnectedCallback(): void {
    removeEventListener('pageshow', this.#onPageShow);
    this.#releaseForm();
    this.#keeper.reset();
    this.#writeField(null);
    this.#view?.show('idle');
  }

  attributeChangedCallback(name: string, before: string | null): void {
    if (this.#view === undefined) return;
    this.#applySettings();
    if (name.endsWith('sitekey') && before !== null) this.reset();
  }

  formAssociatedCallback(): void {
    if (this.isConnected) this.#holdForm();
  }

  formResetCallback(): void {
    this.reset();
  }

  /** The token, or an empty string. */
  get response(): string {
    return this.#keeper.token ?? '';
  }

  /** Resolves with the token, after solving where there is none. Rejects with a `CaptchaError`. */
  execute(): Promise<string> {
    return this.#keeper.obtain();
  }

  reset(): void {
    this.#keeper.reset();
    this.#writeField(null);
    this.#view?.show('idle');
    this.#notify('reset', 'reset-callback');
  }

  get #start(): string {
    return this.#setting('start') ?? (this.#setting('size') === 'invisible' ? 'submit' : 'interaction');
  }

  #setting(name: SettingName): string | undefined {
    return readSetting(this, name) ?? undefined;
  }

  readonly #onPageShow = (event: PageTransitionEvent): void => {
    if (!event.persisted) return;
    this.reset();
    if (this.#start === 'load') this.#onInteraction();
  };

  readonly #onInteraction = (): void => {
    if (this.#keeper.token === null) this.execute().catch(() => undefined);
  };

  /** Holds the form that the widget belongs to, if any. */
  #holdForm(): void {
    this.#releaseForm();
    const formId = this.getAttribute('form');
    const form = formId === null ? this.closest('form') : document.getElementById(formId);
    if (!(form instanceof HTMLFormElement)) return;
    this.#form = form;
    this.#release = holdForm(form, {
      hasToken: () => this.#keeper.token !== null,
      obtain: () => this.execute(),
      used: () => this.#keeper.renew(),
    });
    if (this.#start === 'interaction') form.addEventListener('focusin', this.#onInteraction);
  }

  #releaseForm(): void {
    this.#release?.();
    this.#release = undefined;
    this.#form?.removeEventListener('focusin', this.#onInteraction);
    this.#form = null;
  }

  #obtain(signal: AbortSignal, quiet: boolean): ReturnType<typeof obtainToken> {
    const view = this.#view!;
    return obtainToken({
      location: script,
      startEngine,
      apiBase: this.#setting('api') ?? script.apiBase,
      siteKey: this.#setting('sitekey') ?? '',
      action: this.#setting('action'),
      cdata: this.#setting('cdata'),
      signal,
      onProgress: (done) => view.progress(done),
      showVisual: async (task) => {
        if (quiet) throw new CaptchaError('cancelled');
        const visual = await loadAsset<VisualModule>(script, 'visual');
        view.show('task');
        this.#notify('open', 'open-callback');
        try {
          return await visual.showVisual(view.panel, task, this.#language);
        } finally {
          if (!task.signal.aborted) view.show('working');
          this.#notify('close', 'close-callback');
        }
      },
      readHoneypot: (this.#honeypot ??= createHoneypot(this)),
    });
  }

  /** The hidden field exists only while the token is valid. */
  #writeField(token: string | null): void {
    if (token === null) {
      this.#input?.remove();
      return;
    }
    if (this.#input === undefined) {
      this.#input = document.createElement('input');
      this.#input.type = 'hidden';
    }
    this.#input.name = this.#setting('field') ?? tokenField;
    const formId = this.getAttribute('form');
    if (formId !== null) this.#input.setAttribute('form', formId);
    this.#input.value = JSON.stringify({ token });
    this.append(this.#input);
  }

  get #language(): string {
    const near = this.closest('[lang]')?.getAttribute('lang');
    return this.#setting('language') ?? (near || navigator.language);
  }

  #applySettings(): void {
    const theme = this.#setting('theme') ?? 'auto';
    const dark = theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
    this.dataset['shade'] = dark ? 'dark' : 'light';
    this.dataset['size'] = this.#setting('size') ?? 'normal';
    void this.#translate();
  }

  async #translate(): Promise<void> {
    this.#view?.translate(await loadMessages(script, this.#language));
  }

  #notify(event: string, callback?: SettingName, ...values: string[]): void {
    const [first = '', second = ''] = values;
    const detail = event === 'verified' ? { token: first } : event === 'error' ? { code: first, detail: second } : {};
    this.dispatchEvent(new CustomEvent(`gatehouse:${event}`, { bubbles: true, composed: true, detail }));
    if (callback === undefined) return;
    const named = (globalThis as unknown as Record<string, unknown>)[this.#setting(callback) ?? ''];
    (this.callbacks[callback] ?? (typeof named === 'function' ? (named as Callback) : undefined))?.(...values);
  }
}

/**
 * `<gatehouse-widget>`: a form-associated element. It writes the hidden field `captcha-response` with `{"token": …}` and
 * reports to the page by events and callbacks. The auto-rendered `div` and the render API create this element.
 */
import { tokenField } from '../../contract/captcha/challenge-constants.ts';
import type { DialogModule, TaskDialog } from '../dialog/task-dialog.ts';
import { loadAsset } from '../loading/asset-loader.ts';
import { CaptchaError, explainSetup } from '../token/captcha-error.ts';
import { holdForm } from './form-hold.ts';
import { createHoneypot } from '../token/honeypot.ts';
import { obtainToken, type IssuedToken } from '../token/obtain-token.ts';
import { startEngine } from '../pow/frame-engine.ts';
import { scriptLocation } from '../loading/script-location.ts';
import { readSetting, type SettingName } from './settings.ts';
import { TokenKeeper } from './token-keeper.ts';
import type { VisualModule } from '../visual/visual-module.ts';
import { loadMessages } from '../loading/load-messages.ts';
import { createView, type WidgetState, type WidgetView } from './widget-view.ts';

export const script = scriptLocation();

/** Detail of the error of a run that met a task before the visitor asked for one. The page never sees it. */
const UNASKED = 'unasked';

type Callback = (...values: string[]) => void;

/** A server has no HTMLElement, and importing this file there must not throw. */
const Base = typeof HTMLElement === 'undefined' ? (Object as unknown as typeof HTMLElement) : HTMLElement;

let scheme: MediaQueryList | undefined;
/** One object for all widgets: listeners of an object that nobody keeps may be lost. */
const darkScheme = (): MediaQueryList => (scheme ??= matchMedia('(prefers-color-scheme: dark)'));

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
  #wasOpen = false;
  readonly #keeper = new TokenKeeper({
    request: (signal, isAsked) => this.#obtain(signal, isAsked),
    renews: () => this.#setting('renew') !== 'never',
    onWorking: () => {
      this.#view?.progress(0);
      this.#show('working');
      this.#notify('start');
    },
    onToken: (token) => {
      this.#writeField(token);
      this.#show('verified');
      this.#notify('verified', 'callback', token);
    },
    onExpired: () => {
      this.#writeField(null);
      this.#show('expired');
      this.#notify('expired', 'expired-callback');
    },
    onError: (error) => {
      this.#writeField(null);
      if (error.detail === UNASKED) {
        this.#show('waiting');
        return this.#notify('waiting');
      }
      this.#show(error.code === 'cancelled' ? 'waiting' : error.state);
      this.#report(error);
    },
  });

  connectedCallback(): void {
    this.#view ??= this.#createView();
    this.#applySettings();
    this.#holdForm();
    addEventListener('pageshow', this.#onPageShow);
    addEventListener('online', this.#onOnline);
    darkScheme().addEventListener('change', this.#onScheme);
    if (this.#start === 'interaction') this.addEventListener('focusin', this.begin);
    if (this.#start === 'load') this.begin();
    // Without a box, a failure is shown in the dialog, which cannot be loaded any more when the network is gone.
    if (this.#setting('size') === 'invisible') this.#dialog().catch(() => undefined);
    this.#notify('ready');
  }

  disconnectedCallback(): void {
    removeEventListener('pageshow', this.#onPageShow);
    removeEventListener('online', this.#onOnline);
    darkScheme().removeEventListener('change', this.#onScheme);
    this.#releaseForm();
    this.#keeper.reset();
    this.#writeField(null);
    this.#show('idle');
  }

  #createView(): WidgetView {
    // A copy of a page's markup has the fields of the widget that was copied.
    for (const field of this.querySelectorAll('input')) field.remove();
    return createView(
      this,
      () => this.#shade,
      () => void this.execute().catch(() => undefined),
      () => this.#keeper.cancel(),
    );
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
    return this.#keeper.obtain(true);
  }

  reset(): void {
    this.#keeper.reset();
    this.#writeField(null);
    this.#show('idle');
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
    if (this.#start === 'load') this.begin();
  };

  /** Starts solving. The visitor uses the form and did not ask for anything, so no task opens. */
  readonly begin = (): void => {
    if (this.#keeper.token !== null || this.#view?.state === 'waiting') return;
    this.#keeper.obtain(false).catch(() => undefined);
  };

  readonly #onOnline = (): void => {
    if (this.#view?.state === 'offline') this.begin();
  };

  readonly #onScheme = (): void => this.#applySettings();

  /** `open` and `close` tell the page about the task's dialog, however it was opened or closed. */
  #show(state: WidgetState): void {
    this.#view?.show(state);
    const isOpen = this.#view?.isTaskOpen === true;
    if (isOpen === this.#wasOpen) return;
    this.#wasOpen = isOpen;
    if (isOpen) this.#notify('open', 'open-callback');
    else this.#notify('close', 'close-callback');
  }

  #report({ code, detail }: CaptchaError): void {
    explainSetup(detail, this.#setting('sitekey') ?? '');
    this.#notify('error', 'error-callback', code, detail);
  }

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
    if (this.#start === 'interaction') form.addEventListener('focusin', this.begin);
  }

  #releaseForm(): void {
    this.#release?.();
    this.#release = undefined;
    this.#form?.removeEventListener('focusin', this.begin);
    this.#form = null;
  }

  /** An invisible widget has no box to show a failure, so the dialog does, if the visitor is waiting for a token. */
  async #obtain(signal: AbortSignal, isAsked: () => boolean): Promise<IssuedToken> {
    const attempt = (): Promise<IssuedToken> => this.#attempt(signal, isAsked);
    const dialog = this.#setting('size') === 'invisible' ? await this.#dialog().catch(() => null) : null;
    if (dialog === null) return attempt();
    return dialog.untilDone(attempt, (failure) => {
      if (isAsked()) this.#report(failure);
      return isAsked();
    });
  }

  async #dialog(): Promise<TaskDialog> {
    return this.#view!.dialog(await loadAsset<DialogModule>(script, 'dialog'));
  }

  #attempt(signal: AbortSignal, isAsked: () => boolean): Promise<IssuedToken> {
    const view = this.#view!;
    if (globalThis.origin === 'null') return Promise.reject(new CaptchaError('unsupported', 'opaque-origin'));
    return obtainToken({
      location: script,
      startEngine,
      apiBase: this.#setting('api') ?? script.apiBase,
      siteKey: this.#setting('sitekey') ?? '',
      action: this.#setting('action'),
      cdata: this.#setting('cdata'),
      userToken: this.#setting('user-token'),
      signal,
      onProgress: (done) => view.progress(done),
      showVisual: async (task) => {
        const [visual, { panel }] = await Promise.all([loadAsset<VisualModule>(script, 'visual'), this.#dialog()]);
        if (!isAsked()) throw new CaptchaError('cancelled', UNASKED);
        if (signal.aborted) throw new CaptchaError('cancelled');
        this.#show('task');
        const outcome = await visual.showVisual(panel, task, this.#language);
        this.#show('working');
        return outcome;
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

  get #shade(): 'light' | 'dark' {
    const theme = this.#setting('theme') ?? 'auto';
    return theme === 'dark' || (theme === 'auto' && darkScheme().matches) ? 'dark' : 'light';
  }

  #applySettings(): void {
    this.dataset['shade'] = this.#shade;
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

/**
 * The widget as a page sees it: settings, events and the element. The script that a service serves has the same types,
 * and a test compares them.
 */

/** When the widget starts solving: first use of the form, with the page, on a click on the box, or on submit. */
export type StartMode = 'load' | 'interaction' | 'click' | 'submit';
export type Theme = 'light' | 'dark' | 'auto';
export type Size = 'normal' | 'compact' | 'flexible' | 'invisible';

/**
 * `network`: no response. `server`: 5xx. `refused`: the service refused the call, and the detail is its error key.
 * `failed`: the solution was wrong. `expired`: too late. `unsupported`: this browser cannot solve the task. `cancelled`:
 * reset, closed or removed meanwhile.
 */
export type CaptchaErrorCode = 'network' | 'server' | 'refused' | 'failed' | 'expired' | 'unsupported' | 'cancelled';

/** `docs/widget.md` of Gatehouse explains each. */
export interface WidgetSettings {
  /** The site, as the console shows it. Behind the gate it can be left out. */
  sitekey?: string | undefined;
  /** What the token is for. Your backend expects the same. */
  action?: string | undefined;
  /** Returned in the Turnstile-shaped response. */
  cdata?: string | undefined;
  /** Who the visitor is to your site: a JWT that your backend signed. */
  userToken?: string | undefined;
  start?: StartMode | undefined;
  size?: Size | undefined;
  theme?: Theme | undefined;
  /** Default: the nearest `lang` attribute, then the browser's. */
  language?: string | undefined;
  /** Name of the hidden form field. Default `captcha-response`. */
  field?: string | undefined;
  /** Whether the widget replaces a token before it expires. Default `auto`. */
  renew?: 'auto' | 'never' | undefined;
  /** The challenge API, if it is not at `serviceUrl`. */
  api?: string | undefined;
}

export interface WidgetEvents {
  /** The widget is on the page. */
  onReady?: (() => void) | undefined;
  /** It began to solve. */
  onStart?: (() => void) | undefined;
  /** A task is needed, and the visitor has not asked for it yet. */
  onWaiting?: (() => void) | undefined;
  onVerify?: ((token: string) => void) | undefined;
  onExpire?: (() => void) | undefined;
  /** `detail`: the service's error key. With the code `network` also when the script could not be loaded. */
  onError?: ((code: CaptchaErrorCode, detail: string) => void) | undefined;
  onReset?: (() => void) | undefined;
  /** A task opened, or closed. */
  onOpen?: (() => void) | undefined;
  onClose?: (() => void) | undefined;
}

/** `<gatehouse-widget>`, once its script has run. */
export interface GatehouseElement extends HTMLElement {
  /** The token, or an empty string. */
  readonly response: string;
  /** Resolves with the token, after solving where there is none. */
  execute(): Promise<string>;
  reset(): void;
}

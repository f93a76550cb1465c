/**
 * Puts a widget into an element of the page and takes it out again, whatever state its script is in. All wrappers stand
 * on this one function, and an application without a framework uses it directly.
 */
import { apiUrl, ELEMENT_NAME, type LoadOptions, loadWidget } from './load-widget.ts';
import type { CaptchaErrorCode, GatehouseElement, WidgetEvents, WidgetSettings } from './widget-types.ts';

export interface MountOptions extends LoadOptions, WidgetSettings, WidgetEvents {}

export interface MountedWidget {
  /** The token, or an empty string. */
  readonly response: string;
  /** Resolves with the token, after loading and solving where needed. Rejects once the widget is unmounted. */
  execute(): Promise<string>;
  /** Drops the token. */
  reset(): void;
  /** Applies other settings and events. A setting that is left out or `undefined` returns to its default. */
  update(options: WidgetSettings & WidgetEvents): void;
  /** Loads the script again after it failed. */
  retry(): void;
  unmount(): void;
}

const attributes = {
  sitekey: 'sitekey',
  action: 'action',
  cdata: 'cdata',
  userToken: 'user-token',
  start: 'start',
  size: 'size',
  theme: 'theme',
  language: 'language',
  field: 'field',
  renew: 'renew',
  api: 'api',
} as const satisfies Record<keyof WidgetSettings, string>;

type Detail = { token: string; code: CaptchaErrorCode; detail: string };

const handlers: Readonly<Record<string, (events: WidgetEvents, detail: Detail) => void>> = {
  ready: (events) => events.onReady?.(),
  start: (events) => events.onStart?.(),
  waiting: (events) => events.onWaiting?.(),
  verified: (events, { token }) => events.onVerify?.(token),
  expired: (events) => events.onExpire?.(),
  error: (events, { code, detail }) => events.onError?.(code, detail),
  reset: (events) => events.onReset?.(),
  open: (events) => events.onOpen?.(),
  close: (events) => events.onClose?.(),
};

/** Call it in a browser, when `container` is on the page. */
export function mountWidget(container: Element, options: MountOptions): MountedWidget {
  const { serviceUrl, nonce } = options;
  let current: WidgetSettings & WidgetEvents = withApi(options);
  let element: GatehouseElement | undefined;
  let isMounted = true;
  let placed = place();

  /** A script tag of another service can have defined the element, which asks that service unless it is told. */
  function withApi(settings: WidgetSettings & WidgetEvents): WidgetSettings & WidgetEvents {
    return settings.api === undefined ? { ...settings, api: apiUrl(serviceUrl) } : settings;
  }

  function place(): Promise<GatehouseElement> {
    const placing = loadWidget({ serviceUrl, nonce }).then(() => {
      // A framework can unmount before the script has come, and mount again at once.
      if (!isMounted) throw new Error('The widget is not on the page any more.');
      const made = document.createElement(ELEMENT_NAME) as GatehouseElement;
      element = made;
      apply(made, current);
      for (const [name, handle] of Object.entries(handlers)) {
        made.addEventListener(`gatehouse:${name}`, (event) => {
          if (isMounted) handle(current, (event as CustomEvent<Detail>).detail);
        });
      }
      container.append(made);
      return made;
    });
    // A caller of `execute` gets the error as well. There may be none.
    placing.catch((error: unknown) => {
      if (isMounted) current.onError?.('network', error instanceof Error ? error.message : String(error));
    });
    return placing;
  }

  return {
    get response() {
      return element?.response ?? '';
    },
    async execute() {
      const made = await placed;
      if (!isMounted) throw new Error('The widget is not on the page any more.');
      return made.execute();
    },
    reset: () => element?.reset(),
    update(changed) {
      current = withApi(changed);
      if (element !== undefined) apply(element, current);
    },
    retry() {
      if (element === undefined && isMounted) placed = place();
    },
    unmount() {
      isMounted = false;
      element?.remove();
      element = undefined;
    },
  };
}

/** Only what changed, because the element acts on every attribute that is set. */
function apply(element: Element, settings: WidgetSettings): void {
  for (const [name, attribute] of Object.entries(attributes)) {
    const value = settings[name as keyof WidgetSettings];
    if (value === undefined) {
      if (element.hasAttribute(attribute)) element.removeAttribute(attribute);
    } else if (element.getAttribute(attribute) !== value) element.setAttribute(attribute, value);
  }
}

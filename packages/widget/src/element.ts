/**
 * Types for pages that write `<gatehouse-widget>` themselves: import this module, and `document.querySelector` and event
 * listeners know the element. It has no code, because the script of the service defines the element.
 */
import type { CaptchaErrorCode, GatehouseElement } from './widget/widget-types.ts';

declare global {
  interface HTMLElementTagNameMap {
    'gatehouse-widget': GatehouseElement;
  }
  interface HTMLElementEventMap {
    'gatehouse:ready': CustomEvent<object>;
    'gatehouse:start': CustomEvent<object>;
    'gatehouse:waiting': CustomEvent<object>;
    'gatehouse:verified': CustomEvent<{ token: string }>;
    'gatehouse:expired': CustomEvent<object>;
    'gatehouse:error': CustomEvent<{ code: CaptchaErrorCode; detail: string }>;
    'gatehouse:reset': CustomEvent<object>;
    'gatehouse:open': CustomEvent<object>;
    'gatehouse:close': CustomEvent<object>;
  }
}

export type { GatehouseElement } from './widget/widget-types.ts';

/**
 * The widget script: registers the element, offers `window.gatehouse`, renders what the page marked
 * up. `?render=explicit` leaves the marking-up to the page, `?onload=name` calls it when ready.
 * Importing it where there is no DOM does nothing.
 */
import { autoRender, ELEMENT_NAME, gatehouse } from './element/gatehouse-api.ts';
import { GatehouseWidget, script } from './element/widget-element.ts';

export type { GatehouseApi } from './element/gatehouse-api.ts';
export type { RenderOptions, Size, StartMode, Theme } from './element/settings.ts';
export type { CaptchaErrorCode } from './captcha-error.ts';

if (typeof customElements !== 'undefined' && customElements.get(ELEMENT_NAME) === undefined) {
  window.gatehouse = gatehouse;
  customElements.define(ELEMENT_NAME, GatehouseWidget);
  gatehouse.ready(() => {
    if (script.params.get('render') !== 'explicit') autoRender();
    const onload = (globalThis as unknown as Record<string, unknown>)[script.params.get('onload') ?? ''];
    if (typeof onload === 'function') (onload as () => void)();
  });
}
